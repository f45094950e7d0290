package message_test

import (
	"errors"
	"fmt"
	"iter"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/google/go-cmp/cmp"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/ddb"
	"github.com/homeops/ddbpatterns/internal/golden"
	"github.com/homeops/ddbpatterns/internal/item"
	"github.com/homeops/ddbpatterns/internal/recordtest"
	"github.com/homeops/ddbpatterns/message"
)

// The row of a message with data as it is stored, and read back.
func TestGoldenData(t *testing.T) {
	t.Parallel()
	e := open(t, message.Config{})
	given := message.Message{
		Scope: "ticket-9", Seq: 43, Actor: anna, Text: "one more of these", At: noon,
		Data: map[string]any{"cents": 1250, "destination": "Lund", "gift": false, "weight": attributevalue.Number("7e-1")},
	}
	e.save(t, given)
	golden.Want(t, e.db.Client(), e.table, "testdata/data.json", "chatId", "messageId")
	want := given
	want.CreatedAt = noon
	want.Data = map[string]any{"cents": attributevalue.Number("1250"), "destination": "Lund", "gift": false, "weight": attributevalue.Number("0.7")}
	got, ok, err := e.Get(t.Context(), "ticket-9", 43)
	if diff := cmp.Diff(want, got); diff != "" || !ok || err != nil {
		t.Errorf("Get %v, %v (-want +got):\n%s", ok, err, diff)
	}
	again := given
	again.Data = map[string]any{"cents": 9}
	if out, err := e.Save(t.Context(), again); out != event.Duplicate || err != nil { // it does not compare
		t.Errorf("Save = %v, %v", out, err)
	}
}

func TestBadDataSendsNothing(t *testing.T) {
	t.Parallel()
	s, err := message.New(recordtest.Silent(t), "messages", &message.Config{Now: recordtest.Clock(noon), ActorIndex: true})
	if err != nil {
		t.Fatal(err)
	}
	for field, bad := range map[string]map[string]any{
		`Data["x"]`: {"x": math.NaN()},
		"Data":      {"": 1},
	} {
		m := said(1, anna, 0)
		m.Data = bad
		_, err := s.Save(t.Context(), m)
		recordtest.WantBad(t, err, "message", field)
		_, err = s.SaveItem(m)
		recordtest.WantBad(t, err, "message", field)
	}
	large := said(1, anna, 0)
	large.Raw, large.Data = strings.Repeat("r", 398*1024), map[string]any{"x": strings.Repeat("x", 3000)}
	_, err = s.Save(t.Context(), large)
	recordtest.WantBad(t, err, "message", "Raw")
	_, err = message.New(recordtest.Silent(t), "messages", &message.Config{ActorNameAttr: "data"})
	recordtest.WantBad(t, err, "message", "Config.ActorNameAttr")
}

