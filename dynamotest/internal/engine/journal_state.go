package engine

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/homeops/ddbpatterns/dynamotest/internal/api"
	"github.com/homeops/ddbpatterns/dynamotest/internal/attr"
	"github.com/homeops/ddbpatterns/dynamotest/internal/journal"
	"github.com/homeops/ddbpatterns/dynamotest/internal/keys"
)

// States are entries with the state of something. The other entries have
// changes. A compacted file begins with states:
//
//	{"At":…,"Table":{"Create":{…},"Id":"…",…}}                  its items follow as Changes
//	{"At":…,"Stream":{"Arn":"…",…}}
//	{"At":…,"Record":{"Stream":"…","Number":7,"Old":{…},"New":{…}}}
//	{"At":…,"Token":"…","Payload":"…"}
//	{"At":…,"Serial":12}

// write writes the whole state. Tables come first, without their streams, so
// that the items do not become records of streams.
func (s *state) write(out *journal.Lines) {
	for _, t := range s.sorted() {
		out.Add(t.def.Created, t.writeState)
		for key, rec := range t.items.Ascend("") {
			c := change{table: t, key: key, new: rec}
			out.Add(t.def.Created, func(w *api.Writer) {
				w.Array("Changes", func() { w.Element(func() { c.log(w) }) })
			})
		}
	}
	for _, arn := range slices.Sorted(maps.Keys(s.streams)) {
		st := s.streams[arn]
		out.Add(st.created, func(w *api.Writer) { st.writeState(w, s.tables[st.table]) })
		for _, c := range st.changes.Ascend("") {
			out.Add(c.at, func(w *api.Writer) { c.writeState(w, st.arn) })
		}
	}
	for _, spent := range s.tokens.queue {
		if payload, ok := s.tokens.spent.Get(spent.token); ok {
			out.Add(spent.until.Add(-tokenLife), func(w *api.Writer) { writeSpent(w, spent.token, payload) })
		}
	}
	out.Add(time.Unix(0, 0), func(w *api.Writer) { w.Int("Serial", s.serial) })
}

// writeState writes a table's definition, with what CreateTable cannot express.
func (t *table) writeState(w *api.Writer) {
	w.Object("Table", func() {
		w.Object("Create", func() { t.def.Define(w, "") })
		w.Text("Id", t.def.ID)
		w.Bool("BillingSet", t.def.BillingSet)
		journal.WriteTime(w, "BilledSince", t.def.BilledSince)
		if t.def.TTL != "" {
			w.Text("TimeToLive", t.def.TTL)
		}
		if t.def.Backups {
			w.Int("BackupDays", t.def.BackupDays)
			journal.WriteTime(w, "BackupsFrom", t.def.BackupsFrom)
		}
	})
}

// A tableState is the state of a table as read back.
type tableState struct {
	create                   []byte
	id, ttl                  string
	billingSet               bool
	billedSince, backupsFrom time.Time
	backupDays               int64
}

func readTableState(r *reader) *tableState {
	var s tableState
	r.object(func(name string) {
		switch name {
		case "Create":
			s.create = r.Raw()
		case "Id":
			s.id = r.String()
		case "BillingSet":
			s.billingSet = r.Bool()
		case "BilledSince":
			s.billedSince = r.time()
		case "TimeToLive":
			s.ttl = r.String()
		case "BackupDays":
			s.backupDays = r.Int()
		case "BackupsFrom":
			s.backupsFrom = r.time()
		default:
			r.unknown(name)
		}
	})
	return &s
}

func (e *Engine) redoTable(s *tableState, at time.Time) error {
	t, err := e.createdTable(s.create, at)
	if err != nil {
		return err
	}
	t.def.ID, t.def.TTL = s.id, s.ttl
	t.def.BillingSet, t.def.BilledSince = s.billingSet, s.billedSince
	if s.backupDays > 0 {
		t.def.Backups, t.def.BackupDays, t.def.BackupsFrom = true, s.backupDays, s.backupsFrom
	}
	return nil
}

