package activity_test

import (
	"maps"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/activity"
	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/internal/ddb"
	"github.com/homeops/ddbpatterns/internal/golden"
	"github.com/homeops/ddbpatterns/internal/item"
	"github.com/homeops/ddbpatterns/internal/recordtest"
)

// with is a row with other attributes; those that are nil are absent.
func with(row, other ddb.Item) ddb.Item {
	row = maps.Clone(row)
	maps.Copy(row, other)
	maps.DeleteFunc(row, func(_ string, v types.AttributeValue) bool { return v == nil })
	return row
}

var relied = []string{"activity", "timestamp", "activityTimestamp", "chatUser", "userId"}

// Each kind of older row gets what Record would have written, and nothing else.
func TestBackfill(t *testing.T) {
	t.Parallel()
	db, acts := open(t, nil)
	plain := golden.Item(t, "testdata/typescript.json")
	nfd := with(plain, ddb.Item{"activity": item.S("sta\u0308dning"), "activityTimestamp": item.S("sta\u0308dning#1771324200000")})
	ours := item.S("-100123#42")
	for name, tc := range map[string]struct{ row, want ddb.Item }{
		"without chatUser":          {plain, ddb.Item{"chatUser": ours}},
		"with createdAt":            {golden.Item(t, "testdata/typescript_created.json"), ddb.Item{"chatUser": ours, "activityTimestamp": item.S("diskning#1771324200000")}},
		"without activityTimestamp": {golden.Item(t, "testdata/typescript_phase2.json"), ddb.Item{"chatUser": ours, "activityTimestamp": item.S("diskning#1771324200000")}},
		"in seconds": {golden.Item(t, "testdata/typescript_seconds.json"), ddb.Item{
			"chatUser": ours, "timestamp": item.N(1771324200000), "activityTimestamp": item.S("diskning#1771324200000"),
		}},
		"without a time": {with(plain, ddb.Item{"timestamp": nil, "activityTimestamp": nil}), ddb.Item{
			"chatUser": ours, "timestamp": item.N(1771324200000), "activityTimestamp": item.S("diskning#1771324200000"),
		}},
		"a name that is not escaped": {with(plain, ddb.Item{"activity": item.S("50%#2"), "activityTimestamp": item.S("50%#2#1771324200000")}), ddb.Item{
			"chatUser": ours, "activityTimestamp": item.S("50%25%232#1771324200000"),
		}},
		"a scope that is not escaped": {
			with(plain, ddb.Item{"chatId": item.S("a#%"), "chatUser": item.S("a#%#42")}), ddb.Item{"chatUser": item.S("a%23%25#42")},
		},
		"a name in another form": {nfd, ddb.Item{
			"chatUser": ours, "activity": item.S("städning"), "activityTimestamp": item.S("städning#1771324200000"),
		}},
		"of this package":    {golden.Item(t, "testdata/activity.json"), nil},
		"with data":          {golden.Item(t, "testdata/activity_data.json"), nil},
		"retracted":          {golden.Item(t, "testdata/tombstone.json"), nil},
		"expired meanwhile":  {with(plain, ddb.Item{"ttl": item.N(1771324200)}), nil},
		"with a ttl to come": {with(plain, ddb.Item{"ttl": item.N(99771324200)}), ddb.Item{"chatUser": ours}},
	} {
		t.Run(name, func(t *testing.T) { golden.Backfill(t, db.Client(), acts.Backfill, tc.row, tc.want, relied...) })
	}

	db, least := open(t, &activity.Config{
		Names: map[string]string{"chatId": "tenant", "userId": "who", "userName": "whoName", "messageId": "n"}, ActorType: types.ScalarAttributeTypeS,
	})
	row := with(plain, ddb.Item{"tenant": item.S("t"), "who": item.S("a#b"), "activity": item.S("load"), "activityTimestamp": item.S("load#1771324200000")})
	golden.Backfill(t, db.Client(), least.Backfill, row, ddb.Item{"chatUser": item.S("t#a%23b")})
}

func TestBackfillUnreadable(t *testing.T) {
	t.Parallel()
	_, acts := open(t, nil)
	plain := golden.Item(t, "testdata/typescript.json")
	for name, other := range map[string]ddb.Item{
		"no name":                  {"activity": nil},
		"no actor":                 {"userId": nil},
		"an actor of another type": {"userId": item.S("Martin")},
		"no time":                  {"timestamp": item.S("yesterday")},
		"a time before 1973":       {"timestamp": item.N(100)},
		"a time after 2286":        {"timestamp": item.N(10_000_000_000_000)},
		"a name too long":          {"activity": item.S(string(make([]byte, 1024)))},
	} {
		if in, lacks, err := acts.Backfill(with(plain, other)); err == nil || lacks || in != nil {
			t.Errorf("%s: %v, %v", name, lacks, err)
		}
	}
}

// The prices of the doc comment, by what a row lacks.
func TestBackfillPrices(t *testing.T) {
	t.Parallel()
	db, acts := open(t, nil)
	plain := golden.Item(t, "testdata/typescript.json")
	for _, tc := range []struct {
		row  ddb.Item
		want float64
	}{
		{plain, 4}, // the table and three indexes, of which one is new to it
		{golden.Item(t, "testdata/typescript_phase2.json"), 4},
		{with(plain, ddb.Item{"activity": item.S("a#b"), "activityTimestamp": item.S("a#b#1771324200000")}), 5},
		{golden.Item(t, "testdata/typescript_seconds.json"), 6}, // two indexes in which its key changes
	} {
		row := tc.row
		recordtest.Put(t, db.Client(), acts.Table().Name, row)
		in, _, err := acts.Backfill(row)
		if err != nil {
			t.Fatal(err)
		}
		db.Meter(func() { _, err = db.Client().UpdateItem(t.Context(), in) }).Want(t, dynamotest.Price{Requests: 1, WCU: tc.want})
		if err != nil {
			t.Error(err)
		}
	}
}
