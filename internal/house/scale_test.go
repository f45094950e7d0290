package house

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/homeops/ddbpatterns/activity"
	"github.com/homeops/ddbpatterns/counter"
	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/ddb"
	"github.com/homeops/ddbpatterns/internal/pricetest"
	"github.com/homeops/ddbpatterns/internal/recordtest"
	"github.com/homeops/ddbpatterns/ledger"
	"github.com/homeops/ddbpatterns/memory"
	"github.com/homeops/ddbpatterns/message"
	"github.com/homeops/ddbpatterns/pattern"
	"github.com/homeops/ddbpatterns/record"
	"github.com/homeops/ddbpatterns/schema"
	"github.com/homeops/ddbpatterns/tzclock"
)

const scalePage = "docs/scale.md"

// partition is what one partition takes in a second.
var partition = dynamotest.Units{RCU: 3000, WCU: 1000}

// Dollars for a million request units on demand.
const dollarsRead, dollarsWrite = 0.125, 0.625

// hotspot is a load whose calls all meet in one partition.
type hotspot struct {
	what     string
	call     string // package and method, and the name of its price
	spread   float64
	grown    float64 // in place of the price's WCU: those of a row that has grown
	where    string  // the index that is hot, "" for the table
	key      string
	consumes func(*fleet, context.Context, event.Event) error
}

// hotspots are the loads of the page. Spread is among how many partitions the units of
// a call are shared equally: an activity is in its table and in three indexes.
var hotspots = []hotspot{
	{"one key that is delivered again and again", "ledger.MarkSeen", 1, 0, "", "ORDER:1", func(f *fleet, ctx context.Context, _ event.Event) error {
		return failed(f.seen.MarkSeen(ctx, "ORDER:1"))
	}},
	{"one key and window", "counter.AddUnkeyed", 1, 0, "", "acme", func(f *fleet, ctx context.Context, ev event.Event) error {
		return failed(f.limits.AddUnkeyed(ctx, counter.AddUnkeyed{Key: "acme", At: ev.Time(), Weight: 1}))
	}},
	{"one key and window with 1,000 events", "counter.Take", 1, 41, "", "full", func(f *fleet, ctx context.Context, ev event.Event) error {
		return failed(f.limits.Take(ctx, counter.Take{Key: "full", Event: ev, Weight: 1, Cap: 1}))
	}},
	{"one key and window, read", "counter.Get", 1, 0, "", "acme", func(f *fleet, ctx context.Context, ev event.Event) error {
		return failed(f.limits.Get(ctx, "acme", ev.Time()))
	}},
	{"one scope, many actors", "activity.Record", 4, 0, "", "acme", func(f *fleet, ctx context.Context, ev event.Event) error {
		return failed(f.acts.Record(ctx, activity.Activity{Scope: "acme", Actor: fmt.Sprint(ev.Time().UnixNano()), Event: ev, Name: "order"}))
	}},
	{"one actor in many scopes", "activity.Record", 4, 0, "userId-timestamp-index", "42", func(f *fleet, ctx context.Context, ev event.Event) error {
		return failed(f.acts.Record(ctx, activity.Activity{Scope: ev.String(), Actor: "42", Event: ev, Name: "order"}))
	}},
	{"one scope, read", "memory.LastOf", 1, 0, "chatId-activity-index", "acme", func(f *fleet, ctx context.Context, _ event.Event) error {
		_, _, err := f.last.LastOf(ctx, "acme", "order")
		return err
	}},
	{"one scope", "message.Save", 1, 0, "", "acme", func(f *fleet, ctx context.Context, ev event.Event) error {
		return failed(f.said.Save(ctx, message.Message{Scope: "acme", Seq: ev.Time().UnixMilli(), At: ev.Time(), Text: "hello"}))
	}},
	{"one habit of an actor; one average of ema is alike", "pattern.Observe", 1, 0, "", "PATTERN#acme#ann", func(f *fleet, ctx context.Context, ev event.Event) error {
		return failed(f.habits.Observe(ctx, pattern.Observe{Scope: "acme", Actor: "ann", Name: "order", Event: ev}))
	}},
	{"one exact record; its events are in a partition beside it", "record.Apply.ExactAdd", 2, 0, "", "OWN#ann", func(f *fleet, ctx context.Context, ev event.Event) error {
		return failed(f.points.Apply(ctx, record.Apply{Partition: record.Key("OWN", "ann"), Sort: "points", Event: ev, Add: map[string]int64{"n": 1}}))
	}},
}

