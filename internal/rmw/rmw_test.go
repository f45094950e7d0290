package rmw_test

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/ddb"
	"github.com/homeops/ddbpatterns/internal/golden"
	"github.com/homeops/ddbpatterns/internal/item"
	"github.com/homeops/ddbpatterns/internal/rmw"
	"github.com/homeops/ddbpatterns/schema"
)

var (
	now        = time.Date(2026, 3, 29, 12, 0, 0, 0, time.UTC)
	errLostAll = errors.New("test: lost all")
)

// spy passes requests on, after the test had its say before each write.
type spy struct {
	rmw.API
	before  func(write int, in *dynamodb.UpdateItemInput) error
	reads   int
	updates []*dynamodb.UpdateItemInput
}

func (s *spy) GetItem(ctx context.Context, in *dynamodb.GetItemInput, o ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error) {
	s.reads++
	return s.API.GetItem(ctx, in, o...)
}

func (s *spy) UpdateItem(ctx context.Context, in *dynamodb.UpdateItemInput, o ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error) {
	s.updates = append(s.updates, in)
	if s.before != nil {
		if err := s.before(len(s.updates), in); err != nil {
			return nil, err
		}
	}
	return s.API.UpdateItem(ctx, in, o...)
}

// sums is a kind of row that adds up what the events bring.
func sums(api rmw.API, table string) *rmw.Rows {
	return &rmw.Rows{
		API: api, Table: table, Package: "sums", Now: func() time.Time { return now },
		Type: "SUM", Count: "n", Update: rmw.Set + ", #sum = :sum",
		Names: map[string]string{"#sum": "sum"}, Contended: errLostAll,
	}
}

func plus(x int64) rmw.Next {
	return func(row ddb.Item) (ddb.Item, error) {
		sum, err := item.Int(row, "sum")
		return ddb.Item{":sum": item.N(sum + x)}, err
	}
}

// open returns a kind of row on a table of its own, behind a spy.
func open(t *testing.T) (*dynamotest.DB, *spy, *rmw.Rows) {
	t.Helper()
	db := dynamotest.Open(t, dynamotest.MaxBackoff(time.Millisecond))
	table := schema.Table{Name: db.Name("rows"), Key: schema.Key{Partition: schema.String("pk"), Sort: schema.String("sk")}}
	if err := schema.Create(t.Context(), db.Client(), table); err != nil {
		t.Fatal(err)
	}
	s := &spy{API: db.Client()}
	return db, s, sums(s, table.Name)
}

func at(t testing.TB, i int) event.Event {
	t.Helper()
	ev, err := event.New(now.Add(time.Duration(i)*time.Second), strconv.Itoa(i))
	if err != nil {
		t.Fatal(err)
	}
	return ev
}

func mustAdd(t *testing.T, r *rmw.Rows, i int, want event.Outcome) {
	t.Helper()
	out, err := r.Add(t.Context(), "p", "s", at(t, i), plus(int64(i)))
	if err != nil || out != want {
		t.Fatalf("Add(%d) = %v, %v, want %v", i, out, err, want)
	}
}

// row is the row without what the tests do not tell apart.
type row struct {
	Count, Version, Sum int64
	Ring                int
	Note                string
}

func stored(t *testing.T, db *dynamotest.DB, table string) row {
	t.Helper()
	out, err := db.Client().GetItem(t.Context(), &dynamodb.GetItemInput{
		TableName: aws.String(table), ConsistentRead: aws.Bool(true),
		Key: ddb.Item{"pk": item.S("p"), "sk": item.S("s")},
	})
	if err != nil {
		t.Fatal(err)
	}
	var r row
	var errs [4]error
	var ring []byte
	r.Count, errs[0] = item.Int(out.Item, "n")
	r.Version, errs[1] = item.Int(out.Item, "version")
	r.Sum, errs[2] = item.Int(out.Item, "sum")
	ring, errs[3] = item.Bytes(out.Item, "recent")
	if err := errors.Join(errs[:]...); err != nil {
		t.Fatal(err)
	}
	r.Ring, r.Note = len(ring)/event.Size, item.Text(out.Item, "note")
	return r
}

