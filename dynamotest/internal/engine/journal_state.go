package engine

import (
	"fmt"
	"time"

	"github.com/homeops/ddbpatterns/dynamotest/internal/api"
	"github.com/homeops/ddbpatterns/dynamotest/internal/journal"
	"github.com/homeops/ddbpatterns/dynamotest/internal/stream"
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

	s.streams.Write(out, func(st *stream.Stream) bool {
		t := s.tables[st.Table]
		return t != nil && t.stream == st
	})

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

func readTableState(r *journal.Reader) *tableState {
	var s tableState
	r.Members(func(name string) {
		switch name {
		case "Create":
			s.create = r.Raw()
		case "Id":
			s.id = r.String()
		case "BillingSet":
			s.billingSet = r.Bool()
		case "BilledSince":
			s.billedSince = r.Time()
		case "TimeToLive":
			s.ttl = r.String()
		case "BackupDays":
			s.backupDays = r.Int()
		case "BackupsFrom":
			s.backupsFrom = r.Time()
		default:
			r.Unknown(name)
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

func (e *Engine) redoStream(s *stream.Stream, latest bool, at time.Time) error {
	e.streams.Redo(s, at)
	if !latest {
		return nil
	}
	t := e.tables[s.Table]
	if t == nil {
		return fmt.Errorf("a stream of table %q, which is not there", s.Table)
	}
	t.stream = s
	return nil
}

// createdTable makes a table from a CreateTable request, at a time.
func (e *Engine) createdTable(definition []byte, at time.Time) (*table, error) {
	if err := e.again("CreateTable", definition, at); err != nil {
		return nil, err
	}
	var req api.CreateTable
	if err := api.Decode(definition, &req); err != nil {
		return nil, err
	}
	t := e.tables[req.TableName.Value]
	t.def.BillingSet = req.Billing.Set
	return t, nil
}
