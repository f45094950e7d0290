package histories_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/record"
	"github.com/homeops/ddbpatterns/schema"
)

// recordStory is about one row that events set. The last event wins.
type recordStory struct {
	averages
	rows []*record.Rows[setRow]
}

// setRow is the row that an event has set.
type setRow struct {
	stands bool
	event  int // -1 for a mixture of two events
}

func (r setRow) String() string { return fmt.Sprintf("set by event %d", r.event) }

// report is what an event says of the status, in whole seconds. Of the eight events
// of a second, seven share their rank with others, and some of these say the same.
type report struct {
	n, second, rank int
	status, note    string // note is "" if the event does not give it
}

func reported(n int) report {
	k := n % 8
	s := report{n: n, second: n / 8, rank: []int{0, 0, 1, 1, 1, 2, 2, 10}[k], status: []string{"a", "a", "c", "c", "d", "e", "b", "f"}[k]}
	if s.status == "b" || s.status == "e" {
		s.note = "of " + s.status
	}
	return s
}

// event returns the event. Numbers of one second do not rise with the events.
func (s report) event() event.Event {
	ev, err := event.New(epoch.Add(time.Duration(s.second-3600)*time.Second), "status", fmt.Sprint(s.n))
	if err != nil {
		panic(err)
	}
	return ev
}

// compare orders what is report as FORMAT.md does, without the stored form.
func (s report) compare(other report) int {
	return cmp.Or(s.moment(other), s.event().Compare(other.event()))
}

// moment compares time and rank.
func (s report) moment(other report) int {
	return cmp.Or(cmp.Compare(s.second, other.second), cmp.Compare(s.rank, other.rank))
}

func (s report) same(other report) bool { return s.status == other.status && s.note == other.note }

func (s report) values() record.Item {
	values := record.Item{"status": record.Text(s.status)}
	if s.note != "" {
		values["note"] = record.Text(s.note)
	}
	return values
}

// stored returns the event of a row, and reports whether the row has exactly
// what that event gave.
func stored(r row) (report, bool) {
	for _, s := range reports {
		text := s.event().String()
		if s.rank > 0 {
			text = fmt.Sprintf("%sr%03d%s", text[:10], s.rank, text[10:])
		}
		if text == str(r, "event") {
			return s, str(r, "status") == s.status && str(r, "note") == s.note && (r["note"] != nil) == (s.note != "")
		}
	}
	return report{n: -1}, false
}

// reports are all that a history may have.
var reports = func() (all []report) {
	for n := range 60 {
		all = append(all, reported(n))
	}
	return all
}()

// tied is the answer to one of two events that neither time nor rank decides.
type tied struct{ stands bool }

func (t tied) String() string { return fmt.Sprintf("a tie, and the event stands: %v", t.stands) }

var statusKind = record.Kind[setRow]{
	Package: "status", Type: "ORDER", Attributes: []string{"status", "note"},
	Decode: func(row record.Item) (setRow, error) {
		s, exactly := stored(row)
		if !exactly {
			s.n = -1
		}
		return setRow{stands: true, event: s.n}, nil
	},
}

func newRecord(w *world) story {
	r := &recordStory{averages: averages{w: w, pk: record.Key("ORDER", "1001")}}
	for _, c := range w.callers {
		rows, err := record.New(c.client, "orders", statusKind, &record.Config{Now: c.now, ConsistentReads: true})
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
	return r
}

func (r *recordStory) next(c *caller) *call {
	if r.w.rnd.IntN(5) == 0 {
		return r.read(c)
	}
	s := reported(r.w.rnd.IntN(len(reports) / 2))
	return &call{caller: c, key: r.pk, in: observes{s.n}, do: func(ctx context.Context) any {
		out, err := r.rows[c.id].Set(ctx, record.Set{
			Partition: r.pk, Sort: "status", Event: s.event(), Rank: s.rank, Values: s.values(),
		})
		return answerOf(out, err)
	}}
}

// answerOf returns the answer of Set, nil for a failure.
func answerOf(out event.Outcome, err error) any {
	tie, isTie := errors.AsType[*record.TieError](err)
	switch {
	case isTie && tie.Stands != (out == event.Created):
		return "a tie that contradicts itself"
	case isTie:
		return tied{tie.Stands}
	case errors.Is(err, event.ErrSuperseded):
		return superseded{}
	case err != nil:
		return nil
	case out == event.Created:
		return created{}
	}
	return duplicate{}
}

func (r *recordStory) tables() []schema.Table { return []schema.Table{r.rows[0].Table()} }
func (*recordStory) begin() []*call           { return nil }

// intrude erases the row, from outside.
func (r *recordStory) intrude() {
	rows, err := record.New(r.w.raw, "orders", statusKind, nil)
	if err != nil {
		panic(err)
	}
	n, err := rows.Erase(context.Background(), r.pk)
	if err != nil {
		panic(err)
	}
	if n > 0 {
		r.w.happened(r.pk, erased{}, nil)
	}
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
		now, before := reported(in.event), reported(stood.event)
		later := !stood.stands || now.compare(before) > 0
		tie := stood.stands && now.n != before.n && now.moment(before) == 0 && !now.same(before)
		if m.row != nil {
			answer := any(created{})
			if tie {
				answer = tied{stands: true}
			}
			left, exactly := stored(m.row)
			return setRow{stands: true, event: now.n}, later && exactly && left == now && (m.out == nil || m.out == answer)
		}
		answer := any(superseded{})
		switch {
		case tie:
			answer = tied{stands: false}
		case stood.stands && now.moment(before) == 0:
			answer = duplicate{}
		}
		return stood, !later && m.out == answer
	}
	return stood, false
}
