package record_test

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/google/go-cmp/cmp"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/record"
)

// What another writer does between the read and the write is never lost, and
// finding out costs no second read.
func TestRaces(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		stood string // the row's attributes before; "" stands for no row
		other func(t *testing.T, db *dynamotest.DB, r *record.Rows[int64])
		want  row
		again bool // the event is counted by the other writer
	}{
		"no row, and one is made": {
			other: func(t *testing.T, db *dynamotest.DB, r *record.Rows[int64]) { mustApply(t, r, 2, event.Created) },
			want:  row{Count: 2, Version: 2, Sum: 3, Ring: 2},
		},
		"no row, and an older system makes one without a count": {
			other: func(t *testing.T, db *dynamotest.DB, r *record.Rows[int64]) {
				put(t, db, r.Table().Name, `, "note": {"S": "x"}`)
			},
			want: row{Count: 1, Version: 1, Sum: 1, Ring: 1, Note: "x"},
		},
		"a version, and it rises": {
			stood: `, "version": {"N": "7"}, "n": {"N": "7"}, "sum": {"N": "10"}`,
			other: func(t *testing.T, db *dynamotest.DB, r *record.Rows[int64]) { mustApply(t, r, 2, event.Created) },
			want:  row{Count: 9, Version: 9, Sum: 13, Ring: 2},
		},
		"a version, and an older system replaces the row": {
			stood: `, "version": {"N": "7"}, "n": {"N": "7"}, "sum": {"N": "10"}`,
			other: func(t *testing.T, db *dynamotest.DB, r *record.Rows[int64]) {
				put(t, db, r.Table().Name, `, "n": {"N": "8"}, "sum": {"N": "50"}`)
			},
			want: row{Count: 9, Version: 1, Sum: 51, Ring: 1},
		},
		"a version, and the row is deleted": {
			stood: `, "version": {"N": "7"}, "n": {"N": "7"}, "sum": {"N": "10"}`,
			other: func(t *testing.T, db *dynamotest.DB, r *record.Rows[int64]) { drop(t, db, r.Table().Name) },
			want:  row{Count: 1, Version: 1, Sum: 1, Ring: 1},
		},
		"no version, and the older system counts": {
			stood: `, "n": {"N": "7"}, "sum": {"N": "10"}`,
			other: func(t *testing.T, db *dynamotest.DB, r *record.Rows[int64]) {
				put(t, db, r.Table().Name, `, "n": {"N": "8"}, "sum": {"N": "50"}`)
			},
			want: row{Count: 9, Version: 1, Sum: 51, Ring: 1},
		},
		"no version, and one comes to be": {
			stood: `, "n": {"N": "7"}, "sum": {"N": "10"}`,
			other: func(t *testing.T, db *dynamotest.DB, r *record.Rows[int64]) { mustApply(t, r, 2, event.Created) },
			want:  row{Count: 9, Version: 2, Sum: 13, Ring: 2},
		},
		"no version, and one comes to be at the same count": {
			stood: `, "n": {"N": "7"}, "sum": {"N": "10"}`,
			other: func(t *testing.T, db *dynamotest.DB, r *record.Rows[int64]) {
				put(t, db, r.Table().Name, `, "version": {"N": "4"}, "n": {"N": "7"}, "sum": {"N": "50"}`)
			},
			want: row{Count: 8, Version: 5, Sum: 51, Ring: 1},
		},
		"no version, and the row is deleted": {
			stood: `, "n": {"N": "7"}, "sum": {"N": "10"}`,
			other: func(t *testing.T, db *dynamotest.DB, r *record.Rows[int64]) { drop(t, db, r.Table().Name) },
			want:  row{Count: 1, Version: 1, Sum: 1, Ring: 1},
		},
		"neither version nor count, and the row is deleted": {
			stood: `, "sum": {"N": "10"}`,
			other: func(t *testing.T, db *dynamotest.DB, r *record.Rows[int64]) { drop(t, db, r.Table().Name) },
			want:  row{Count: 1, Version: 1, Sum: 1, Ring: 1},
		},
		"neither version nor count, and a count comes to be": {
			stood: `, "sum": {"N": "10"}`,
			other: func(t *testing.T, db *dynamotest.DB, r *record.Rows[int64]) {
				put(t, db, r.Table().Name, `, "n": {"N": "1"}, "sum": {"N": "50"}`)
			},
			want: row{Count: 2, Version: 1, Sum: 51, Ring: 1},
		},
		"neither version nor count, and a version comes to be": {
			stood: `, "sum": {"N": "10"}`,
			other: func(t *testing.T, db *dynamotest.DB, r *record.Rows[int64]) {
				put(t, db, r.Table().Name, `, "version": {"N": "3"}, "sum": {"N": "50"}`)
			},
			want: row{Count: 1, Version: 4, Sum: 51, Ring: 1},
		},
		"a version and a ring, and the row is made anew with both, over another count": {
			stood: `, "version": {"N": "7"}, "n": {"N": "7"}, "sum": {"N": "10"}, "recent": {"B": ""}`,
			other: func(t *testing.T, db *dynamotest.DB, r *record.Rows[int64]) {
				put(t, db, r.Table().Name, `, "version": {"N": "7"}, "n": {"N": "20"}, "sum": {"N": "50"}, "recent": {"B": ""}`)
			},
			want: row{Count: 21, Version: 8, Sum: 51, Ring: 1},
		},
		"a version, and the same event is counted": {
			stood: `, "version": {"N": "7"}, "n": {"N": "7"}, "sum": {"N": "10"}`,
			other: func(t *testing.T, db *dynamotest.DB, r *record.Rows[int64]) { mustApply(t, r, 1, event.Created) },
			want:  row{Count: 8, Version: 8, Sum: 11, Ring: 1},
			again: true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db, spy, rows := open(t)
			if tc.stood != "" {
				put(t, db, rows.Table().Name, tc.stood)
			}
			spy.before = func(write int, _ *dynamodb.UpdateItemInput) error {
				if write == 1 {
					tc.other(t, db, sums(t, db.Client(), rows.Table().Name))
				}
				return nil
			}
			want, writes := event.Created, 2
			if tc.again {
				want, writes = event.Duplicate, 1
			}
			mustApply(t, rows, 1, want)
			if diff := cmp.Diff(tc.want, stored(t, db, rows.Table().Name)); diff != "" {
				t.Errorf("row (-want +got):\n%s", diff)
			}
			if len(spy.reads) != 1 || len(spy.updates) != writes {
				t.Errorf("%d reads and %d writes, want 1 and %d", len(spy.reads), len(spy.updates), writes)
			}
		})
	}
}