// put writes a row as another system would.
func put(t *testing.T, db *dynamotest.DB, table, attributes string) {
	t.Helper()
	it, err := golden.Parse([]byte(`{"pk": {"S": "p"}, "sk": {"S": "s"}` + attributes + `}`))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Client().PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String(table), Item: it}); err != nil {
		t.Fatal(err)
	}
}

func drop(t *testing.T, db *dynamotest.DB, table string) {
	t.Helper()
	_, err := db.Client().DeleteItem(t.Context(), &dynamodb.DeleteItemInput{
		TableName: aws.String(table), Key: ddb.Item{"pk": item.S("p"), "sk": item.S("s")},
	})
	if err != nil {
		t.Fatal(err)
	}
}

// What another writer does between the read and the write is never lost, and
// finding out costs no second read.
func TestRaces(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		stood string // the row's attributes before; "" is no row
		other func(t *testing.T, db *dynamotest.DB, r *rmw.Rows)
		want  row
		again bool // the event is counted by the other writer
	}{
		"no row, and one is made": {
			other: func(t *testing.T, db *dynamotest.DB, r *rmw.Rows) { mustAdd(t, r, 2, event.Created) },
			want:  row{Count: 2, Version: 2, Sum: 3, Ring: 2},
		},
		"no row, and an older system makes one without a count": {
			other: func(t *testing.T, db *dynamotest.DB, r *rmw.Rows) { put(t, db, r.Table, `, "note": {"S": "x"}`) },
			want:  row{Count: 1, Version: 1, Sum: 1, Ring: 1, Note: "x"},
		},
		"a version, and it rises": {
			stood: `, "version": {"N": "7"}, "n": {"N": "7"}, "sum": {"N": "10"}`,
			other: func(t *testing.T, db *dynamotest.DB, r *rmw.Rows) { mustAdd(t, r, 2, event.Created) },
			want:  row{Count: 9, Version: 9, Sum: 13, Ring: 2},
		},
		"a version, and an older system replaces the row": {
			stood: `, "version": {"N": "7"}, "n": {"N": "7"}, "sum": {"N": "10"}`,
			other: func(t *testing.T, db *dynamotest.DB, r *rmw.Rows) {
				put(t, db, r.Table, `, "n": {"N": "8"}, "sum": {"N": "50"}`)
			},
			want: row{Count: 9, Version: 1, Sum: 51, Ring: 1},
		},
		"a version, and the row is deleted": {
			stood: `, "version": {"N": "7"}, "n": {"N": "7"}, "sum": {"N": "10"}`,
			other: func(t *testing.T, db *dynamotest.DB, r *rmw.Rows) { drop(t, db, r.Table) },
			want:  row{Count: 1, Version: 1, Sum: 1, Ring: 1},
		},
		"no version, and the older system counts": {
			stood: `, "n": {"N": "7"}, "sum": {"N": "10"}`,
			other: func(t *testing.T, db *dynamotest.DB, r *rmw.Rows) {
				put(t, db, r.Table, `, "n": {"N": "8"}, "sum": {"N": "50"}`)
			},
			want: row{Count: 9, Version: 1, Sum: 51, Ring: 1},
		},
		"no version, and one comes to be": {
			stood: `, "n": {"N": "7"}, "sum": {"N": "10"}`,
			other: func(t *testing.T, db *dynamotest.DB, r *rmw.Rows) { mustAdd(t, r, 2, event.Created) },
			want:  row{Count: 9, Version: 2, Sum: 13, Ring: 2},
		},
		"no version, and one comes to be at the same count": {
			stood: `, "n": {"N": "7"}, "sum": {"N": "10"}`,
			other: func(t *testing.T, db *dynamotest.DB, r *rmw.Rows) {
				put(t, db, r.Table, `, "version": {"N": "4"}, "n": {"N": "7"}, "sum": {"N": "50"}`)
			},
			want: row{Count: 8, Version: 5, Sum: 51, Ring: 1},
		},
		"no version, and the row is deleted": {
			stood: `, "n": {"N": "7"}, "sum": {"N": "10"}`,
			other: func(t *testing.T, db *dynamotest.DB, r *rmw.Rows) { drop(t, db, r.Table) },
			want:  row{Count: 1, Version: 1, Sum: 1, Ring: 1},
		},
		"neither version nor count, and the row is deleted": {
			stood: `, "sum": {"N": "10"}`,
			other: func(t *testing.T, db *dynamotest.DB, r *rmw.Rows) { drop(t, db, r.Table) },
			want:  row{Count: 1, Version: 1, Sum: 1, Ring: 1},
		},
		"neither version nor count, and a count comes to be": {
			stood: `, "sum": {"N": "10"}`,
			other: func(t *testing.T, db *dynamotest.DB, r *rmw.Rows) {
				put(t, db, r.Table, `, "n": {"N": "1"}, "sum": {"N": "50"}`)
			},
			want: row{Count: 2, Version: 1, Sum: 51, Ring: 1},
		},
		"neither version nor count, and a version comes to be": {
			stood: `, "sum": {"N": "10"}`,
			other: func(t *testing.T, db *dynamotest.DB, r *rmw.Rows) {
				put(t, db, r.Table, `, "version": {"N": "3"}, "sum": {"N": "50"}`)
			},
			want: row{Count: 1, Version: 4, Sum: 51, Ring: 1},
		},
		"a version, and the same event is counted": {
			stood: `, "version": {"N": "7"}, "n": {"N": "7"}, "sum": {"N": "10"}`,
			other: func(t *testing.T, db *dynamotest.DB, r *rmw.Rows) { mustAdd(t, r, 1, event.Created) },
			want:  row{Count: 8, Version: 8, Sum: 11, Ring: 1},
			again: true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db, spy, rows := open(t)
			if tc.stood != "" {
				put(t, db, rows.Table, tc.stood)
			}
			spy.before = func(write int, _ *dynamodb.UpdateItemInput) error {
				if write == 1 {
					tc.other(t, db, sums(db.Client(), rows.Table))
				}
				return nil
			}
			want, writes := event.Created, 2
			if tc.again {
				want, writes = event.Duplicate, 1
			}
			mustAdd(t, rows, 1, want)
			if diff := cmp.Diff(tc.want, stored(t, db, rows.Table)); diff != "" {
				t.Errorf("row (-want +got):\n%s", diff)
			}
			if spy.reads != 1 || len(spy.updates) != writes {
				t.Errorf("%d reads and %d writes, want 1 and %d", spy.reads, len(spy.updates), writes)
			}
		})
	}
}

