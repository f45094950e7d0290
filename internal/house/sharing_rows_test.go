package house

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/activity"
	"github.com/homeops/ddbpatterns/alias"
	"github.com/homeops/ddbpatterns/counter"
	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/ema"
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/recordtest"
	"github.com/homeops/ddbpatterns/pattern"
	"github.com/homeops/ddbpatterns/record"
	"github.com/homeops/ddbpatterns/schema"
	"github.com/homeops/ddbpatterns/tzclock"
)

// shop keeps all that it knows about its customers in one table.
type shop struct {
	limits  *counter.Store
	words   *alias.Store
	habits  *pattern.Store
	efforts *ema.Store
	ratings *record.Rows[int64]
}

// newShop returns the stores on one table. The counter uses the others' key.
func newShop(db *dynamodb.Client, table string) (shop, []schema.Table, error) {
	limits, err1 := counter.New(db, table, tzclock.UTC, &counter.Config{Names: map[string]string{"chatId": "pk", "date": "sk"}})
	words, err2 := alias.New(db, table, nil)
	habits, err3 := pattern.New(db, table, tzclock.UTC, nil)
	efforts, err4 := ema.New(db, table, nil)
	ratings, err5 := record.New(db, table, ratings, nil)
	if err := errors.Join(err1, err2, err3, err4, err5); err != nil {
		return shop{}, nil, err
	}
	all := []schema.Table{limits.Table(), words.Table(), habits.Table(), efforts.Table(), ratings.Table()}
	return shop{limits, words, habits, efforts, ratings}, all, nil
}

// openShop returns the stores of one table, and its name.
func openShop(t *testing.T) (shop, *dynamotest.DB, string) {
	t.Helper()
	db := dynamotest.Open(t)
	s, tables, err := newShop(db.Client(), db.Name("shop"))
	if err != nil {
		t.Fatal(err)
	}
	if err := schema.Create(t.Context(), db.Client(), tables...); err != nil {
		t.Fatal(err)
	}
	return s, db, db.Name("shop")
}

// now returns an event of this moment, because the shop's stores use the real
// clock.
func now(t *testing.T, id string) event.Event { return recordtest.Event(t, time.Now(), "shop", id) }

// must fails the test unless a write took effect anew.
func must(t *testing.T) func(event.Outcome, error) {
	t.Helper()
	return func(out event.Outcome, err error) {
		t.Helper()
		if out != event.Created || err != nil {
			t.Fatalf("got %v, %v", out, err)
		}
	}
}

// fill writes one row of each kind about one customer.
func (s shop) fill(t *testing.T) {
	t.Helper()
	ctx, ev := t.Context(), now(t, "1001")
	grant, err := s.limits.Take(ctx, counter.Take{Key: "ann", Event: ev, Weight: 1, Cap: 3})
	must(t)(grant.Outcome, err)
	must(t)(s.words.Put(ctx, alias.Put{Scope: "ann", Phrase: "the usual", Name: "espresso", Event: ev}))
	must(t)(s.habits.Observe(ctx, pattern.Observe{Scope: "ann", Actor: "ann", Name: "espresso", Event: ev}))
	must(t)(s.efforts.Observe(ctx, ema.Observe{Subject: "ann", Metric: "espresso", Event: ev, Value: 1}))
	must(t)(s.ratings.Apply(ctx, record.Apply{
		Partition: record.Key("RATING", "ann"), Sort: "stars", Event: ev,
		Next: func(record.Item, event.Event) (record.Item, error) { return record.Item{"stars": record.Int(5)}, nil },
	}))
}

// One table has five kinds of row about one customer. Each store reads and
// erases only its own.
func TestRowsOfOneTableStayApart(t *testing.T) {
	t.Parallel()
	s, db, table := openShop(t)
	s.fill(t)
	ctx := t.Context()
	if stand := len(db.Items(table)); stand != 5 {
		t.Fatalf("%d rows stand, want 5", stand)
	}
	for name, list := range map[string]func() (int, error){
		"alias":   func() (int, error) { all, err := s.words.All(ctx, "ann"); return len(all), err },
		"pattern": func() (int, error) { all, err := s.habits.All(ctx, "ann", "ann"); return len(all), err },
		"ema":     func() (int, error) { all, err := s.efforts.All(ctx, "ann"); return len(all), err },
	} {
		if n, err := list(); n != 1 || err != nil {
			t.Errorf("%s lists %d rows, %v", name, n, err)
		}
	}
	left := 5
	for name, erase := range map[string]func() (int, error){
		"counter": func() (int, error) { return s.limits.Erase(ctx, "ann") },
		"alias":   func() (int, error) { return s.words.Erase(ctx, "ann") },
		"pattern": func() (int, error) { return s.habits.Erase(ctx, "ann", "ann") },
		"ema":     func() (int, error) { return s.efforts.Erase(ctx, "ann") },
		"record":  func() (int, error) { return s.ratings.Erase(ctx, record.Key("RATING", "ann")) },
	} {
		left--
		if n, err := erase(); n != 1 || err != nil || len(db.Items(table)) != left {
			t.Errorf("%s erases %d, %v, and %d rows stand", name, n, err, len(db.Items(table)))
		}
	}
}

