package engine

import (
	"context"
	"encoding/hex"
	"fmt"
	"time"

	"github.com/homeops/ddbpatterns/dynamotest/internal/api"
	"github.com/homeops/ddbpatterns/dynamotest/internal/attr"
	"github.com/homeops/ddbpatterns/dynamotest/internal/journal"
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

// planUnchecked plans a change whose item is not checked against the indexes,
// because it may be older than one of them. An index that the item does not fit
// leaves it out, as it did when the index was made.
func (c *change) planUnchecked() {
	c.planEntries()
	for i := range c.entries {
		if en := &c.entries[i]; en.new != nil && en.index.CheckItem(c.new.item) != nil {
			en.newKey, en.new = "", nil
		}
	}
}

// again performs an operation from a dump or a journal as at the given time,
// without the hook and the clock.
func (e *Engine) again(operation string, body []byte, at time.Time) error {
	op := operations[operation]
	if op == nil {
		return fmt.Errorf("no such operation: %q", operation)
	}
	if _, err := e.perform(context.Background(), op, &Call{Operation: operation, At: at, past: true}, body); err != nil {
		return err
	}
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