// Every event that is not refused counts once, in whatever order and however
// often it comes, and what it finds stored stays.
func TestAdd(t *testing.T) {
	t.Parallel()
	db, spy, rows := open(t)
	put(t, db, rows.Table, `, "n": {"N": "5"}, "sum": {"N": "100"}, "note": {"S": "of another writer"}`)
	mustAdd(t, rows, 3, event.Created)
	mustAdd(t, rows, 1, event.Created)
	mustAdd(t, rows, 3, event.Duplicate)
	mustAdd(t, rows, 1, event.Duplicate)
	want := row{Count: 7, Version: 2, Sum: 104, Ring: 2, Note: "of another writer"}
	if diff := cmp.Diff(want, stored(t, db, rows.Table)); diff != "" {
		t.Errorf("row (-want +got):\n%s", diff)
	}
	if spy.reads != 4 || len(spy.updates) != 2 {
		t.Errorf("%d reads and %d writes, want 4 and 2", spy.reads, len(spy.updates))
	}
}

func TestLostReplies(t *testing.T) {
	t.Parallel()
	for do, want := range map[dynamotest.Disturbance]event.Outcome{
		dynamotest.LoseReply:   event.Duplicate, // its own write, which says the same
		dynamotest.LoseRequest: event.Created,
	} {
		t.Run(do.String(), func(t *testing.T) {
			t.Parallel()
			db, _, rows := open(t)
			mustAdd(t, rows, 1, event.Created)
			db.Inject(dynamotest.Fault{Do: do, Op: "UpdateItem"})
			mustAdd(t, rows, 2, want)
			if diff := cmp.Diff(row{Count: 2, Version: 2, Sum: 3, Ring: 2}, stored(t, db, rows.Table)); diff != "" {
				t.Errorf("row (-want +got):\n%s", diff)
			}
		})
	}
}