func failed[T any](_ T, err error) error { return err }

// priceOf is the price of "package.Func" or "package.Func.Name".
func priceOf(t *testing.T, call string) dynamotest.Price {
	of := strings.Split(call+".", ".")
	price, ok := pricetest.ParseAll(docComment(t, of[0], of[1]))[of[2]]
	if !ok {
		t.Fatalf("%s has no price", call)
	}
	return price
}

// inCode is "package.Func.Name" as the page has it.
func inCode(call string) string {
	parts := strings.Split(call, ".")
	return strings.Join(append([]string{"`" + parts[0] + "." + parts[1] + "`"}, parts[2:]...), " ")
}

// units are what a call takes of the hot partition, and how many calls a second DynamoDB
// lets it make there.
func (h hotspot) units(t *testing.T) (text string, perSecond float64) {
	p := priceOf(t, h.call)
	p.WCU = max(p.WCU, h.grown) / h.spread
	p.RCU /= h.spread
	perSecond = min(partition.WCU/p.WCU, partition.RCU/p.RCU)
	text = strings.ReplaceAll(fmt.Sprintf("%g RCU, %g WCU,", p.RCU, p.WCU), ", 0 WCU", "")
	return strings.Trim(strings.TrimPrefix(text, "0 RCU"), " ,"), perSecond
}

// fleet are stores of one database.
type fleet struct {
	seen   *ledger.Store
	limits *counter.Store
	acts   *activity.Store
	last   *memory.Memory
	said   *message.Store
	habits *pattern.Store
	points *record.Rows[int64]
}

func newFleet(t *testing.T, db *dynamodb.Client, now func() time.Time) *fleet {
	t.Helper()
	var f fleet
	var errs [7]error
	f.seen, errs[0] = ledger.New(db, "seen", &ledger.Config{Now: now})
	f.limits, errs[1] = counter.New(db, "limits", tzclock.UTC, &counter.Config{Now: now, Window: counter.Month})
	f.acts, errs[2] = activity.New(db, "acts", &activity.Config{Now: now})
	f.last, errs[3] = memory.New(f.acts, tzclock.UTC)
	f.said, errs[4] = message.New(db, "said", &message.Config{Now: now})
	f.habits, errs[5] = pattern.New(db, "rows", tzclock.UTC, &pattern.Config{Now: now})
	decode := func(row record.Item) (int64, error) {
		fields := record.Read(row)
		return fields.Int("n"), fields.Err()
	}
	f.points, errs[6] = record.New(db, "rows", record.Kind[int64]{Package: "own", Type: "OWN", Count: "times", Attributes: []string{"n"}, Retention: 24 * time.Hour, Decode: decode}, &record.Config{Now: now})
	if err := errors.Join(errs[:]...); err != nil {
		t.Fatal(err)
	}
	if err := schema.Create(t.Context(), db, f.seen.Table(), f.limits.Table(), f.acts.Table(), f.said.Table(), f.habits.Table(), f.points.Table()); err != nil {
		t.Fatal(err)
	}
	return &f
}

// Each load of docs/scale.md runs 2.5 % below the page's rate and as much above it, with
// DynamoDB's limits and the rate a hundredth of what they are. Below, nothing is
// throttled. Above, the partition that the page names is, and no other.
func TestScale(t *testing.T) {
	t.Parallel()
	for _, h := range hotspots {
		t.Run(h.what, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, h.meetsItsLimit) // in whose time the pauses of a throttled call take none
		})
	}
}

