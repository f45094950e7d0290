package proof_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/ema"
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/pattern"
	"github.com/homeops/ddbpatterns/record"
	"github.com/homeops/ddbpatterns/tzclock"
)

// dawn is the beginning of the day of all events of records.
var dawn = start.Truncate(24 * time.Hour)

// applying makes a call for the nth event.
func applying(name string, n int, do func(context.Context, process, event.Event) (event.Outcome, error)) call {
	return call{fmt.Sprintf("%s%d", name, n), func(ctx context.Context, p process) string {
		out, err := do(ctx, p, at(dawn, n))
		if tie, ok := errors.AsType[*record.TieError](err); ok {
			return fmt.Sprintf("a tie, stands %v", tie.Stands)
		}
		if _, ok := errors.AsType[*record.FloorError](err); ok {
			return "below the floor"
		}
		return answer(out, err)
	}}
}

// filled are calls for the events from 2 on, of which each is later than the one before.
func filled(most int, of func(n int) call) (all []seed) {
	for n := range most {
		all = append(all, ago(time.Minute, of(2*n+2)))
	}
	return all
}

// rings are the starting rows of what remembers 32 events, and the calls: both events
// later than the row's, one the oldest but one when the ring is full, the same one
// twice, and one that has been counted.
func rings(of func(n int) call) ([]starting, [][]call) {
	again := of(90)
	again.name = "Again90"
	starts := []starting{{name: "absent"}, {name: "one", seeds: filled(1, of)}, {name: "31", seeds: filled(31, of)}, {name: "32", seeds: filled(32, of)}}
	return starts, [][]call{{of(90), of(91)}, {of(3), of(90)}, {of(90), again}, {of(64), of(3)}, {of(90), of(91), again}}
}

// emptyAndFull are the rows from which a package proves that it uses the ring as it must.
func emptyAndFull(starts []starting) []starting {
	return []starting{starts[0], starts[len(starts)-1]}
}

// counted is the rule of a row that counts events: it counts one after the other.
func counted(key, count string) func(was, is rows, now time.Time) error {
	return func(was, is rows, _ time.Time) error {
		if n, then := num(was[key], count), num(is[key], count); then != n && then != n+1 {
			return fmt.Errorf("the count was %d and is %d", n, then)
		}
		return nil
	}
}

func TestRing(t *testing.T) {
	kind := record.Kind[record.Item]{Package: "log", Type: "LOG", Count: "n", Decode: func(r record.Item) (record.Item, error) { return r, nil }}
	log := func(p process) *record.Rows[record.Item] {
		return must(record.New(p.api, "logs", kind, &record.Config{Now: p.now, Rand: p.rand}))
	}
	of := func(n int) call {
		return applying("Apply", n, func(ctx context.Context, p process, ev event.Event) (event.Outcome, error) {
			return log(p).Apply(ctx, record.Apply{Partition: record.Key("LOG", "1"), Sort: "log", Event: ev, Next: func(r record.Item, _ event.Event) (record.Item, error) {
				return record.Item{"log": text(fmt.Sprintf("%s %d,", str(r, "log"), n))}, nil
			}})
		})
	}
	s := &suite{table: log(nobody).Table(), differs: []string{"updatedAt"}, serial: true, rings: true}
	s.starts, s.calls = rings(of)
	s.step = func(was, is rows, now time.Time) error {
		r := is["LOG#1 log"]
		events := strings.Fields(str(r, "log"))
		seen := map[string]bool{}
		for _, ev := range events {
			if seen[ev] {
				return fmt.Errorf("an event is counted twice: %v", events)
			}
			seen[ev] = true
		}
		if num(r, "n") != num(r, "before")+int64(len(events)) {
			return fmt.Errorf("the count is %d, of %d before and %v", num(r, "n"), num(r, "before"), events)
		}
		return counted("LOG#1 log", "n")(was, is, now)
	}
	s.told = func(c call, told string, now rows) error {
		if taken(told) && !strings.Contains(str(now["LOG#1 log"], "log"), " "+c.name[len(c.name)-2:]+",") && len(c.name) == len("Apply00") {
			return fmt.Errorf("%s was told %s, and is not counted", c.name, told)
		}
		return nil
	}
	s.prove(t)
	old := *s
	key := row{"pk": text("LOG#1"), "sk": text("log")}
	three := row{"pk": key["pk"], "sk": key["sk"], "n": number(3), "before": number(3)}
	old.starts = []starting{{name: "of an older system", rows: []row{three}}, {name: "bare", rows: []row{key}}}
	old.calls = [][]call{s.calls[0], s.calls[2]}
	t.Run("old", old.prove)
}