// When every reply is lost the caller gets the error, and its repetition the
// truth.
func TestAllRepliesLost(t *testing.T) {
	t.Parallel()
	db, _, rows := open(t)
	db.Inject(dynamotest.Fault{Do: dynamotest.LoseReply, Op: "UpdateItem", Times: -1})
	if out, err := rows.Add(t.Context(), "p", "s", at(t, 1), plus(1)); err == nil || out != 0 {
		t.Fatalf("Add = %v, %v, want an error", out, err)
	}
	db.Heal()
	mustAdd(t, rows, 1, event.Duplicate)
	if got := stored(t, db, rows.Table); got.Count != 1 || got.Sum != 1 {
		t.Errorf("row %+v, want one event", got)
	}
}

func TestTooOld(t *testing.T) {
	t.Parallel()
	db, spy, rows := open(t)
	for i := range 32 {
		mustAdd(t, rows, 10+i, event.Created)
	}
	before := stored(t, db, rows.Table)
	out, err := rows.Add(t.Context(), "p", "s", at(t, 9), plus(9))
	if !errors.Is(err, event.ErrTooOld) || out != 0 {
		t.Errorf("Add = %v, %v, want too old", out, err)
	}
	if after := stored(t, db, rows.Table); after != before || len(spy.updates) != 32 {
		t.Errorf("row %+v after, %+v before; %d writes", after, before, len(spy.updates))
	}
}

// A row that cannot be read is an error that names the attribute, and stays.
func TestUnreadable(t *testing.T) {
	t.Parallel()
	for attribute, attributes := range map[string]string{
		"recent":  `, "n": {"N": "1"}, "recent": {"S": "x"}`,
		"ring":    `, "n": {"N": "1"}, "recent": {"B": "AAAA"}`,
		"version": `, "n": {"N": "1"}, "version": {"S": "1"}`,
		"n":       `, "n": {"S": "1"}`,
		"sum":     `, "n": {"N": "1"}, "sum": {"N": "1.5"}`,
	} {
		t.Run(attribute, func(t *testing.T) {
			t.Parallel()
			db, spy, rows := open(t)
			put(t, db, rows.Table, attributes)
			out, err := rows.Add(t.Context(), "p", "s", at(t, 1), plus(1))
			if err == nil || out != 0 || !strings.HasPrefix(err.Error(), "sums: reading a row on table ") || !strings.Contains(err.Error(), attribute) {
				t.Errorf("Add = %v, %v", out, err)
			}
			if len(spy.updates) != 0 {
				t.Error("the row was written")
			}
		})
	}
}

// The requests themselves: constant expressions, every name aliased, and a
// condition for each way a row can stand.
func TestRequests(t *testing.T) {
	t.Parallel()
	const set = "SET #type = :type, #version = :version, #recent = :recent, #updatedAt = :updatedAt, #count = :count, #sum = :sum"
	names := map[string]string{
		"#type": "type", "#version": "version", "#recent": "recent", "#updatedAt": "updatedAt", "#count": "n", "#sum": "sum",
	}
	for condition, tc := range map[string]struct {
		stood string
		pk    bool
	}{
		"attribute_not_exists(#pk)":                          {pk: true},
		"#version = :stood":                                  {stood: `, "version": {"N": "2"}, "n": {"N": "3"}`},
		"attribute_not_exists(#version) AND #count = :stood": {stood: `, "n": {"N": "3"}`},
		"attribute_exists(#pk) AND attribute_not_exists(#version) AND attribute_not_exists(#count)": {stood: `, "x": {"N": "3"}`, pk: true},
	} {
		t.Run(condition, func(t *testing.T) {
			t.Parallel()
			db, spy, rows := open(t)
			if tc.stood != "" {
				put(t, db, rows.Table, tc.stood)
			}
			mustAdd(t, rows, 1, event.Created)
			in := spy.updates[0]
			if got := *in.UpdateExpression; got != set {
				t.Errorf("update %s", got)
			}
			if got := *in.ConditionExpression; got != condition {
				t.Errorf("condition %s", got)
			}
			want := map[string]string{}
			for alias, name := range names {
				want[alias] = name
			}
			if tc.pk {
				want["#pk"] = "pk"
			}
			if diff := cmp.Diff(want, in.ExpressionAttributeNames); diff != "" {
				t.Errorf("names (-want +got):\n%s", diff)
			}
			if in.ReturnValuesOnConditionCheckFailure != types.ReturnValuesOnConditionCheckFailureAllOld {
				t.Error("a refusal would not tell what stands there")
			}
		})
	}
}

