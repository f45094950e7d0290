package engine

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"

	"github.com/homeops/ddbpatterns/dynamotest/internal/api"
	"github.com/homeops/ddbpatterns/dynamotest/internal/attr"
	"github.com/homeops/ddbpatterns/dynamotest/internal/jsonx"
)

// A dump is a list of JSON objects, one a line:
//
//	{"Table":{…},"TimeToLive":"…"}   a table, as CreateTable takes it
//	{"Item":{…}}                     an item of the table last named
//
// Items stand in the order of their keys. A file of item lines alone is what
// DynamoDB's own exports in its JSON consist of.

// Dump writes the snapshot's tables and their items.
func (s *Snapshot) Dump(w io.Writer) error {
	out := bufio.NewWriter(w)
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, t := range s.state.sorted() {
		line := api.Writer{Buf: append(t.definition(), '\n')}
		for _, rec := range t.items.Ascend("") {
			if _, err := out.Write(line.Buf); err != nil {
				return err
			}
			line.Buf = line.Buf[:0]
			line.Element(func() { line.Item("Item", rec.item) })
			line.Buf = append(line.Buf, '\n')
		}
		if _, err := out.Write(line.Buf); err != nil {
			return err
		}
	}
	return out.Flush()
}

// definition returns the line of a table.
func (t *table) definition() []byte {
	var w api.Writer
	w.Element(func() {
		w.Object("Table", func() {
			t.define(&w)
			if t.stream.open() {
				t.defineStream(&w)
			}
		})
		if t.settings.ttl != "" {
			w.Text("TimeToLive", t.settings.ttl)
		}
	})
	return w.Buf
}

// define writes the request that CreateTable makes such a table of.
func (t *table) define(w *api.Writer) {
	s := &t.settings
	w.Text("TableName", t.name)
	t.key.describe(w)
	w.Array("AttributeDefinitions", func() {
		for _, a := range s.attributes {
			w.Element(func() {
				w.Text("AttributeName", a.Name)
				w.Text("AttributeType", a.Type)
			})
		}
	})
	if s.onDemand {
		w.Text("BillingMode", "PAY_PER_REQUEST")
	} else {
		defineThroughput(w, s.throughput)
	}
	t.defineIndexes(w, "LocalSecondaryIndexes", true)
	t.defineIndexes(w, "GlobalSecondaryIndexes", false)
	defineLimits(w, s.maximum, s.warm)
	if s.protected {
		w.Bool("DeletionProtectionEnabled", true)
	}
	if s.class != "" {
		w.Text("TableClass", s.class)
	}
	if s.encryption.Set {
		w.Object("SSESpecification", func() {
			w.Bool("Enabled", s.encryption.Value.Enabled.Value)
			if kind := s.encryption.Value.Type; kind.Set {
				w.Text("SSEType", kind.Value)
			}
			if key := s.encryption.Value.KeyID; key.Set {
				w.Text("KMSMasterKeyId", key.Value)
			}
		})
	}
	if len(t.tags) > 0 {
		w.Array("Tags", func() {
			for _, tag := range t.tags {
				w.Element(func() {
					w.Text("Key", tag.Key)
					w.Text("Value", tag.Value)
				})
			}
		})
	}
}

func (t *table) defineStream(w *api.Writer) {
	w.Object("StreamSpecification", func() {
		w.Bool("StreamEnabled", true)
		w.Text("StreamViewType", t.stream.view)
	})
}

// A request is one that a journal asks for again.
type request struct {
	operation string
	body      []byte
}

// requests returns those that make a table like t without items, and the one
// that then enables its stream, if it has one.
func (t *table) requests() (create []request, enable []byte) {
	body := func(members func(w *api.Writer)) []byte {
		var w api.Writer
		w.Element(func() { members(&w) })
		return w.Buf
	}
	create = []request{{"CreateTable", body(t.define)}}
	if t.settings.ttl != "" {
		create = append(create, request{"UpdateTimeToLive", body(func(w *api.Writer) {
			w.Text("TableName", t.name)
			w.Object("TimeToLiveSpecification", func() {
				w.Text("AttributeName", t.settings.ttl)
				w.Bool("Enabled", true)
			})
		})})
	}
	if t.stream.open() {
		enable = body(func(w *api.Writer) {
			w.Text("TableName", t.name)
			t.defineStream(w)
		})
	}
	return create, enable
}

func defineThroughput(w *api.Writer, t api.Throughput) {
	defineUnits(w, "ProvisionedThroughput", "ReadCapacityUnits", t.Read, "WriteCapacityUnits", t.Write)
}

func defineLimits(w *api.Writer, maximum api.Opt[api.OnDemand], warm api.Opt[api.Warm]) {
	if maximum.Set {
		defineUnits(w, "OnDemandThroughput", "MaxReadRequestUnits", maximum.Value.Read, "MaxWriteRequestUnits", maximum.Value.Write)
	}
	if warm.Set {
		defineUnits(w, "WarmThroughput", "ReadUnitsPerSecond", warm.Value.Read, "WriteUnitsPerSecond", warm.Value.Write)
	}
}

func defineUnits(w *api.Writer, member, readName string, read api.Opt[int64], writeName string, write api.Opt[int64]) {
	w.Object(member, func() {
		if read.Set {
			w.Int(readName, read.Value)
		}
		if write.Set {
			w.Int(writeName, write.Value)
		}
	})
}

