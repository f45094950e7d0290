package engine

import (
	"encoding/hex"
	"fmt"
	"time"

	"github.com/homeops/ddbpatterns/dynamotest/internal/api"
	"github.com/homeops/ddbpatterns/dynamotest/internal/attr"
	"github.com/homeops/ddbpatterns/dynamotest/internal/journal"
	"github.com/homeops/ddbpatterns/dynamotest/internal/jsonx"
	"github.com/homeops/ddbpatterns/dynamotest/internal/stream"
)

// journalled is one entry.
type journalled struct {
	at             time.Time
	op, request    string
	changes        []journalledChange
	expired        bool
	token, payload string
	table          *tableState
	stream         *stream.Stream
	latest         bool // the stream is its table's
	record         *stream.Record
	serial         int64
}

type journalledChange struct {
	table       string
	put, delete attr.Map
}

// redo applies the entries of a line at their own times, and returns their weight.
func (e *Engine) redo(r *journal.Reader, entries []byte) (weight int64, err error) {
	r.Reset(entries)
	r.Array()
	for r.More() {
		entry := readEntry(r)
		if r.Err() != nil {
			break
		}
		if err := e.redoEntry(entry); err != nil {
			return weight, err
		}
		weight += entry.weight()
	}

	r.End()
	return weight, r.Err()
}

// redoEntry applies an entry: a request, a token, a state of a table or a stream, a
// record, the last serial number, or changes of items.
func (e *Engine) redoEntry(entry *journalled) error {
	switch {
	case entry.op != "":
		return e.again(entry.op, []byte(entry.request), entry.at)
	case entry.token != "":
		payload, err := hex.DecodeString(entry.payload)
		if err != nil || len(payload) != len(api.Fingerprint{}) {
			return fmt.Errorf("no payload of a token: %q", entry.payload)
		}
		e.tokens.spend(entry.token, api.Fingerprint(payload), entry.at)
	case entry.table != nil:
		return e.redoTable(entry.table, entry.at)
	case entry.stream != nil:
		return e.redoStream(entry.stream, entry.latest, entry.at)
	case entry.record != nil:
		return e.streams.RedoRecord(entry.record, entry.at)
	case entry.serial > 0:
		e.serial = entry.serial
	}

	for _, c := range entry.changes {
		if err := e.redoChange(c, entry); err != nil {
			return err
		}
	}
	return nil
}

// weight returns the weight of the entry when it was written.
func (entry *journalled) weight() int64 {
	switch {
	case entry.op != "":
		return bodyWeight(len(entry.request))
	case entry.table != nil:
		return bodyWeight(len(entry.table.create))
	case entry.token != "":
		return weight(nil)
	}

	total := int64(0)
	for _, c := range entry.changes {
		total += weight(nil) + int64(c.put.Size())
	}

	return total
}

func (e *Engine) redoChange(of journalledChange, entry *journalled) error {
	t := e.tables[of.table]
	if t == nil {
		return fmt.Errorf("a change of table %q, which is not there", of.table)
	}
	if of.put == nil && of.delete == nil {
		return nil // earlier versions wrote this for deletes of missing items
	}

	item := of.put
	if item == nil {
		item = of.delete
	}

	key, ok := t.key.Key(item)
	if !ok {
		return fmt.Errorf("a change of table %s without its key", of.table)
	}

	c := change{table: t, key: string(key), expired: entry.expired}
	c.read()
	if of.put != nil {
		c.new = newRecord(of.put)
	}

	c.planUnchecked()
	e.commit(entry.at, []*change{&c})
	return nil
}

func readEntry(r *journal.Reader) *journalled {
	var entry journalled
	r.Members(func(name string) {
		switch name {
		case "At":
			entry.at = r.Time()
		case "Op":
			entry.op = r.String()
		case "Request":
			entry.request = r.String()
		case "Token":
			entry.token = r.String()
		case "Payload":
			entry.payload = r.String()
		case "Expired":
			entry.expired = r.Bool()
		case "Changes":
			r.Elements(func() { entry.changes = append(entry.changes, readChange(r)) })
		case "Table":
			entry.table = readTableState(r)
		case "Stream":
			entry.stream, entry.latest = stream.Read(r)
		case "Record":
			entry.record = stream.ReadRecord(r)
		case "Serial":
			entry.serial = r.Int()
		default:
			r.Unknown(name)
		}
	})

	return &entry
}

func readChange(r *journal.Reader) (c journalledChange) {
	r.Members(func(name string) {
		switch name {
		case "Table":
			c.table = r.String()
		case "Put":
			c.put = r.Item()
		case "Delete":
			c.delete = r.Item()
		default:
			r.Unknown(name)
		}
	})
	return c
}

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