func TestBadFiltersSendNothing(t *testing.T) {
	t.Parallel()
	s, err := message.New(recordtest.Silent(t), "messages", &message.Config{Now: recordtest.Clock(noon), ActorIndex: true})
	if err != nil {
		t.Fatal(err)
	}
	// bad expects one error and nothing else.
	bad := func(field string, walk iter.Seq2[message.Message, error], page message.Page, err error) {
		t.Helper()
		recordtest.WantBad(t, err, "message", field)
		n := 0
		for m, err := range walk {
			recordtest.WantBad(t, err, "message", field)
			if n++; m.Seq != 0 {
				t.Errorf("%v came with the error", m)
			}
		}
		if n != 1 || page.Messages != nil {
			t.Errorf("%s: yielded %d times, and %v", field, n, page)
		}
	}
	for field, r := range map[string]message.Range{
		"Range.ReadAtMost":    {ReadAtMost: -1},
		"Match.Actor":         {Match: message.Match{Actor: "anna"}},
		"Match.Data[0].Op":    {Match: message.Match{Data: []message.Compare{{Name: "x", Op: "~", Value: 1}}}},
		"Match.Data[0].Value": {Match: message.Match{Data: []message.Compare{{Name: "x"}}}},
	} {
		page, err := s.InScopePage(t.Context(), chat, r)
		bad(field, s.InScope(t.Context(), chat, r), page, err)
	}
	for field, r := range map[string]message.TimeRange{
		"TimeRange.To":         {From: noon, To: noon.Add(-1)},
		"TimeRange.Limit":      {Limit: -1},
		"TimeRange.ReadAtMost": {ReadAtMost: -1},
		"Match.Actor":          {Match: message.Match{Actor: anna}},
		"Match.Data[0].Op":     {Match: message.Match{Data: []message.Compare{{Name: "x", Op: "~", Value: 1}}}},
		"TimeRange.Cursor":     {Cursor: "x"},
	} {
		page, err := s.ByActorPage(t.Context(), anna, r)
		bad(field, s.ByActor(t.Context(), anna, r), page, err)
	}
	page, err := s.ByActorPage(t.Context(), "anna", message.TimeRange{})
	bad("Actor", s.ByActor(t.Context(), "", message.TimeRange{}), page, err)

	bare, err := message.New(recordtest.Silent(t), "messages", nil)
	if err != nil {
		t.Fatal(err)
	}
	page, err = bare.ByActorPage(t.Context(), anna, message.TimeRange{})
	bad("Config.ActorIndex", bare.ByActor(t.Context(), anna, message.TimeRange{}), page, err)
}

// A cursor belongs to its query and its Match, and cannot leave the bounds.
func TestCursorsOfFilters(t *testing.T) {
	t.Parallel()
	e := open(t, message.Config{ActorIndex: true})
	for seq := int64(1); seq <= 6; seq++ {
		m := said(seq, anna, float64(10-seq))
		m.Data = map[string]any{"cents": 100 * seq}
		e.save(t, m)
	}
	match := message.Match{Data: []message.Compare{{Name: "cents", Op: ">", Value: 100}}}
	page, err := e.InScopePage(t.Context(), chat, message.Range{Match: match, Limit: 2})
	if err != nil || page.Cursor == "" {
		t.Fatal(page, err)
	}
	other := message.Match{Data: []message.Compare{{Name: "cents", Op: ">", Value: 101}}}
	for _, r := range []message.Range{{}, {Match: other}, {Match: match, NewestFirst: true}, {Match: message.Match{Actor: anna}}} {
		r.Cursor = page.Cursor
		_, err := e.InScopePage(t.Context(), chat, r)
		recordtest.WantBad(t, err, "message", "Range.Cursor")
	}
	_, err = e.ByActorPage(t.Context(), anna, message.TimeRange{Match: match, Cursor: page.Cursor})
	recordtest.WantBad(t, err, "message", "TimeRange.Cursor")

	of, err := e.ByActorPage(t.Context(), anna, message.TimeRange{Match: match, Limit: 2})
	if got := seqsOf(of.Messages); err != nil || !cmp.Equal(got, []int64{2, 3}) {
		t.Fatal(got, err)
	}
	for _, r := range []message.TimeRange{{}, {Match: other}, {Match: match, NewestFirst: true}, {Match: match, From: noon}, {Match: match, To: noon.Add(-time.Minute)}} {
		r.Cursor = of.Cursor
		_, err := e.ByActorPage(t.Context(), anna, r)
		recordtest.WantBad(t, err, "message", "TimeRange.Cursor")
	}
	rest, err := e.ByActorPage(t.Context(), anna, message.TimeRange{Match: match, Cursor: of.Cursor})
	if got := seqsOf(rest.Messages); err != nil || !cmp.Equal(got, []int64{4, 5, 6}) || rest.Cursor != "" {
		t.Error(got, rest.Cursor, err)
	}
	none, err := e.ByActorPage(t.Context(), bo, message.TimeRange{Match: match, Cursor: of.Cursor}) // another's: it stays in what is asked for
	if err != nil || len(none.Messages) > 0 {
		t.Error(none, err)
	}
}

