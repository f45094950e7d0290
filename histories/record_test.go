package histories_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/record"
	"github.com/homeops/ddbpatterns/schema"
)

// recordStory is about one row that events set. The last event wins.
type recordStory struct {
	averages
	rows []*record.Rows[setRow]
}

// setRow is the row that an event has set. Its whole content follows from the
// event.
type setRow struct {
	stands bool
	event  int
}

func (r setRow) String() string { return fmt.Sprintf("set by event %d", r.event) }

func newRecord(w *world) story {
	r := &recordStory{averages: averages{w: w, pk: record.Key("ORDER", "1001")}}
	kind := record.Kind[setRow]{Package: "status", Type: "ORDER", Decode: func(row record.Item) (setRow, error) {
		f := record.Read(row)
		at, err := strconv.Atoi(f.Text("status"))
		if err == nil && f.Text("note") != noteOf(at) {
			at = -1 // a mixture of two events
		}
		return setRow{stands: true, event: at}, errors.Join(err, f.Err())
	}}
	for _, c := range w.callers {
		rows, err := record.New(c.client, "orders", kind, &record.Config{Now: c.now, ConsistentReads: true})
		if err != nil {
			panic(err)
		}
		r.rows = append(r.rows, rows)
	}
	r.get = func(ctx context.Context, c *caller) any {
		found, _, err := r.rows[c.id].Get(ctx, r.pk, "status")
		if err != nil {
			return nil
		}
		return found
	}
	r.observe = func(ctx context.Context, c *caller, ev event.Event, n int) (event.Outcome, error) {
		s := record.Set{Partition: r.pk, Sort: "status", Event: ev, Values: record.Item{"status": record.Text(strconv.Itoa(n)), "note": nil}}
		if note := noteOf(n); note != "" {
			s.Values["note"] = record.Text(note)
		}
		return r.rows[c.id].Set(ctx, s)
	}
	return r
}

// noteOf returns an attribute that every second event removes.
func noteOf(event int) string {
	if event%2 == 0 {
		return ""
	}
	return "of " + strconv.Itoa(event)
}

func (r *recordStory) tables() []schema.Table { return []schema.Table{r.rows[0].Table()} }
func (*recordStory) begin() []*call           { return nil }

// intrude erases the row, from outside.
func (r *recordStory) intrude() {
	n, err := r.eraser().Erase(context.Background(), r.pk)
	if err != nil {
		panic(err)
	}
	if n > 0 {
		r.w.happened(r.pk, erased{}, nil)
	}
}

func (r *recordStory) eraser() *record.Rows[setRow] {
	rows, err := record.New(r.w.raw, "orders", record.Kind[setRow]{
		Package: "status", Type: "ORDER", Decode: func(record.Item) (setRow, error) { return setRow{}, nil },
	}, nil)
	if err != nil {
		panic(err)
	}
	return rows
}

func (*recordStory) fresh() any { return setRow{} }

func (*recordStory) apply(state any, m *move) (any, bool) {
	stood := state.(setRow)
	switch in := m.in.(type) {
	case erased:
		return setRow{}, stood.stands
	case fetches:
		return stood, m.out == any(stood)
	case observes:
		later := !stood.stands || in.event > stood.event
		if m.row != nil {
			left := setRow{stands: true, event: in.event}
			return left, later && str(m.row, "status") == strconv.Itoa(in.event) && (m.out == nil || m.out == created{})
		}
		if in.event == stood.event {
			return stood, !later && m.out == duplicate{}
		}
		return stood, !later && m.out == tooOld{}
	}
	return stood, false
}