// writeState writes a stream without its records. It is the latest stream of a
// table, unless of is nil.
func (s *stream) writeState(w *api.Writer, of *table) {
	w.Object("Stream", func() {
		w.Text("Arn", s.arn)
		w.Text("TableName", s.table)
		w.Array("Key", func() {
			for _, p := range s.key.Hash {
				writeKeyPart(w, p, api.Hash)
			}
			for _, p := range s.key.Range {
				writeKeyPart(w, p, api.Range)
			}
		})
		w.Text("View", s.view)
		w.Text("Label", s.label)
		w.Text("Shard", s.shard)
		w.Int("Last", int64(s.last))
		if s.closed {
			journal.WriteTime(w, "ClosedAt", s.closedAt)
		}
		w.Bool("Latest", of != nil && of.stream == s)
	})
}

func writeKeyPart(w *api.Writer, p keys.Part, kind string) {
	w.Element(func() {
		w.Text("Name", p.Name)
		w.Text("Type", p.Kind.String())
		w.Text("Kind", kind)
	})
}

func readStream(r *reader) (s *stream, latest bool) {
	s = new(stream)
	r.object(func(name string) {
		switch name {
		case "Arn":
			s.arn = r.String()
		case "TableName":
			s.table = r.String()
		case "Key":
			r.array(func() { readKeyPart(r, &s.key) })
		case "View":
			s.view = r.String()
		case "Label":
			s.label = r.String()
		case "Shard":
			s.shard = r.String()
		case "Last":
			s.last = uint64(r.Int())
		case "ClosedAt":
			s.closed, s.closedAt = true, r.time()
		case "Latest":
			latest = r.Bool()
		default:
			r.unknown(name)
		}
	})
	return s, latest
}

func readKeyPart(r *reader, key *keys.Schema) {
	var p keys.Part
	kind := ""
	r.object(func(name string) {
		switch name {
		case "Name":
			p.Name = r.String()
		case "Type":
			p.Kind = attr.KindOf(r.String())
		case "Kind":
			kind = r.String()
		default:
			r.unknown(name)
		}
	})
	if kind == api.Hash {
		key.Hash = append(key.Hash, p)
	} else {
		key.Range = append(key.Range, p)
	}
}

func (e *Engine) redoStream(s *stream, latest bool, at time.Time) error {
	s.created = at
	e.streams[s.arn] = s
	if !latest {
		return nil
	}
	t := e.tables[s.table]
	if t == nil {
		return fmt.Errorf("a stream of table %q, which is not there", s.table)
	}
	t.stream = s
	return nil
}

func (c *streamed) writeState(w *api.Writer, arn string) {
	w.Object("Record", func() {
		w.Text("Stream", arn)
		w.Int("Number", int64(c.number))
		if c.old != nil {
			w.Item("Old", c.old.item)
		}
		if c.new != nil {
			w.Item("New", c.new.item)
		}
		if c.expired {
			w.Bool("Expired", true)
		}
	})
}

// A streamRecord is a record as read back.
type streamRecord struct {
	stream string
	streamed
}

func readStreamRecord(r *reader) *streamRecord {
	var c streamRecord
	r.object(func(name string) {
		switch name {
		case "Stream":
			c.stream = r.String()
		case "Number":
			c.number = uint64(r.Int())
		case "Old":
			c.old = newRecord(r.item())
		case "New":
			c.new = newRecord(r.item())
		case "Expired":
			c.expired = r.Bool()
		default:
			r.unknown(name)
		}
	})
	return &c
}

func (e *Engine) redoStreamRecord(c *streamRecord, at time.Time) error {
	s := e.streams[c.stream]
	if s == nil || c.old == nil && c.new == nil {
		return fmt.Errorf("a record of stream %q, which is not there or did not change", c.stream)
	}
	c.at = at
	s.changes.Set(streamKey(c.number), c.streamed)
	return nil
}