func (t *table) defineIndexes(w *api.Writer, member string, local bool) {
	var kind []*index
	for _, x := range t.indexes {
		if x.local == local {
			kind = append(kind, x)
		}
	}
	if len(kind) == 0 {
		return
	}
	w.Array(member, func() {
		for _, x := range kind {
			w.Element(func() {
				w.Text("IndexName", x.name)
				x.key.describe(w)
				x.describeProjection(w)
				if !local && !t.settings.onDemand {
					defineThroughput(w, x.throughput)
				}
				defineLimits(w, x.maximum, x.warm)
			})
		}
	})
}

// Load adds the tables of a dump, all or, when something is wrong with it, none.
func (e *Engine) Load(r io.Reader) error {
	opt := e.opt
	opt.Hooks = nil
	loaded := New(opt)
	var t *table
	err := eachLine(r, func(line *dumped) error {
		if line.table != nil {
			var err error
			t, err = loaded.loadTable(line)
			return err
		}
		if t == nil {
			return fmt.Errorf("an item before the first table")
		}
		return loaded.loadItem(t, line.item)
	})
	if err != nil {
		return err
	}
	if err := e.adopt(loaded); err != nil {
		return err
	}
	return e.settle()
}

// adopt takes over the tables of another engine.
func (e *Engine) adopt(loaded *Engine) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, t := range loaded.sorted() {
		if e.tables[t.name] != nil {
			return fmt.Errorf("table %s exists", t.name)
		}
	}
	for _, t := range loaded.sorted() {
		e.serial++
		t.id = tableID(e.serial)
		e.tables[t.name] = t
		e.logLoaded(t)
		if t.stream.open() { // what is loaded is no change
			e.openStream(t, t.stream.view)
		}
	}
	return nil
}

// LoadItems puts the items of a dump into one table, all or, when something is
// wrong with them, none.
func (e *Engine) LoadItems(tableName string, r io.Reader) error {
	var items []attr.Map
	err := eachLine(r, func(line *dumped) error {
		if line.table != nil {
			return fmt.Errorf("a table between the items")
		}
		items = append(items, line.item)
		return nil
	})
	if err != nil {
		return err
	}
	if err := e.putLoaded(tableName, items); err != nil {
		return err
	}
	return e.settle()
}

func (e *Engine) putLoaded(tableName string, items []attr.Map) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	t := e.tables[tableName]
	if t == nil {
		return fmt.Errorf("table %s does not exist", tableName)
	}
	for i, item := range items {
		if err := t.checkLoaded(item); err != nil {
			return fmt.Errorf("item %d: %w", i+1, err)
		}
	}
	for _, item := range items {
		if err := e.loadItem(t, item); err != nil {
			return err
		}
	}
	return nil
}

// perform does what a dump or a journal asks for, past all hooks.
func (e *Engine) perform(operation string, body []byte) error {
	if _, err := operations[operation](e, context.Background(), &Call{Operation: operation, past: true}, body); err != nil {
		return err
	}
	return nil
}

func (e *Engine) loadTable(line *dumped) (*table, error) {
	if err := e.perform("CreateTable", line.table); err != nil {
		return nil, err
	}
	var req api.CreateTable
	if err := api.Decode(line.table, &req); err != nil {
		return nil, err
	}
	t := e.tables[req.TableName.Value]
	t.settings.ttl = line.ttl
	return t, nil
}

func (e *Engine) loadItem(t *table, item attr.Map) error {
	if err := t.checkLoaded(item); err != nil {
		return err
	}
	key, _ := t.key.key(item)
	c := change{table: t, key: string(key), new: newRecord(item)}
	c.old, _ = t.items.Get(c.key)
	c.planEntries()
	e.commit([]*change{&c})
	return nil
}

// checkLoaded checks what a PutItem of the item would.
func (t *table) checkLoaded(item attr.Map) error {
	if err := t.key.checkItem(item); err != nil {
		return err
	}
	if item.Size() > maxItem {
		return fmt.Errorf("an item of %d bytes", item.Size())
	}
	if err := t.checkIndexes(item); err != nil {
		return err
	}
	return nil
}

// dumped is one line of a dump.
type dumped struct {
	table []byte // the request of CreateTable; nil for an item
	ttl   string
	item  attr.Map
}

// eachLine reads the lines that are not empty.
func eachLine(r io.Reader, do func(*dumped) error) error {
	in, reader := bufio.NewReader(r), jsonx.NewReader(nil)
	for number := 1; ; number++ {
		text, end := in.ReadBytes('\n')
		if end != nil && end != io.EOF {
			return end
		}
		if text = bytes.TrimSpace(text); len(text) > 0 {
			line, err := readLine(reader, text)
			if err == nil {
				err = do(line)
			}
			if err != nil {
				return fmt.Errorf("line %d: %w", number, err)
			}
		}
		if end != nil {
			return nil
		}
	}
}

func readLine(r *jsonx.Reader, text []byte) (*dumped, error) {
	var line dumped
	var bad error
	found := false
	r.Reset(text)
	r.Object()
	for name, ok := r.Key(); ok; name, ok = r.Key() {
		switch name {
		case "Table":
			line.table, found = bytes.Clone(r.Raw()), true
		case "TimeToLive":
			line.ttl = r.String()
		case "Item":
			found = true
			line.item, bad = attr.DecodeMap(r)
		default:
			r.Skip()
		}
	}
	r.End()
	switch {
	case r.Err() != nil:
		return nil, r.Err()
	case bad != nil:
		return nil, bad
	case !found:
		return nil, fmt.Errorf("neither a table nor an item")
	}
	return &line, nil
}
