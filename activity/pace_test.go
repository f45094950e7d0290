package activity_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/activity"
	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/internal/recordtest"
)

// pages keeps how many rows each query read.
type pages struct{ read []int }

// watched returns the same store with its queries counted.
func watched(t testing.TB, db *dynamotest.DB, acts *activity.Store) (*pages, *activity.Store) {
	t.Helper()
	p := &pages{}
	acts, err := activity.New(recordtest.Between(db.Client(), func(in any, send recordtest.Send) (any, error) {
		out, err := send(in)
		if page, ok := out.(*dynamodb.QueryOutput); ok && err == nil {
			p.read = append(p.read, int(page.ScannedCount))
		}
		return out, err
	}), acts.Table().Name, nil)
	if err != nil {
		t.Fatal(err)
	}
	return p, acts
}

// fill writes rows in batches, which is quicker than recording them.
func fill(t testing.TB, db *dynamotest.DB, table string, rows []map[string]types.AttributeValue) {
	t.Helper()
	for batch := range slices.Chunk(rows, 25) {
		var puts []types.WriteRequest
		for _, row := range batch {
			puts = append(puts, types.WriteRequest{PutRequest: &types.PutRequest{Item: row}})
		}
		in := &dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{table: puts}}
		out, err := db.Client().BatchWriteItem(t.Context(), in)
		if err != nil || len(out.UnprocessedItems) != 0 {
			t.Fatal(err, len(out.UnprocessedItems))
		}
	}
}

// dishes are n rows a minute apart.
func dishes(t testing.TB, acts *activity.Store, n int) []map[string]types.AttributeValue {
	t.Helper()
	rows := make([]map[string]types.AttributeValue, n)
	for i := range rows {
		var err error
		if rows[i], err = acts.Encode(chore(t, monday.AddDate(-1, 0, 0).Add(time.Duration(i)*time.Minute), int64(i+1), "diskning")); err != nil {
			t.Fatal(err)
		}
	}
	return rows
}

// first takes n activities of a walk and leaves it.
func first(t testing.TB, n int, walk func(yield func(activity.Activity, error) bool)) {
	t.Helper()
	for _, err := range walk {
		if err != nil {
			t.Fatal(err)
		}
		if n--; n == 0 {
			return
		}
	}
	t.Errorf("the walk ended %d too early", n)
}

// A Limit reads that many rows and no more, for any size of row: not the
// megabyte that a query without one returns.
func TestLimitIsWhatIsRead(t *testing.T) {
	t.Parallel()
	db, acts := open(t, nil)
	rows := dishes(t, acts, 1100)
	fill(t, db, acts.Table().Name, rows)
	api, acts := watched(t, db, acts)
	for name, way := range waysTo(acts) {
		for _, limit := range []int{1, 50, 1024} {
			r := activity.Range{Limit: limit}
			api.read = nil
			if some, next := way.part(t, r); len(some) != limit || next == "" {
				t.Errorf("%s: a Limit of %d yields %d, next %q", name, limit, len(some), next)
			}
			if len(api.read) != 1 || api.read[0] > max(limit, 4) {
				t.Errorf("%s: a Limit of %d read %v rows", name, limit, api.read)
			}
		}
	}
}

func TestHugeLimits(t *testing.T) {
	t.Parallel()
	db, acts := open(t, nil)
	rows := dishes(t, acts, 30)
	for i, row := range rows {
		row["userName"] = &types.AttributeValueMemberS{Value: strings.Repeat("x", 50<<10)} // 1.5 MB together
		if i < 24 {                                                                        // more of them outside the range than in it
			row["timestamp"] = &types.AttributeValueMemberN{Value: fmt.Sprint(monday.AddDate(-2, 0, 0).UnixMilli())}
		}
	}
	fill(t, db, acts.Table().Name, rows)
	for _, limit := range []int{math.MaxInt, math.MaxInt/4 + 1, math.MaxInt32} {
		for _, r := range []activity.Range{{Limit: limit}, {Limit: limit, From: monday.AddDate(-1, 0, 0)}} {
			want := 30
			if !r.From.IsZero() {
				want = 6
			}
			if all, next := waysTo(acts)["InScope"].part(t, r); len(all) != want || next != "" {
				t.Errorf("a walk of %d: %d activities, next %q", limit, len(all), next)
			}
		}
	}
}

// strays makes rows whose ids lie in the range and whose times do not, like
// rows that an older system imported in one go.
func strays(t testing.TB, n int, at time.Time) []map[string]types.AttributeValue {
	t.Helper()
	rows := make([]map[string]types.AttributeValue, n)
	for i := range rows {
		id := newEvent(t, at.Add(time.Duration(i)*time.Millisecond), "import", int64(i+1)).String()
		rows[i] = oldRow(t, id, home, martin, "tvätt", monday.AddDate(-3, 0, 0).UnixMilli())
	}
	return rows
}

func TestSkippedRowsAreMadeUpFor(t *testing.T) {
	t.Parallel()
	db, acts := open(t, nil)
	table := acts.Table().Name
	all := dishes(t, acts, 600)
	from := monday.AddDate(-1, 0, 0)
	fill(t, db, table, all)
	fill(t, db, table, strays(t, 1, from.Add(10*time.Minute)))
	api, acts := watched(t, db, acts)
	r := activity.Range{From: from, Limit: 50}
	ask := func(what string, want ...int) {
		t.Helper()
		api.read = nil
		some := collect(t, acts.InScope(t.Context(), home, r))
		if len(some) != r.Limit || some[0].Seq != 1 || some[r.Limit-1].Seq != int64(r.Limit) {
			t.Errorf("%s: %d activities", what, len(some))
		}
		if !slices.Equal(api.read, want) {
			t.Errorf("%s: read pages of %v, want %v", what, api.read, want)
		}
	}
	ask("one row outside the range", 50, 2)
	db.Meter(func() { ask("one row outside the range", 50, 2) }).Want(t, dynamotest.Price{Requests: 2, RCU: 2})
	fill(t, db, table, strays(t, 200, from.Add(10*time.Minute+time.Second)))
	ask("two hundred", 50, 39+39, 39+117)
	r.Limit = 1
	r.From = from.Add(10*time.Minute + 1)
	api.read = nil
	if some := collect(t, acts.InScope(t.Context(), home, r)); len(some) != 1 || some[0].Seq != 12 {
		t.Errorf("behind two hundred: %v", some)
	}
	if want := []int{4, 5, 10, 20, 40, 80, 160}; !slices.Equal(api.read, want) {
		t.Errorf("one activity behind two hundred: read pages of %v, want %v", api.read, want)
	}
	r.Limit, api.read = 0, nil
	collect(t, acts.InScope(t.Context(), home, r))
	if want := []int{4, 16, 64, 256}; !slices.Equal(api.read[:4], want) {
		t.Errorf("all behind two hundred: read pages of %v, want %v first", api.read, want)
	}
}
