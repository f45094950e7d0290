package record_test

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/ddb"
	"github.com/homeops/ddbpatterns/internal/item"
	"github.com/homeops/ddbpatterns/internal/recordtest"
	"github.com/homeops/ddbpatterns/record"
)

// scripted answers without a database.
type scripted struct {
	record.API
	read  error
	write func() error
	tries int
}

func (s *scripted) GetItem(context.Context, *dynamodb.GetItemInput, ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error) {
	return &dynamodb.GetItemOutput{}, s.read
}

func (s *scripted) UpdateItem(context.Context, *dynamodb.UpdateItemInput, ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error) {
	s.tries++
	return &dynamodb.UpdateItemOutput{}, s.write()
}

func TestContended(t *testing.T) {
	t.Parallel()
	for _, refusal := range []error{&types.ConditionalCheckFailedException{}, &types.TransactionConflictException{}} {
		synctest.Test(t, func(t *testing.T) {
			started := time.Now()
			last, api := started, &scripted{}
			api.write = func() error {
				most := 5 * time.Millisecond << min(max(api.tries-2, 0), 8)
				if gap := time.Since(last); api.tries > 1 && gap > most {
					t.Errorf("a pause of %v before attempt %d, want at most %v", gap, api.tries, most)
				}
				last = time.Now()
				return refusal
			}
			out, err := sums(t, api, "rows").Apply(t.Context(), applied(at(t, 1), plus(1)))
			if !errors.Is(err, record.ErrContended) || !errors.Is(err, refusal) || out != 0 || api.tries != 16 {
				t.Errorf("Apply = %v, %v after %d attempts", out, err, api.tries)
			}
			if took := time.Since(started); took == 0 || took > 10300*time.Millisecond {
				t.Errorf("took %v, the docs say at most 10.3 s", took)
			}
			if want := "sums: Apply on table rows: record: other writers changed the row first (16 attempts): "; err == nil || !strings.HasPrefix(err.Error(), want) {
				t.Errorf("%v, want %s", err, want)
			}
		})
	}
}

// The last attempt may take effect, lose its reply and be refused by its own
// work when the SDK repeats it: the row that refuses it says so.
func TestContendedButWritten(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ev := at(t, 1)
		api := &scripted{}
		api.write = func() error {
			refusal := &types.ConditionalCheckFailedException{Item: ddb.Item{"pk": item.S("p"), "sk": item.S("s"), "version": item.N(int64(api.tries))}}
			if api.tries == 16 {
				refusal.Item["recent"] = item.B(ev[:])
			}
			return refusal
		}
		out, err := sums(t, api, "rows").Apply(t.Context(), applied(ev, plus(1)))
		if err != nil || out != event.Duplicate || api.tries != 16 {
			t.Errorf("Apply = %v, %v after %d attempts", out, err, api.tries)
		}
	})
}

// What is neither a refusal nor a conflict is not tried again here: the SDK has
// done what can be done. Without a row to read nothing is written.
func TestFails(t *testing.T) {
	t.Parallel()
	down := errors.New("down")
	for _, api := range []*scripted{{read: down}, {write: func() error { return down }}} {
		out, err := sums(t, api, "rows").Apply(t.Context(), applied(at(t, 1), plus(1)))
		if !errors.Is(err, down) || out != 0 || api.tries > 1 || err.Error() != "sums: Apply on table rows: down" {
			t.Errorf("Apply = %v, %v after %d attempts", out, err, api.tries)
		}
	}
	out, err := statuses(t, recordtest.Down(down), "rows").Set(t.Context(), set(t, 1))
	if !errors.Is(err, down) || errors.Is(err, event.ErrSuperseded) || out != 0 || err.Error() != "statuses: Set on table rows: down" {
		t.Errorf("Set = %v, %v", out, err)
	}
}

