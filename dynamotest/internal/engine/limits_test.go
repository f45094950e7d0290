package engine_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/homeops/ddbpatterns/dynamotest/internal/api"
	"github.com/homeops/ddbpatterns/dynamotest/internal/capacity"
	"github.com/homeops/ddbpatterns/dynamotest/internal/engine"
)

// Reads and writes have separate limits: if one kind is used up, the other still
// has units.
func TestLimitsOfReadsAndWrites(t *testing.T) {
	t.Parallel()
	const (
		write = `{"TableName":"plain","Item":{"id":{"S":"a"}}}`
		read  = `{"TableName":"plain","Key":{"id":{"S":"a"}},"ConsistentRead":true}`
	)
	for _, tc := range []struct {
		limit         capacity.Units
		reads, writes int // out of three
	}{
		{capacity.Units{Read: 2}, 2, 3},
		{capacity.Units{Write: 2}, 3, 2},
		{capacity.Units{Read: 1, Write: 2}, 1, 2},
	} {
		now := newClock()
		eng := newEngine(t, engine.Options{Now: now.Now, Partition: tc.limit})
		count := func(op, body string) (done int) {
			for range 3 {
				switch res := eng.Do(t.Context(), op, []byte(body)); {
				case res.Err == nil:
					done++
				case res.Err.Code != api.Throttling:
					t.Error(res.Err)
				}
			}
			return done
		}
		writes, reads := count("PutItem", write), count("GetItem", read)
		if reads != tc.reads || writes != tc.writes {
			t.Errorf("limits %+v: %d reads and %d writes of three", tc.limit, reads, writes)
		}
	}
}

// A transaction with a conflict names the actions that conflict, and no others.
func TestAConflictNamesItsActions(t *testing.T) {
	t.Parallel()
	call := &engine.Call{Operation: "TransactWriteItems"}
	for _, hit := range [][]bool{{false, true, false}, {true, false, false}, {true, true, true}} {
		var want []string
		for _, is := range hit {
			want = append(want, map[bool]string{true: "TransactionConflict", false: api.NoReason}[is])
		}
		var got []string
		for _, reason := range engine.Conflict(call, hit).Reasons {
			got = append(got, reason.Code)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	}
	if err := engine.Conflict(&engine.Call{Operation: "PutItem"}, []bool{true}); err != engine.ErrConflict {
		t.Errorf("a single write meets %v", err)
	}
}