// What a page or a walk reads is bounded, whatever it leaves out, and Since ends
// it at the first that was said before, also where the Match leaves that out.
func TestReadAtMost(t *testing.T) {
	t.Parallel()
	e := open(t, message.Config{})
	for seq := int64(1); seq <= 40; seq++ {
		m := said(seq, anna, float64(40-seq))
		if seq == 3 {
			m.Data = map[string]any{"gift": true}
		}
		e.save(t, m)
	}
	gifts := message.Match{Data: []message.Compare{{Name: "gift", Value: true}}}
	page, err := e.InScopePage(t.Context(), chat, message.Range{Match: gifts, ReadAtMost: 10, NewestFirst: true})
	if err != nil || len(page.Messages) != 0 || page.Cursor == "" {
		t.Errorf("an empty page: %v, %v", page, err)
	}
	n := 0
	for m, err := range e.InScope(t.Context(), chat, message.Range{Match: gifts, ReadAtMost: 10}) {
		n++
		if want := fmt.Sprintf("message: InScope on table %s: %v", e.table, message.ErrReadAtMost); n == 1 && (m.Seq != 3 || err != nil) ||
			n == 2 && (!errors.Is(err, message.ErrReadAtMost) || err.Error() != want) {
			t.Errorf("%d: %v, %v", n, m, err)
		}
	}
	if n != 2 {
		t.Errorf("yielded %d times", n)
	}
	if got := seqs(t, e.InScope(t.Context(), chat, message.Range{Match: gifts, ReadAtMost: 41})); !cmp.Equal(got, []int64{3}) {
		t.Errorf("all of it: %v", got)
	}
	// The gift is on the first page, or on the second, behind what may be read.
	for _, r := range []message.Range{{Match: gifts, ReadAtMost: 2}, {Match: gifts, ReadAtMost: 20, NewestFirst: true}} {
		for m, err := range e.InScope(t.Context(), chat, r) {
			if err == nil {
				t.Errorf("of %d rows, message %d was read", r.ReadAtMost, m.Seq)
			}
		}
	}
	cost := e.db.Meter(func() {
		if got := seqs(t, e.InScope(t.Context(), chat, message.Range{Match: gifts, Limit: 1, NewestFirst: true})); !cmp.Equal(got, []int64{3}) {
			t.Errorf("the last: %v", got)
		}
	})
	if cost.Requests > 7 { // they double
		t.Errorf("the last took %v", cost)
	}
	since := message.Range{Match: gifts, NewestFirst: true, Since: noon.Add(-5 * time.Second)}
	cost = e.db.Meter(func() {
		if got := seqs(t, e.InScope(t.Context(), chat, since)); got != nil {
			t.Errorf("since: %v", got)
		}
	})
	cost.Want(t, dynamotest.Price{Requests: 1, RCU: 0.5}) // not to the beginning
}

// A message that the Match leaves out ends a walk with Since as any other does: one
// of an older system, too, whose second began before Since and ended after it.
func TestSinceWithinASecond(t *testing.T) {
	t.Parallel()
	e := open(t, message.Config{})
	for seq, before := range map[int64]float64{1: 0, 3: 0} { // the first by a clock that was fast
		m := said(seq, anna, before)
		m.Data = map[string]any{"gift": true}
		e.save(t, m)
	}
	recordtest.Put(t, e.db.Client(), e.table, ddb.Item{
		"chatId": item.S(chat), "messageId": item.N(2), "timestamp": item.N(noon.Unix() - 5),
	})
	gifts := message.Match{Data: []message.Compare{{Name: "gift", Value: true}}}
	for ahead, want := range map[time.Duration][]int64{0: {3, 1}, time.Millisecond: {3}, 999 * time.Millisecond: {3}} {
		r := message.Range{Match: gifts, NewestFirst: true, Since: noon.Add(ahead - 5*time.Second)}
		if got := seqs(t, e.InScope(t.Context(), chat, r)); !cmp.Equal(got, want) {
			t.Errorf("%v into the second: %v, want %v", ahead, got, want)
		}
	}
}