// scripted answers without a database.
type scripted struct {
	write func() error
	tries int
}

func (s *scripted) GetItem(context.Context, *dynamodb.GetItemInput, ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error) {
	return &dynamodb.GetItemOutput{}, nil
}

func (s *scripted) UpdateItem(context.Context, *dynamodb.UpdateItemInput, ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error) {
	s.tries++
	return &dynamodb.UpdateItemOutput{}, s.write()
}

// Attempts are bounded, with pauses between them, and the last refusal stays
// reachable.
func TestContended(t *testing.T) {
	t.Parallel()
	for name, refusal := range map[string]error{
		"refused":  &types.ConditionalCheckFailedException{},
		"conflict": &types.TransactionConflictException{},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				api := &scripted{write: func() error { return refusal }}
				started := time.Now()
				out, err := sums(api, "rows").Add(t.Context(), "p", "s", at(t, 1), plus(1))
				if !errors.Is(err, errLostAll) || !errors.Is(err, refusal) || out != 0 {
					t.Errorf("Add = %v, %v", out, err)
				}
				if api.tries != rmw.Attempts {
					t.Errorf("%d attempts, want %d", api.tries, rmw.Attempts)
				}
				if took := time.Since(started); took == 0 || took > 30*time.Second {
					t.Errorf("took %v", took)
				}
			})
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
			if api.tries == rmw.Attempts {
				refusal.Item["recent"] = item.B(ev[:])
			}
			return refusal
		}
		out, err := sums(api, "rows").Add(t.Context(), "p", "s", ev, plus(1))
		if err != nil || out != event.Duplicate || api.tries != rmw.Attempts {
			t.Errorf("Add = %v, %v after %d attempts", out, err, api.tries)
		}
	})
}

// A transaction under way on the row says nothing about the row: the same
// write is tried again.
func TestConflictPasses(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		api := &scripted{}
		api.write = func() error {
			if api.tries < 4 {
				return &types.TransactionConflictException{}
			}
			return nil
		}
		if out, err := sums(api, "rows").Add(t.Context(), "p", "s", at(t, 1), plus(1)); err != nil || out != event.Created || api.tries != 4 {
			t.Errorf("Add = %v, %v after %d attempts", out, err, api.tries)
		}
	})
}

func TestStopsWithContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		api := &scripted{write: func() error { cancel(); return &types.ConditionalCheckFailedException{} }}
		out, err := sums(api, "rows").Add(ctx, "p", "s", at(t, 1), plus(1))
		var refused *types.ConditionalCheckFailedException
		if !errors.Is(err, context.Canceled) || !errors.As(err, &refused) || errors.Is(err, errLostAll) || out != 0 || api.tries != 1 {
			t.Errorf("Add = %v, %v after %d attempts", out, err, api.tries)
		}
	})
}

// What is neither a refusal nor a conflict is not tried again here: the SDK
// has done what can be done.
func TestOtherErrors(t *testing.T) {
	t.Parallel()
	down := errors.New("down")
	api := &scripted{write: func() error { return down }}
	out, err := sums(api, "rows").Add(t.Context(), "p", "s", at(t, 1), plus(1))
	if !errors.Is(err, down) || out != 0 || api.tries != 1 || err.Error() != "sums: UpdateItem on table rows: down" {
		t.Errorf("Add = %v, %v after %d attempts", out, err, api.tries)
	}
}