func TestExact(t *testing.T) {
	kind := record.Kind[record.Item]{
		Package: "points", Type: "POINTS", Count: "n", Attributes: []string{"sum"}, Retention: 30 * 24 * time.Hour,
		Decode: func(r record.Item) (record.Item, error) { return r, nil },
	}
	const skewOfExact = 5 * time.Minute
	points := func(p process) *record.Rows[record.Item] {
		return must(record.New(p.api, "points", kind, &record.Config{Now: p.now, Rand: p.rand, MaxSkew: skewOfExact}))
	}
	amount := func(n int) int64 { return map[int]int64{1: 1, 2: 2, 4: 4, 8: -4}[n] }
	adds := func(n int) call {
		return applying("Add", n, func(ctx context.Context, p process, ev event.Event) (event.Outcome, error) {
			return points(p).Apply(ctx, record.Apply{
				Partition: record.Key("POINTS", "1"), Sort: "sum", Event: ev,
				Add: map[string]int64{"sum": amount(n)}, AtLeast: map[string]int64{"sum": 0},
			})
		})
	}
	item := applying("Item", 1, func(ctx context.Context, p process, ev event.Event) (out event.Outcome, err error) {
		it, err := points(p).ApplyItem(ctx, record.Apply{
			Partition: record.Key("POINTS", "1"), Sort: "sum", Event: ev, Add: map[string]int64{"sum": amount(1)},
		})
		for try := 0; err == nil && out == 0 && try < 3; try++ { // the same items after a lost reply
			out, err = transact(ctx, p, it)
		}
		return out, err
	})
	next := func(n int) call {
		return applying("Next", n, func(ctx context.Context, p process, ev event.Event) (event.Outcome, error) {
			return points(p).Apply(ctx, record.Apply{Partition: record.Key("POINTS", "1"), Sort: "sum", Event: ev, Next: func(r record.Item, _ event.Event) (record.Item, error) {
				return record.Item{"sum": number(num(r, "sum") + amount(n))}, nil
			}})
		})
	}
	s := &suite{
		table: points(nobody).Table(), differs: []string{"updatedAt", "by", "version"}, serial: true,
		starts: []starting{{name: "absent"}, {name: "counted", seeds: before(adds(2))}, {name: "more", seeds: before(adds(4), adds(1))}},
		calls: [][]call{
			{adds(1), adds(2)}, {adds(4), adds(8)}, {adds(2), {"Again", adds(2).do}}, {next(1), next(2)}, {next(1), {"Again", next(1).do}}, {next(1), adds(8)}, {item, adds(2)}, {adds(1), adds(4), adds(8)},
		},
	}
	s.step = func(was, is rows, now time.Time) error {
		var n, sum int64
		var record row
		for _, r := range is {
			switch _, ofEvent := r["by"]; {
			case !ofEvent:
				record = r
			default:
				n++
			}
		}
		for key, r := range is { // the record has the clock of the write; with Next, of its last try
			counted := must(time.Parse(time.RFC3339, str(record, "updatedAt")))
			if was[key] == nil && r["add"] != nil && counted.Unix() > num(r, "ttl")-int64(skewOfExact/time.Second) {
				return fmt.Errorf("an event was counted at %v, when its row may have expired", counted)
			}
		}
		for _, name := range []int{1, 2, 4, 8} {
			for key := range is {
				if strings.HasSuffix(key, at(dawn, name).String()) {
					sum += amount(name)
				}
			}
		}
		if now.Sub(start) < time.Hour && (num(record, "n") != n || num(record, "sum") != sum || sum < 0) {
			return fmt.Errorf("%d events of %d, and the record has %d of %d", n, sum, num(record, "n"), num(record, "sum"))
		}
		return nil
	}
	s.told = func(c call, told string, now rows) error {
		if !taken(told) || c.name == "Again" {
			return nil
		}
		for key := range now {
			if strings.HasSuffix(key, at(dawn, int(c.name[len(c.name)-1]-'0')).String()) {
				return nil
			}
		}
		if len(now) > 0 {
			return fmt.Errorf("%s was told %s, and is not counted", c.name, told)
		}
		return nil
	}
	s.noted = func(from starting, notes []string, answers map[string]string) error {
		again := answers["Again"] != "" || slices.ContainsFunc(notes, func(n string) bool { return strings.HasSuffix(n, reborn) || strings.HasSuffix(n, unknown) })
		for name, told := range answers {
			of := func(sd seed) bool { return sd.name[len(sd.name)-1] == name[len(name)-1] }
			if !again && told == event.Duplicate.String() && !slices.ContainsFunc(from.seeds, of) {
				return fmt.Errorf("%s was told %s, and nobody made it before", name, told)
			}
		}
		return nil
	}
	s.prove(t)
}