// What another writer does between the read and the write is never lost, and
// finding out costs no second read.
func TestRaces(t *testing.T) {
	t.Parallel()
	const (
		versioned = `, "version": {"N": "7"}, "n": {"N": "7"}, "sum": {"N": "10"}`
		older     = `, "n": {"N": "7"}, "sum": {"N": "10"}`
		bare      = `, "sum": {"N": "10"}`
	)
	for name, tc := range map[string]struct {
		stood string // the row's attributes before; "" stands for no row
		other string // and when the other writer is done, or the event that it counts
		want  row
	}{
		"no row, and one is made":                               {"", "2", row{Count: 2, Version: 2, Sum: 3, Ring: 2}},
		"no row, and an older system makes one without a count": {"", `, "note": {"S": "x"}`, row{Count: 1, Version: 1, Sum: 1, Ring: 1, Note: "x"}},
		"a version, and it rises":                               {versioned, "2", row{Count: 9, Version: 9, Sum: 13, Ring: 2}},
		"a version, and an older system replaces the row":       {versioned, `, "n": {"N": "8"}, "sum": {"N": "50"}`, row{Count: 9, Version: 1, Sum: 51, Ring: 1}},
		"a version and a ring, and another version": {
			`, "version": {"N": "7"}, "recent": {"B": ""}`, `, "version": {"N": "8"}, "sum": {"N": "50"}, "recent": {"B": ""}`,
			row{Count: 1, Version: 9, Sum: 51, Ring: 1},
		},
		"a version and no ring, and another version":           {`, "version": {"N": "7"}`, `, "version": {"N": "8"}, "sum": {"N": "50"}`, row{Count: 1, Version: 9, Sum: 51, Ring: 1}},
		"a version, and the same event is counted":             {versioned, "1", row{Count: 8, Version: 8, Sum: 11, Ring: 1}},
		"no version, and the older system counts":              {older, `, "n": {"N": "8"}, "sum": {"N": "50"}`, row{Count: 9, Version: 1, Sum: 51, Ring: 1}},
		"no version, and one comes to be":                      {older, "2", row{Count: 9, Version: 2, Sum: 13, Ring: 2}},
		"no version, and one comes to be at the same count":    {older, `, "version": {"N": "4"}, "n": {"N": "7"}, "sum": {"N": "50"}`, row{Count: 8, Version: 5, Sum: 51, Ring: 1}},
		"no version, and the row is deleted":                   {older, "", row{Count: 1, Version: 1, Sum: 1, Ring: 1}},
		"neither version nor count, and the row is deleted":    {bare, "", row{Count: 1, Version: 1, Sum: 1, Ring: 1}},
		"neither version nor count, and a count comes to be":   {bare, `, "n": {"N": "1"}, "sum": {"N": "50"}`, row{Count: 2, Version: 1, Sum: 51, Ring: 1}},
		"neither version nor count, and a version comes to be": {bare, `, "version": {"N": "3"}, "sum": {"N": "50"}`, row{Count: 1, Version: 4, Sum: 51, Ring: 1}},
		"a ring, and the row is made anew with the version, over another count": {
			versioned + `, "recent": {"B": ""}`, `, "version": {"N": "7"}, "n": {"N": "20"}, "sum": {"N": "50"}, "recent": {"B": ""}`,
			row{Count: 21, Version: 8, Sum: 51, Ring: 1},
		},
	} {
		db, spy, rows := open(t)
		table := rows.Table().Name
		if tc.stood != "" {
			put(t, db, table, tc.stood)
		}
		spy.before = func(write int, _ *dynamodb.UpdateItemInput) error {
			if i, err := strconv.Atoi(tc.other); write > 1 {
				return nil
			} else if err == nil {
				mustApply(t, sums(t, db.Client(), table), i, event.Created)
			} else if tc.other == "" {
				drop(t, db, table)
			} else {
				put(t, db, table, tc.other)
			}
			return nil
		}
		want, writes := event.Created, 2
		if tc.other == "1" {
			want, writes = event.Duplicate, 1
		}
		mustApply(t, rows, 1, want)
		if diff := cmp.Diff(tc.want, stored(t, db, table)); diff != "" {
			t.Errorf("%s: row (-want +got):\n%s", name, diff)
		}
		if len(spy.reads) != 1 || len(spy.updates) != writes {
			t.Errorf("%s: %d reads and %d writes, want 1 and %d", name, len(spy.reads), len(spy.updates), writes)
		}
	}
}

// A row that is deleted and grows to the same version again between the read
// and the write is another row: what was deleted does not come back.
func TestRegrown(t *testing.T) {
	t.Parallel()
	for _, stood := range []string{"", `, "version": {"N": "1"}, "sum": {"N": "100"}`} { // with a ring, and without
		db, spy, rows := open(t)
		direct := sums(t, db.Client(), rows.Table().Name)
		if stood == "" {
			mustApply(t, direct, 100, event.Created)
		} else {
			put(t, db, rows.Table().Name, stood)
		}
		spy.before = func(write int, _ *dynamodb.UpdateItemInput) error {
			if write == 1 {
				drop(t, db, rows.Table().Name)
				mustApply(t, direct, 2, event.Created)
			}
			return nil
		}
		mustApply(t, rows, 1, event.Created)
		if diff := cmp.Diff(row{Count: 2, Version: 2, Sum: 3, Ring: 2}, stored(t, db, rows.Table().Name)); diff != "" {
			t.Errorf("%s: row (-want +got):\n%s", stood, diff)
		}
	}
}