// A row that is deleted and grows to the same version again between the read
// and the write is another row: what was deleted does not come back.
func TestRegrown(t *testing.T) {
	t.Parallel()
	for name, seed := range map[string]func(t *testing.T, db *dynamotest.DB, r *record.Rows[int64]){
		"with a ring": func(t *testing.T, _ *dynamotest.DB, r *record.Rows[int64]) { mustApply(t, r, 100, event.Created) },
		"without a ring": func(t *testing.T, db *dynamotest.DB, r *record.Rows[int64]) {
			put(t, db, r.Table().Name, `, "version": {"N": "1"}, "sum": {"N": "100"}`)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db, spy, rows := open(t)
			direct := sums(t, db.Client(), rows.Table().Name)
			seed(t, db, direct)
			spy.before = func(write int, _ *dynamodb.UpdateItemInput) error {
				if write == 1 {
					drop(t, db, rows.Table().Name)
					mustApply(t, direct, 2, event.Created)
				}
				return nil
			}
			mustApply(t, rows, 1, event.Created)
			if diff := cmp.Diff(row{Count: 2, Version: 2, Sum: 3, Ring: 2}, stored(t, db, rows.Table().Name)); diff != "" {
				t.Errorf("row (-want +got):\n%s", diff)
			}
			if len(spy.reads) != 1 || len(spy.updates) != 2 {
				t.Errorf("%d reads and %d writes, want 1 and 2", len(spy.reads), len(spy.updates))
			}
		})
	}
}