// transact sends the items of an event. It returns 0 if they may have taken effect.
func transact(ctx context.Context, p process, it *record.ApplyItem) (event.Outcome, error) {
	_, err := p.api.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{TransactItems: it.Items})
	if cancelled, ok := errors.AsType[*types.TransactionCanceledException](err); ok {
		return it.Outcome(cancelled.CancellationReasons)
	}
	if err != nil {
		return 0, nil
	}
	return it.Committed(), nil
}

func TestPattern(t *testing.T) {
	habits := func(p process) *pattern.Store {
		return must(pattern.New(p.api, "habits", tzclock.UTC, &pattern.Config{Now: p.now}))
	}
	s := &suite{table: habits(nobody).Table(), differs: []string{"updatedAt"}, serial: true, rings: true, step: counted("PATTERN#home#1 order", "totalCount")}
	s.starts, s.calls = rings(func(n int) call {
		return applying("Observe", n, func(ctx context.Context, p process, ev event.Event) (event.Outcome, error) {
			return habits(p).Observe(ctx, pattern.Observe{Scope: "home", Actor: "1", Name: "order", Event: ev})
		})
	})
	s.starts = emptyAndFull(s.starts)
	s.prove(t)
}

func TestEma(t *testing.T) {
	averages := func(p process) *ema.Store {
		return must(ema.New(p.api, "averages", &ema.Config{Now: p.now, Alpha: 0.25}))
	}
	s := &suite{table: averages(nobody).Table(), differs: []string{"updatedAt"}, serial: true, rings: true, step: counted("EFFORT#1 order", "samples")}
	s.starts, s.calls = rings(func(n int) call {
		return applying("Observe", n, func(ctx context.Context, p process, ev event.Event) (event.Outcome, error) {
			return averages(p).Observe(ctx, ema.Observe{Subject: "1", Metric: "order", Event: ev, Value: float64(n * n)})
		})
	})
	s.starts = emptyAndFull(s.starts)
	s.prove(t)
}

