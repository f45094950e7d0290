package message_test

import (
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
	"github.com/homeops/ddbpatterns/record"
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
	_, err = message.New(recordtest.Silent(t), "messages", &message.Config{Names: map[string]string{"userName": "data"}})
	recordtest.WantBad(t, err, "message", `Config.Names["userName"]`)
}

func TestBadFiltersSendNothing(t *testing.T) {
	t.Parallel()
	s, err := message.New(recordtest.Silent(t), "messages", &message.Config{Now: recordtest.Clock(noon), ActorIndex: true})
	if err != nil {
		t.Fatal(err)
	}
	bad := func(field string, walk iter.Seq2[message.Message, error]) {
		t.Helper()
		recordtest.WantBad(t, refused(t, walk), "message", field)
	}
	for field, r := range map[string]message.Range{
		"Range.ReadAtMost":    {ReadAtMost: -1},
		"Match.Actor":         {Match: message.Match{Actor: "anna"}},
		"Match.Data[0].Op":    {Match: message.Match{Data: []record.Compare{{Name: "x", Op: "~", Value: 1}}}},
		"Match.Data[0].Value": {Match: message.Match{Data: []record.Compare{{Name: "x"}}}},
	} {
		bad(field, s.InScope(t.Context(), chat, r))
	}
	for field, r := range map[string]message.Range{
		"Range.To":         {From: noon, To: noon.Add(-1)},
		"Range.Limit":      {Limit: -1},
		"Range.ReadAtMost": {ReadAtMost: -1},
		"Match.Actor":      {Match: message.Match{Actor: anna}},
		"Match.Data[0].Op": {Match: message.Match{Data: []record.Compare{{Name: "x", Op: "~", Value: 1}}}},
		"Range.Cursor":     {Cursor: "x"},
	} {
		bad(field, s.ByActor(t.Context(), anna, r))
	}
	bad("Actor", s.ByActor(t.Context(), "anna", message.Range{}))
	bad("Actor", s.ByActor(t.Context(), "", message.Range{}))

	bare, err := message.New(recordtest.Silent(t), "messages", nil)
	if err != nil {
		t.Fatal(err)
	}
	bad("Config.ActorIndex", bare.ByActor(t.Context(), anna, message.Range{}))
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
	match := message.Match{Data: []record.Compare{{Name: "cents", Op: ">", Value: 100}}}
	var next string
	seqs(t, e.InScope(t.Context(), chat, message.Range{Match: match, Limit: 2, Next: &next}))
	other := message.Match{Data: []record.Compare{{Name: "cents", Op: ">", Value: 101}}}
	for _, r := range []message.Range{{}, {Match: other}, {Match: match, NewestFirst: true}, {Match: message.Match{Actor: anna}}} {
		r.Cursor = next
		recordtest.WantBad(t, refused(t, e.InScope(t.Context(), chat, r)), "message", "Range.Cursor")
	}
	err := refused(t, e.ByActor(t.Context(), anna, message.Range{Match: match, Cursor: next}))
	recordtest.WantBad(t, err, "message", "Range.Cursor")

	if got := seqs(t, e.ByActor(t.Context(), anna, message.Range{Match: match, Limit: 2, Next: &next})); !cmp.Equal(got, []int64{2, 3}) {
		t.Fatal(got)
	}
	for _, r := range []message.Range{{}, {Match: other}, {Match: match, NewestFirst: true}, {Match: match, From: noon}, {Match: match, To: noon.Add(-time.Minute)}} {
		r.Cursor = next
		recordtest.WantBad(t, refused(t, e.ByActor(t.Context(), anna, r)), "message", "Range.Cursor")
	}
	end := "not written"
	rest := seqs(t, e.ByActor(t.Context(), anna, message.Range{Match: match, Cursor: next, Next: &end}))
	if !cmp.Equal(rest, []int64{4, 5, 6}) || end != "" {
		t.Error(rest, end)
	}
	if got := seqs(t, e.ByActor(t.Context(), bo, message.Range{Match: match, Cursor: next})); got != nil { // another's: it stays in what is asked for
		t.Error(got)
	}
}

// What a walk reads is bounded, whatever it leaves out, and From ends
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
	gifts := message.Match{Data: []record.Compare{{Name: "gift", Value: true}}}
	var next string
	if got := seqs(t, e.InScope(t.Context(), chat, message.Range{Match: gifts, ReadAtMost: 10, Next: &next})); !cmp.Equal(got, []int64{3}) || next == "" {
		t.Errorf("the beginning: %v, next %q", got, next)
	}
	if got := seqs(t, e.InScope(t.Context(), chat, message.Range{Match: gifts, ReadAtMost: 41, Next: &next})); !cmp.Equal(got, []int64{3}) || next != "" {
		t.Errorf("all of it: %v, next %q", got, next)
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
	since := message.Range{Match: gifts, NewestFirst: true, From: noon.Add(-5 * time.Second), Next: &next}
	cost = e.db.Meter(func() {
		if got := seqs(t, e.InScope(t.Context(), chat, since)); got != nil || next != "" {
			t.Errorf("since: %v, next %q", got, next)
		}
	})
	cost.Want(t, dynamotest.Price{Requests: 1, RCU: 0.5}) // not to the beginning
}

// A message that the Match leaves out ends a walk with From as any other does: one
// of an older system, too, whose second began before From and ended after it.
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
	gifts := message.Match{Data: []record.Compare{{Name: "gift", Value: true}}}
	for ahead, want := range map[time.Duration][]int64{0: {3, 1}, time.Millisecond: {3}, 999 * time.Millisecond: {3}} {
		r := message.Range{Match: gifts, NewestFirst: true, From: noon.Add(ahead - 5*time.Second)}
		if got := seqs(t, e.InScope(t.Context(), chat, r)); !cmp.Equal(got, want) {
			t.Errorf("%v into the second: %v, want %v", ahead, got, want)
		}
	}
}
