package engine

import (
	"fmt"
	"slices"
	"time"

	"github.com/homeops/ddbpatterns/dynamotest/internal/api"
	"github.com/homeops/ddbpatterns/dynamotest/internal/journal"
	"github.com/homeops/ddbpatterns/dynamotest/internal/jsonx"
)

// OpenJournal reads the file into the engine, which must be empty and not yet
// used. From then on the file is kept up to date: no reply is sent before
// everything that it reports is safe. A file that does not exist is begun.
func (e *Engine) OpenJournal(path string) error {
	j, err := journal.Open(path, journal.Options{Disk: e.opt.Disk, CompactFrom: e.opt.CompactFrom, Log: e.opt.Log}, &keeper{e, &journal.Reader{Reader: jsonx.NewReader(nil)}})
	if err != nil {
		return err
	}
	e.journal, e.tokens.journal = j, j
	return nil
}

// CloseJournal closes the file. Every later request fails.
func (e *Engine) CloseJournal() error {
	if e.journal == nil {
		return nil
	}
	return e.journal.Close()
}

// keeper is the engine as its journal sees it.
type keeper struct {
	engine *Engine
	reader *journal.Reader
}

func (k *keeper) Redo(entries []byte) (weight int64, err error) {
	return k.engine.redo(k.reader, entries)
}

func (k *keeper) Between(alone bool, f func()) {
	if alone {
		k.engine.mu.Lock()
		defer k.engine.mu.Unlock()
	} else {
		k.engine.mu.RLock()
		defer k.engine.mu.RUnlock()
	}
	f()
}

func (k *keeper) Weight() int64 { return k.engine.weight() }

func (k *keeper) Snapshot() func(out *journal.Lines) {
	state := k.engine.clone()
	return state.write
}

// Entries are weighed roughly by the bytes of items, so that a file can be
// compared with the present state.
const entryWeight = 100

func weight(rec *record) int64 { return int64(entryWeight + sizeOf(rec)) }

// bodyWeight returns the weight of a request for a table, or of its definition,
// by its bytes.
func bodyWeight(bytes int) int64 { return int64(entryWeight + bytes) }

// logChanges appends the changes of a commit, with their time.
func (e *Engine) logChanges(at time.Time, changes []*change) {
	// A delete of a missing item and a check change nothing, so they are not
	// kept.
	changes = slices.DeleteFunc(slices.Clone(changes), func(c *change) bool { return c.old == c.new })
	if len(changes) == 0 {
		return
	}
	total, expired := int64(0), false
	pieces := make([][]byte, 0, 2*len(changes)+1)
	before := append(journal.AppendStart(nil, at), `,"Changes":[`...)
	for _, c := range changes {
		if c.encoded == nil {
			c.encode()
		}
		pieces = append(pieces, before, c.encoded)
		before = []byte(",")
		total += weight(c.new)
		expired = expired || c.expired
	}
	end := "]" + journal.EntryEnd
	if expired {
		end = `],"Expired":true` + journal.EntryEnd
	}
	e.journal.Append(total, append(pieces, []byte(end))...)
}

// encode writes the journal entry of the change. Records never change, so it
// needs no lock.
func (c *change) encode() {
	var w api.Writer
	w.Element(func() { c.log(&w) })
	c.encoded = w.Buf
}

func (c *change) log(w *api.Writer) {
	w.Text("Table", c.table.name)
	if c.new != nil {
		w.Item("Put", c.new.item)
	} else if c.old != nil {
		w.Item("Delete", c.table.key.Pick(c.old.item))
	}
}

// encode writes the request for logRequest. It needs no lock.
func (c *Call) encode() {
	var w api.Writer
	w.Text("Op", c.Operation)
	w.Text("Request", string(c.body)) // as it came, with its line breaks
	c.encoded = w.Buf
}

// logRequest appends a request that changed a table as a whole.
func (e *Engine) logRequest(call *Call, at time.Time) {
	if e.journal != nil {
		e.journal.Append(bodyWeight(len(call.body)), append(journal.AppendStart(nil, at), ','), call.encoded, []byte(journal.EntryEnd))
	}
}

// log appends a spent token.
func (t *tokens) log(token string, payload api.Fingerprint, now time.Time) {
	t.journal.Append(weight(nil), journal.AppendEntry(nil, now, func(w *api.Writer) { writeSpent(w, token, payload) }))
}

func writeSpent(w *api.Writer, token string, payload api.Fingerprint) {
	w.Text("Token", token)
	w.Text("Payload", fmt.Sprintf("%x", payload))
}

// logLoaded appends a table that was loaded as a whole, with the time.
func (e *Engine) logLoaded(t *table, at time.Time) {
	if e.journal == nil {
		return
	}
	e.journal.Append(t.weight(), journal.AppendEntry(nil, t.def.Created, t.writeState))
	for key, rec := range t.items.Ascend("") {
		e.logChanges(at, []*change{{table: t, key: key, new: rec}})
	}
	if t.stream.Open() {
		e.journal.Append(0, journal.AppendEntry(nil, t.stream.Created, func(w *api.Writer) { t.stream.Write(w, true) }))
	}
}

// weight returns the weight of a file with the present state only.
func (s *state) weight() int64 {
	total := int64(0)
	for _, t := range s.tables {
		total += t.weight() + t.items.bytes + int64(t.items.Len())*weight(nil)
	}
	return total
}

// weight returns the weight of the table without its items.
func (t *table) weight() int64 {
	var w api.Writer
	w.Element(func() { t.def.Define(&w, "") })
	return bodyWeight(len(w.Buf))
}
