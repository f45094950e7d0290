package message_test

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/homeops/ddbpatterns/internal/golden"
	"github.com/homeops/ddbpatterns/internal/item"
	"github.com/homeops/ddbpatterns/internal/recordtest"
	"github.com/homeops/ddbpatterns/message"
)

// An actor's messages of all scopes, by time, From included and To not.
func TestByActor(t *testing.T) {
	t.Parallel()
	e := open(t, message.Config{ActorIndex: true})
	elsewhere := said(1, anna, 2)
	elsewhere.Scope = "-200"
	e.save(t, said(2, anna, 3), elsewhere, said(3, anna, 1), said(4, bo, 2), said(5, "", 2))
	at := func(before float64) time.Time { return said(1, anna, before).At }
	for _, tc := range []struct {
		r    message.Range
		want []int64
	}{
		{message.Range{}, []int64{2, 1, 3}},
		{message.Range{NewestFirst: true}, []int64{3, 1, 2}},
		{message.Range{Limit: 2}, []int64{2, 1}},
		{message.Range{From: at(2)}, []int64{1, 3}},
		{message.Range{To: at(2)}, []int64{2}},
		{message.Range{From: at(2), To: at(2).Add(time.Millisecond)}, []int64{1}},
		{message.Range{From: time.Unix(-1, 0), To: time.Unix(math.MaxInt64/2, 0)}, []int64{2, 1, 3}},
		{message.Range{From: time.Unix(-1, 0), To: time.Unix(math.MaxInt64, 0)}, []int64{2, 1, 3}}, // which Before takes for long past
	} {
		if got := seqs(t, e.ByActor(t.Context(), anna, tc.r)); !cmp.Equal(got, tc.want) {
			t.Errorf("%+v: %v, want %v", tc.r, got, tc.want)
		}
	}
}

// Rows of an older system: those in seconds come first, without a From.
func TestByActorAmongOldRows(t *testing.T) {
	t.Parallel()
	e := open(t, message.Config{ActorIndex: true})
	golden.Put(t, e.db.Client(), e.table, "testdata/typescript.json")        // 12, seconds
	golden.Put(t, e.db.Client(), e.table, "testdata/typescript-millis.json") // 13
	row := golden.Item(t, "testdata/typescript.json")
	row["messageId"] = item.N(11)
	delete(row, "timestamp") // is not in the index
	recordtest.Put(t, e.db.Client(), e.table, row)
	e.save(t, said(9, anna, 60))
	for _, tc := range []struct {
		r    message.Range
		want []int64
	}{
		{message.Range{}, []int64{12, 9, 13}},
		{message.Range{From: noon.Add(-time.Hour)}, []int64{9, 13}},
		{message.Range{To: noon.Add(-20 * time.Second)}, []int64{9}},
		{message.Range{To: noon}, []int64{12, 9, 13}},
	} {
		if got := seqs(t, e.ByActor(t.Context(), anna, tc.r)); !cmp.Equal(got, tc.want) {
			t.Errorf("%+v: %v, want %v", tc.r, got, tc.want)
		}
	}
}

// A walk may end at the first or the last moment of the range.
func TestAWalkOfAnActorEndsAtABound(t *testing.T) {
	t.Parallel()
	e := open(t, message.Config{ActorIndex: true})
	e.save(t, said(1, anna, 10), said(2, anna, 10), said(3, anna, 10))
	first := said(1, anna, 10).At
	for _, newestFirst := range []bool{false, true} {
		r := message.Range{From: first, To: first.Add(time.Millisecond), Limit: 2, NewestFirst: newestFirst}
		r.Next = &r.Cursor
		for _, want := range []int{2, 1} {
			if got := seqs(t, e.ByActor(t.Context(), anna, r)); len(got) != want {
				t.Errorf("newest first %v: %v, want %d", newestFirst, got, want)
			}
		}
	}
}
