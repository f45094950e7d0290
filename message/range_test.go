package message_test

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/internal/ddb"
	"github.com/homeops/ddbpatterns/internal/item"
	"github.com/homeops/ddbpatterns/internal/recordtest"
	"github.com/homeops/ddbpatterns/message"
	"github.com/homeops/ddbpatterns/record"
)

func upTo(from, to int64) []int64 {
	var all []int64
	for seq := from; seq <= to; seq++ {
		all = append(all, seq)
	}
	return all
}

func downTo(from, to int64) []int64 {
	all := upTo(to, from)
	slices.Reverse(all)
	return all
}

func TestInScope(t *testing.T) {
	t.Parallel()
	e := open(t, message.Config{})
	e.saveMany(t, 100) // message n was said 100-n seconds before noon
	other := said(50, bo, 0)
	other.Scope = chat + "4" // has the other's name as its prefix
	e.save(t, other)
	second := func(n int) time.Time { return noon.Add(time.Duration(n-100) * time.Second) }
	for name, tc := range map[string]struct {
		r    message.Range
		want []int64
	}{
		"all":                   {message.Range{}, upTo(1, 100)},
		"newest first":          {message.Range{NewestFirst: true}, downTo(100, 1)},
		"from to, newest first": {message.Range{FromSeq: 10, ToSeq: 90, NewestFirst: true}, downTo(90, 10)},
		"one":                   {message.Range{FromSeq: 7, ToSeq: 7}, upTo(7, 7)},
		"none":                  {message.Range{FromSeq: 8, ToSeq: 7}, nil},
		"at the ends":           {message.Range{FromSeq: 1, ToSeq: math.MaxInt64}, upTo(1, 100)},
		"since between":         {message.Range{From: second(95).Add(1), NewestFirst: true}, downTo(100, 96)},
		"since, to":             {message.Range{From: second(40), ToSeq: 60, NewestFirst: true}, downTo(60, 40)},
		"since now":             {message.Range{From: noon.Add(1), NewestFirst: true}, nil},
	} {
		if diff := cmp.Diff(tc.want, seqs(t, e.InScope(t.Context(), chat, tc.r))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		for _, limit := range []int{0, 7, 100, 1000, math.MaxInt} {
			r, want := tc.r, tc.want
			if r.Limit = limit; 0 < limit && limit < len(want) {
				want = want[:limit]
			}
			if diff := cmp.Diff(want, seqs(t, e.InScope(t.Context(), chat, r))); diff != "" {
				t.Errorf("%s, the first %d (-want +got):\n%s", name, limit, diff)
			}
			if diff := cmp.Diff(tc.want, e.parts(t, r)); diff != "" {
				t.Errorf("%s in parts of %d (-want +got):\n%s", name, limit, diff)
			}
		}
	}
	if got := seqs(t, e.InScope(t.Context(), "-1", message.Range{})); got != nil {
		t.Errorf("a scope without messages: %v", got)
	}
}

// parts walks the range as often as there is more.
func (e *env) parts(t testing.TB, r message.Range) (got []int64) {
	t.Helper()
	r.Next = &r.Cursor
	for more := true; more; more = r.Cursor != "" {
		got = append(got, seqs(t, e.InScope(t.Context(), chat, r))...)
	}
	return got
}

func TestCursors(t *testing.T) {
	t.Parallel()
	e := open(t, message.Config{})
	e.saveMany(t, 10)
	var up string
	if got := seqs(t, e.InScope(t.Context(), chat, message.Range{Limit: 4, Next: &up})); !cmp.Equal(got, upTo(1, 4)) {
		t.Fatal(got)
	}
	cost := e.db.Meter(func() {
		next := "not written"
		if got := seqs(t, e.InScope(t.Context(), chat, message.Range{Cursor: up, ToSeq: 4, Next: &next})); got != nil || next != "" {
			t.Errorf("after the last: %v, next %q", got, next)
		}
	})
	if cost.Requests != 0 {
		t.Errorf("after the last: %v", cost)
	}
	if got := seqs(t, e.InScope(t.Context(), "-1001234", message.Range{Cursor: up})); got != nil {
		t.Errorf("a cursor leads into another scope: %v", got)
	}
	for name, r := range map[string]message.Range{
		"of the other direction": {Cursor: up, NewestFirst: true},
		"cut":                    {Cursor: up[:len(up)-2]},
		"no cursor":              {Cursor: "4"},
		"of other bounds":        {Cursor: up, FromSeq: 6, ToSeq: 8},
	} {
		next := "not written"
		r.Next = &next
		recordtest.WantBad(t, refused(t, e.InScope(t.Context(), chat, r)), "message", "Range.Cursor", name)
		if next != "not written" {
			t.Errorf("%s: refused, and next is %q", name, next)
		}
	}
	if got := seqs(t, e.InScope(t.Context(), chat, message.Range{Cursor: up, Limit: 3})); !cmp.Equal(got, upTo(5, 7)) {
		t.Errorf("a walk behind another = %v", got)
	}
}

// Next is written when the loop is left or the walk fails, each time anew.
func TestNext(t *testing.T) {
	t.Parallel()
	e := open(t, message.Config{})
	e.saveMany(t, 40)
	next := "not written"
	all := e.InScope(t.Context(), chat, message.Range{Next: &next})
	if next != "not written" {
		t.Errorf("nobody walked, and next is %q", next)
	}
	for _, n := range []int64{1, 16, 20, 40} { // at the end of a page, and in the middle of one
		for m, err := range all {
			if err != nil {
				t.Fatal(err)
			}
			if m.Seq == n {
				break
			}
		}
		if n == 40 {
			if next != "" {
				t.Errorf("left at the last, next is %q", next)
			}
			break
		}
		if got := seqs(t, e.InScope(t.Context(), chat, message.Range{Cursor: next})); !cmp.Equal(got, upTo(n+1, 40)) {
			t.Errorf("left after %d: %v", n, got)
		}
	}
	for nth, want := range map[int]int64{1: 1, 2: 17} {
		e.db.Inject(dynamotest.Fault{Do: dynamotest.LoseReply, Op: "Query", Nth: nth, Times: 10})
		var failed error
		for _, err := range all {
			failed = err
		}
		if got := seqs(t, e.InScope(t.Context(), chat, message.Range{Cursor: next})); failed == nil || !cmp.Equal(got, upTo(want, 40)) {
			t.Errorf("query %d: %v, then %v", nth, failed, got)
		}
	}
}

func TestBadRangesSendNothing(t *testing.T) {
	t.Parallel()
	s, err := message.New(recordtest.Silent(t), "messages", nil)
	if err != nil {
		t.Fatal(err)
	}
	for field, r := range map[string]message.Range{
		"Range.FromSeq": {FromSeq: -1},
		"Range.ToSeq":   {ToSeq: -1},
		"Range.From":    {From: noon},
		"Range.Limit":   {Limit: -1},
	} {
		recordtest.WantBad(t, refused(t, s.InScope(t.Context(), chat, r)), "message", field)
	}
	recordtest.WantBad(t, refused(t, s.InScope(t.Context(), "", message.Range{})), "message", "scope")
	for _, n := range []int{-1, 0, 1001} {
		_, err = s.Recent(t.Context(), chat, n)
		recordtest.WantBad(t, err, "message", "n")
	}
}

// half puts a row of another system whose sequence is not a whole number.
func (e *env) half(t *testing.T, seq string) {
	t.Helper()
	recordtest.Put(t, e.db.Client(), e.table, ddb.Item{
		"chatId": item.S(chat), "messageId": item.Digits(seq), "userId": item.Digits(bo), "timestamp": item.N(noon.UnixMilli()),
	})
}

// Such a row ends a walk: behind the messages before it, although it is the last of
// its page, and before those behind it.
func TestAFractionalSequenceEndsAWalkInItsPlace(t *testing.T) {
	t.Parallel()
	e := open(t, message.Config{})
	e.saveMany(t, 15)
	e.half(t, "15.5")
	e.save(t, said(16, anna, 0))
	for _, newest := range []bool{false, true} {
		want, r := append(upTo(1, 15), 0, 16), message.Range{NewestFirst: newest}
		if newest {
			slices.Reverse(want)
		}
		r.Next = &r.Cursor
		var got []int64
		for more := true; more; more = r.Cursor != "" && len(got) < 20 {
			for m := range e.InScope(t.Context(), chat, r) {
				got = append(got, m.Seq)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("newest first %v, the error as 0 (-want +got):\n%s", newest, diff)
		}
	}
}

// Without a Match such a row would be an error. What a walk that leaves it out writes
// to Next, a later walk accepts.
func TestACursorBehindAFractionalSequence(t *testing.T) {
	t.Parallel()
	e := open(t, message.Config{ActorIndex: true})
	for _, seq := range []string{"6.5", "18446744073709551616"} {
		e.half(t, seq)
	}
	m := said(7, bo, -0.001)
	m.Data = map[string]any{"to": "Lund"}
	e.save(t, m)
	match := message.Match{Data: []record.Compare{{Name: "to", Value: "Lund"}}}
	r, a := message.Range{Match: match, ReadAtMost: 1}, message.Range{Match: match, ReadAtMost: 1}
	r.Next, a.Next = &r.Cursor, &a.Cursor
	var got []int64
	for range 2 {
		got = append(got, seqs(t, e.InScope(t.Context(), chat, r))...)
	}
	for range 3 {
		got = append(got, seqs(t, e.ByActor(t.Context(), bo, a))...)
	}
	if !cmp.Equal(got, []int64{7, 7}) {
		t.Errorf("%v, want 7 of each", got)
	}
}