// A counter's key is the partition itself. If it equals another store's
// partition, its rows are among that store's rows: pattern and ema list them, and
// erase them with their own. So are the rows of two stores with the same prefix.
func TestACountersKeyInAnothersPartition(t *testing.T) {
	t.Parallel()
	s, db, table := openShop(t)
	s.fill(t)
	ctx := t.Context()
	for _, key := range []string{"ALIAS#ann", "PATTERN#ann#ann", "EFFORT#ann"} {
		grant, err := s.limits.Take(ctx, counter.Take{Key: key, Event: now(t, "1002"), Weight: 1, Cap: 3})
		must(t)(grant.Outcome, err)
	}
	if phrases, err := s.words.Refresh(ctx, "ann"); len(phrases) != 1 || err != nil {
		t.Errorf("alias lists %v, %v", phrases, err) // a phrase without a name
	}
	if habits, err := s.habits.All(ctx, "ann", "ann"); len(habits) != 2 || err != nil {
		t.Errorf("pattern lists %v, %v", habits, err)
	}
	if averages, err := s.efforts.All(ctx, "ann"); len(averages) != 2 || err != nil {
		t.Errorf("ema lists %v, %v", averages, err)
	}
	alike, err := ema.New(db.Client(), table, &ema.Config{Prefix: "ALIAS"})
	if err != nil {
		t.Fatal(err)
	}
	if all, err := alike.All(ctx, "ann"); len(all) != 2 || err != nil {
		t.Errorf("an ema of the prefix ALIAS lists %v, %v", all, err)
	}
	if n, err := s.limits.Erase(ctx, "ALIAS#ann"); n != 2 || err != nil {
		t.Errorf("the counter's Erase takes %d rows, %v", n, err)
	}
	if n, err := s.efforts.Erase(ctx, "ann"); n != 2 || err != nil {
		t.Errorf("ema's Erase takes %d rows, %v", n, err)
	}
}

// Two counters on one table count the same key together.
func TestTwoCountersOfOneTable(t *testing.T) {
	t.Parallel()
	s, db, table := openShop(t)
	other, err := counter.New(db.Client(), table, tzclock.UTC, &counter.Config{Names: map[string]string{"chatId": "pk", "date": "sk"}})
	if err != nil {
		t.Fatal(err)
	}
	for i, limits := range []*counter.Store{s.limits, other} {
		grant, err := limits.Take(t.Context(), counter.Take{Key: "ann", Event: now(t, string(rune('a'+i))), Weight: 1, Cap: 3})
		if grant.Used != int64(i)+1 || err != nil {
			t.Errorf("used %d, %v, want %d", grant.Used, err, i+1)
		}
	}
}

// The counter can have activity's key. Its rows in a scope are not activities,
// but are erased with them. Two logs in one table are one log.
func TestACountAmongActivities(t *testing.T) {
	t.Parallel()
	db := dynamotest.Open(t)
	log, err1 := activity.New(db.Client(), db.Name("log"), &activity.Config{ActorType: types.ScalarAttributeTypeS})
	limits, err2 := counter.New(db.Client(), db.Name("log"), tzclock.UTC, &counter.Config{Names: map[string]string{"date": "activityId"}})
	if err := errors.Join(err1, err2); err != nil {
		t.Fatal(err)
	}
	if err := schema.Create(t.Context(), db.Client(), log.Table(), limits.Table()); err != nil {
		t.Fatal(err)
	}
	other, err := activity.New(db.Client(), db.Name("log"), &activity.Config{ActorType: types.ScalarAttributeTypeS})
	if err != nil {
		t.Fatal(err)
	}
	must(t)(other.Record(t.Context(), activity.Activity{Scope: "yard", Actor: "bo", Name: "packed", Event: now(t, "1001")}))
	if n, err := log.Count(t.Context(), activity.Filter{Scope: "yard"}); n != 1 || err != nil {
		t.Errorf("the other log has %d, %v", n, err)
	}
	grant, err := limits.Take(t.Context(), counter.Take{Key: "shop", Event: now(t, "1001"), Weight: 1, Cap: 3})
	must(t)(grant.Outcome, err)
	for a, err := range log.InScope(t.Context(), "shop", activity.Range{}) {
		t.Errorf("the shop's activities have %v, %v", a, err)
	}
	if n, err := log.Erase(t.Context(), "shop"); n != 1 || err != nil {
		t.Errorf("activity's Erase takes %d rows, %v", n, err)
	}
}

// A table has one TTL attribute. A row without that attribute stays.
func TestOneTTLAttribute(t *testing.T) {
	t.Parallel()
	s, db, table := openShop(t)
	other, err := counter.New(db.Client(), table, tzclock.UTC, &counter.Config{Names: map[string]string{"chatId": "pk", "date": "sk", "ttl": "expires"}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := schema.Merge(s.limits.Table(), other.Table()); err == nil || !strings.Contains(err.Error(), "ttl and expires") {
		t.Errorf("Merge: %v", err)
	}
	if err := schema.Create(t.Context(), db.Client(), other.Table()); err == nil || !strings.Contains(err.Error(), "its TTL is ttl, not expires") {
		t.Errorf("Create: %v", err)
	}
	s.fill(t)
	expire := 0
	for _, row := range db.Items(table) {
		if _, ok := row["ttl"]; ok {
			expire++
		}
	}
	if expire != 1 {
		t.Errorf("%d rows have a ttl, want the count's alone", expire)
	}
}
