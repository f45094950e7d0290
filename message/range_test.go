package message_test

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/homeops/ddbpatterns/internal/recordtest"
	"github.com/homeops/ddbpatterns/message"
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
		"consistent":            {message.Range{Consistent: true}, upTo(1, 100)},
		"from":                  {message.Range{FromSeq: 98}, upTo(98, 100)},
		"to":                    {message.Range{ToSeq: 3}, upTo(1, 3)},
		"from to, newest first": {message.Range{FromSeq: 10, ToSeq: 90, NewestFirst: true}, downTo(90, 10)},
		"one":                   {message.Range{FromSeq: 7, ToSeq: 7}, upTo(7, 7)},
		"none":                  {message.Range{FromSeq: 8, ToSeq: 7}, nil},
		"beyond":                {message.Range{FromSeq: 101}, nil},
		"at the ends":           {message.Range{FromSeq: 1, ToSeq: math.MaxInt64}, upTo(1, 100)},
		"since":                 {message.Range{Since: second(95), NewestFirst: true}, downTo(100, 95)},
		"since between":         {message.Range{Since: second(95).Add(1), NewestFirst: true}, downTo(100, 96)},
		"since, to":             {message.Range{Since: second(40), ToSeq: 60, NewestFirst: true}, downTo(60, 40)},
		"since now":             {message.Range{Since: noon.Add(1), NewestFirst: true}, nil},
		"since ever":            {message.Range{Since: time.Unix(0, 0), NewestFirst: true}, downTo(100, 1)},
	} {
		if diff := cmp.Diff(tc.want, seqs(t, e.InScope(t.Context(), chat, tc.r))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		for _, limit := range []int{0, 7, 100, 1000, math.MaxInt} {
			if diff := cmp.Diff(tc.want, e.pages(t, tc.r, limit)); diff != "" {
				t.Errorf("%s in pages of %d (-want +got):\n%s", name, limit, diff)
			}
			r, want := tc.r, tc.want
			if r.Limit = limit; 0 < limit && limit < len(want) {
				want = want[:limit]
			}
			if diff := cmp.Diff(want, seqs(t, e.InScope(t.Context(), chat, r))); diff != "" {
				t.Errorf("%s, the first %d (-want +got):\n%s", name, limit, diff)
			}
		}
	}
	if got := seqs(t, e.InScope(t.Context(), "-1", message.Range{})); got != nil {
		t.Errorf("a scope without messages: %v", got)
	}
}

// pages drains the range page by page. A limit of 0 is 50.
func (e *env) pages(t testing.TB, r message.Range, limit int) []int64 {
	t.Helper()
	var got []int64
	r.Limit = limit
	if limit == 0 {
		limit = 50
	}
	for {
		page, err := e.InScopePage(t.Context(), chat, r)
		if err != nil {
			t.Fatal(err)
		}
		if len(page.Messages) > limit || page.Cursor != "" && len(page.Messages) != limit {
			t.Errorf("a page of %d, limit %d, cursor %q", len(page.Messages), limit, page.Cursor)
		}
		got = append(got, seqsOf(page.Messages)...)
		if page.Cursor == "" {
			return got
		}
		r.Cursor = page.Cursor
	}
}

func TestCursors(t *testing.T) {
	t.Parallel()
	e := open(t, message.Config{})
	e.saveMany(t, 10)
	up, err := e.InScopePage(t.Context(), chat, message.Range{Limit: 4})
	if err != nil || !cmp.Equal(seqsOf(up.Messages), upTo(1, 4)) {
		t.Fatal(up, err)
	}
	// A cursor says after which message to go on, never past the bounds.
	page, err := e.InScopePage(t.Context(), chat, message.Range{Cursor: up.Cursor, FromSeq: 6, ToSeq: 8})
	if got := seqsOf(page.Messages); err != nil || !cmp.Equal(got, upTo(6, 8)) {
		t.Errorf("within narrower bounds: %v, %v", got, err)
	}
	cost := e.db.Meter(func() {
		page, err = e.InScopePage(t.Context(), chat, message.Range{Cursor: up.Cursor, ToSeq: 4})
	})
	if err != nil || len(page.Messages) != 0 || page.Cursor != "" || cost.Requests != 0 {
		t.Errorf("after the last: %v, %v, %v", page, err, cost)
	}
	page, err = e.InScopePage(t.Context(), "-1001234", message.Range{Cursor: up.Cursor})
	if err != nil || len(page.Messages) != 0 {
		t.Errorf("a cursor leads into another scope: %v, %v", page, err)
	}
	for name, r := range map[string]message.Range{
		"of the other direction": {Cursor: up.Cursor, NewestFirst: true},
		"cut":                    {Cursor: up.Cursor[:len(up.Cursor)-2]},
		"no cursor":              {Cursor: "4"},
	} {
		_, err := e.InScopePage(t.Context(), chat, r)
		recordtest.WantBad(t, err, "message", "Range.Cursor")
		if err == nil {
			t.Errorf("%s: taken", name)
		}
		for _, err := range e.InScope(t.Context(), chat, r) {
			recordtest.WantBad(t, err, "message", "Range.Cursor")
		}
	}
	// A walk goes on from a page, and a page from a page.
	r := message.Range{Cursor: up.Cursor, Limit: 3}
	if got := seqs(t, e.InScope(t.Context(), chat, r)); !cmp.Equal(got, upTo(5, 7)) {
		t.Errorf("a walk behind the page = %v", got)
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
		"Range.Since":   {Since: noon},
		"Range.Limit":   {Limit: -1},
	} {
		_, err := s.InScopePage(t.Context(), chat, r)
		recordtest.WantBad(t, err, "message", field)
		n := 0
		for m, err := range s.InScope(t.Context(), chat, r) {
			recordtest.WantBad(t, err, "message", field)
			if n++; m.Seq != 0 {
				t.Errorf("%s: %v came with the error", field, m)
			}
		}
		if n != 1 {
			t.Errorf("%s: yielded %d times", field, n)
		}
	}
	_, err = s.InScopePage(t.Context(), "", message.Range{})
	recordtest.WantBad(t, err, "message", "scope")
	for _, n := range []int{-1, 0, 1001} {
		_, err = s.Recent(t.Context(), chat, n)
		recordtest.WantBad(t, err, "message", "n")
	}
}