func (h hotspot) meetsItsLimit(t *testing.T) {
	_, rate := h.units(t)
	for _, pace := range []float64{0.975, 1.025} {
		hot := h.run(t, rate/100*pace)[0]
		switch {
		case pace < 1 && hot.Throttled > 0:
			t.Errorf("at %g calls a second it is throttled: %+v", rate*pace, hot)
		case pace > 1 && (hot.Throttled == 0 || hot.Index != h.where || hot.Partition != h.key):
			t.Errorf("at %g calls a second: %+v; want %q of %q throttled", rate*pace, hot, h.key, h.where)
		}
	}
}

// run makes the calls at a rate until a partition must have spent what it saves.
func (h hotspot) run(t *testing.T, rate float64) []dynamotest.Heat {
	now := noon
	clock := func() time.Time { return now }
	srv := dynamotest.NewServer(&dynamotest.Config{Now: clock, PartitionLimits: dynamotest.Units{RCU: partition.RCU / 100, WCU: partition.WCU / 100}})
	f := newFleet(t, srv.Client(func(o *dynamodb.Options) { o.Retryer = aws.NopRetryer{} }), clock)
	if h.grown > 0 {
		row := ddb.Item{"chatId": record.Text(h.key), "date": record.Text("2026-03"), "count": record.Int(1000), "recorded": record.Int(1000)}
		for i := range 1000 {
			row["e_"+recordtest.Event(t, noon, "scale", fmt.Sprint(i)).String()] = record.Text("1~kQ0hF3vbl2E")
		}
		recordtest.Put(t, srv.Client(), "limits", row)
		now = now.Add(time.Minute) // the put's debt is paid
	}
	begin, seconds := now, math.Max(48, 100/rate)
	for n := 0; float64(n) < rate*seconds; n++ {
		now = begin.Add(time.Duration(float64(n) / rate * float64(time.Second)))
		err := h.consumes(f, t.Context(), recordtest.Event(t, now, "load", fmt.Sprint(n)))
		if ddb.Throttled(err) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
	return srv.Heat()
}

// millions are the calls of the page's list of costs.
var millions = []string{
	"ledger.MarkSeen", "ledger.Do", "ledger.DoTx", "counter.Take", "counter.TakeAll", "counter.Get", "activity.Record", "activity.InScope",
	"memory.LastOf", "message.Save", "alias.Put", "pattern.Observe", "ema.Observe", "record.Set", "record.Apply", "record.Apply.ExactAdd",
}

// docs/scale.md has lists that are computed from the doc comments' prices.
func TestScalePage(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString("| what is hot | call | of one call there | calls a second | the partition |\n|---|---|---|--:|---|\n")
	for _, h := range hotspots {
		units, rate := h.units(t)
		where := cmp.Or(h.where, "the table")
		fmt.Fprintf(&b, "| %s | %s | %s | %.0f | %s |\n", h.what, inCode(h.call), units, math.Floor(rate), where)
	}
	b.WriteString("\n| call | requests | RCU | WCU | a million calls | 100,000 a second | an hour of that |\n|---|--:|--:|--:|--:|--:|--:|\n")
	for _, call := range millions {
		p := priceOf(t, call)
		dollars := p.RCU*dollarsRead + p.WCU*dollarsWrite
		fmt.Fprintf(&b, "| %s | %d | %g | %g | %.3f $ | %.0f units/s | %.0f $ |\n", inCode(call), p.Requests, p.RCU, p.WCU, dollars, (p.RCU+p.WCU)*1e5, dollars*360)
	}
	page := read(t, scalePage)
	head, rest, _ := strings.Cut(page, "<!-- computed -->\n")
	_, tail, ok := strings.Cut(rest, "<!-- end -->")
	want := head + "<!-- computed -->\n" + b.String() + "<!-- end -->" + tail
	if *update && ok {
		if err := os.WriteFile(scalePage, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if page != want {
		t.Errorf("the lists of %s are not those of the prices: run go test ./internal/house -run TestScalePage -update", scalePage)
	}
}