func TestSet(t *testing.T) {
	kind := record.Kind[record.Item]{Package: "status", Type: "ORDER", Attributes: []string{"status", "note"}, Decode: func(r record.Item) (record.Item, error) { return r, nil }}
	orders := func(p process) *record.Rows[record.Item] {
		return must(record.New(p.api, "orders", kind, &record.Config{Now: p.now}))
	}
	sets := func(name string, n, rank int, status string) call {
		c := applying(fmt.Sprintf("%s%dOf", name, rank), n, func(ctx context.Context, p process, ev event.Event) (event.Outcome, error) {
			if name == "Twin" { // another event of the same time
				ev = must(event.New(ev.Time(), "proof", "twin"))
			}
			values := record.Item{"status": text(status)}
			if status != "b" {
				values["note"] = text(status)
			}
			return orders(p).Set(ctx, record.Set{Partition: record.Key("ORDER", "1"), Sort: "status", Event: ev, Rank: rank, Values: values})
		})
		c.name += status
		return c
	}
	set := func(n, rank int, status string) call { return sets("Set", n, rank, status) }
	s := &suite{
		table: orders(nobody).Table(), differs: []string{"updatedAt"}, serial: true,
		starts: []starting{{name: "absent"}, {name: "earlier", seeds: before(set(1, 0, "new"))}, {name: "between", seeds: before(set(4, 1, "paid"))}, {name: "later", seeds: before(set(9, 0, "sent"))}},
		calls: [][]call{
			{set(3, 0, "a"), set(5, 0, "b")}, {set(3, 0, "a"), set(3, 1, "b")}, {set(5, 1, "a"), set(5, 1, "a").again()}, {set(4, 2, "a"), set(4, 0, "b")}, {set(3, 0, "a"), set(5, 0, "b"), set(5, 1, "c")},
		},
		step: func(was, is rows, _ time.Time) error {
			// The stored text of an event begins with its time and its rank.
			if old, r := str(was["ORDER#1 status"], "event"), str(is["ORDER#1 status"], "event"); earlier(r, old) {
				return fmt.Errorf("the event %s was set by the earlier %s", old, r)
			}
			if r := is["ORDER#1 status"]; r["note"] != nil && str(r, "note") != str(r, "status") {
				return fmt.Errorf("%s has the note of %s", str(r, "status"), str(r, "note"))
			}
			return nil
		},
		told: func(c call, told string, now rows) error {
			if told != "" && now["ORDER#1 status"] == nil {
				return fmt.Errorf("%s was told %s, and there is no row", c.name, told)
			}
			stands := strings.HasSuffix(c.name, str(now["ORDER#1 status"], "status"))
			if told == "a tie, stands true" && !stands || told == "a tie, stands false" && stands {
				return fmt.Errorf("%s was told %s, and the row has %s", c.name, told, str(now["ORDER#1 status"], "status"))
			}
			return nil
		},
		noted: func(_ starting, _ []string, answers map[string]string) error {
			tie := answers["Twin0Of5b"] != ""
			all := slices.Collect(maps.Values(answers))
			switch i := slices.IndexFunc(all, func(told string) bool { return strings.HasPrefix(told, "a tie") }); {
			case i >= 0 && !tie:
				return errors.New("a tie that is none")
			case tie && all[0] == event.Created.String() && all[1] == all[0]:
				return errors.New("nobody was told of the tie")
			}
			return nil
		},
	}
	s.prove(t)
	ties := *s
	ties.starts = s.starts[:2]
	ties.calls = [][]call{{set(5, 0, "a"), sets("Twin", 5, 0, "b")}, {set(5, 0, "a"), sets("Twin", 5, 0, "a")}}
	t.Run("ties", ties.prove)
}

// earlier compares events as they are stored: by time, rank and identity.
func earlier(a, b string) bool {
	rank := func(s string) string {
		if len(s) > 10 && s[10] == 'r' {
			return s
		}
		return s[:min(10, len(s))] + "r000" + s[min(10, len(s)):]
	}
	return b != "" && rank(a) < rank(b)
}

// again is the same call of another caller.
func (c call) again() call { return call{"Again" + c.name, c.do} }
