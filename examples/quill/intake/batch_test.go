package intake_test

import (
	"cmp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/examples/quill/aloware"
	"github.com/homeops/ddbpatterns/examples/quill/fact"
	"github.com/homeops/ddbpatterns/examples/quill/hubspot"
	"github.com/homeops/ddbpatterns/examples/quill/intake"
)

// Copies come in one request and across requests. The attempt number may differ.
func TestCopies(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	again := strings.Replace(change(1), `"attemptNumber":0`, `"attemptNumber":3`, 1)
	cost := b.db.Meter(func() {
		b.send(intake.HubSpotPath, batch(change(1), change(2), again, change(1)), 200, intake.Counts{Received: 4, New: 2, Duplicate: 2})
	})
	if cost.Requests != 2 {
		t.Errorf("a copy has a request of its own: %v", cost)
	}
	b.send(intake.HubSpotPath, batch(again, change(3)), 200, intake.Counts{Received: 2, New: 1, Duplicate: 1})
	b.wants(3)
}

// Each unreadable event is kept on its own, and the others are stored.
func TestRefused(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		path, body string
		want       intake.Counts
		reason     string
		kept       string
	}{
		"no JSON":        {intake.AlowarePath, "{", isRefused, "aloware", "{"},
		"no array":       {intake.HubSpotPath, "{}", isRefused, "hubspot", "{}"},
		"empty":          {intake.HubSpotPath, "", isRefused, "hubspot", ""},
		"a new status":   {intake.AlowarePath, call("levitating"), isRefused, "ALOWARE_TERMINAL_STATUSES", call("levitating")},
		"one of a batch": {intake.HubSpotPath, batch(change(1), `{"eventId":1}`, change(2)), intake.Counts{Received: 3, New: 2, Refused: 1}, "[1]", `{"eventId":1}`},
	} {
		b := newBench(t)
		b.send(tc.path, tc.body, 200, tc.want)
		b.wants(tc.want.New)
		kept, err := b.Outbox.Refusals(t.Context(), 10)
		if err != nil || len(kept) != 1 || kept[0].Body != tc.kept || !strings.Contains(kept[0].Reason, tc.reason) || !kept[0].At.Equal(b.clock()) {
			t.Errorf("%s: kept %+v, %v", name, kept, err)
		}
		if !strings.Contains(b.logged(), "level=WARN msg=\"event refused\"") {
			t.Errorf("%s: logged\n%s", name, b.logged())
		}
	}
}

// Refused events have no key, so none counts as a copy of another.
func TestRefusedTwice(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.send(intake.HubSpotPath, batch("7", "8", "7"), 200, intake.Counts{Received: 3, Refused: 3})
	if _, kept := b.stored(); kept != 2 { // the same body once
		t.Errorf("%d refusals", kept)
	}
}

// A refused event that was not kept is answered 503: otherwise its sender would not
// send it again.
func TestRefusedButNotKept(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.db.Inject(dynamotest.Fault{Do: dynamotest.LoseRequest, Op: "PutItem", Table: facts, Times: -1})
		b.send(intake.HubSpotPath, batch(change(1), "7"), 503, intake.Counts{Received: 2, New: 1, Waiting: 1, Unstored: 1})
		if _, kept := b.stored(); kept != 0 {
			t.Errorf("%d refusals", kept)
		}
		b.db.Heal()
		b.send(intake.HubSpotPath, batch(change(1), "7"), 200, intake.Counts{Received: 2, Duplicate: 1, Refused: 1})
		if _, kept := b.stored(); kept != 1 {
			t.Errorf("%d refusals", kept)
		}
	})
}

// Keeping a refused event is as patient as storing a fact: a reply that never comes
// does not use up all the time.
func TestRefusedAndKeptInSpiteOfFaults(t *testing.T) {
	t.Parallel()
	for _, fault := range []dynamotest.Fault{
		{Do: dynamotest.Delay(time.Minute)},
		{Do: dynamotest.DelayReply(time.Minute)},
		{Do: dynamotest.Throttle, Times: 5},
		{Do: dynamotest.LoseRequest, Times: 5},
	} {
		synctest.Test(t, func(t *testing.T) {
			b := newBench(t)
			fault.Op, fault.Table = "PutItem", facts
			b.db.Inject(fault)
			b.send(intake.HubSpotPath, batch("7"), 200, isRefused)
			if _, kept := b.stored(); kept != 1 {
				t.Errorf("%v: %d refusals", fault.Do, kept)
			}
		})
	}
}

// An event that no table can hold would come again for ever: it is refused, and
// not marked.
func TestWhatCannotBeStoredIsRefused(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	events := hubspot.Events([]byte(batch(change(1), change(2), change(3), change(4))))
	events[1].Fact.Row["value"] = strings.Repeat("x", 400<<10)
	events[2].Fact.Row["value"] = 1.5
	events[3].Delivery = ""
	if got, want := b.Settle(t.Context(), events), (intake.Counts{Received: 4, New: 1, Refused: 3}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	kept, err := b.Outbox.Refusals(t.Context(), 10)
	reasons := map[string]string{change(2): "Row ", change(3): "Row.value ", change(4): "key "}
	for _, r := range kept {
		if r.Source != fact.HubSpot || reasons[r.Body] == "" || !strings.Contains(r.Reason, reasons[r.Body]) {
			t.Errorf("kept %+v", r)
		}
	}
	if marked := len(b.db.Items(marks)); err != nil || len(kept) != 3 || marked != 1 {
		t.Errorf("%d kept, %d marked, %v", len(kept), marked, err)
	}
	b.wants(1)
	if got := b.Tally.Snapshot(); got != (intake.Counts{}) {
		t.Errorf("no request, and the tally is %+v", got)
	}
}

// An event that was refused for an unknown status is settled when the status is
// known.
func TestRefusedAndSettledLater(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.send(intake.AlowarePath, call("levitating"), 200, isRefused)
	kept, err := b.Outbox.Refusals(t.Context(), 10)
	if err != nil || len(kept) != 1 {
		t.Fatal(kept, err)
	}
	events := aloware.Reader{Terminal: []string{"levitating"}}.Events([]byte(kept[0].Body))
	for _, want := range []intake.Counts{isNew, isDuplicate} {
		if got := b.Settle(t.Context(), events); got != want {
			t.Errorf("%+v, want %+v", got, want)
		}
	}
	b.wants(1)
}

// An event dated far ahead would override all that follows. It is settled when its
// day has come.
func TestEventsOfTheFuture(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	early := b.clock().Add(intake.Ahead)
	dated := func(body string, at time.Time) string {
		return strings.NewReplacer("2026-11-21 06:01:00", at.Format(time.DateTime), "1795240800123", strconv.FormatInt(at.UnixMilli(), 10)).Replace(body)
	}
	b.send(intake.AlowarePath, dated(call("completed"), early), 200, isNew)
	b.send(intake.AlowarePath, dated(call("missed"), early.Add(time.Second)), 200, isRefused)
	b.send(intake.HubSpotPath, batch(change(1), dated(change(2), early), dated(change(3), early.Add(time.Millisecond))), 200,
		intake.Counts{Received: 3, New: 2, Refused: 1})
	const want = "intake: At is more than a day ahead of the server's clock"
	kept, err := b.Outbox.Refusals(t.Context(), 10)
	if err != nil || len(kept) != 2 || kept[0].Reason != want || kept[1].Reason != want {
		t.Errorf("kept %+v, %v", kept, err)
	}
	b.set(b.clock().Add(time.Second))
	if got := b.Settle(t.Context(), hubspot.Events([]byte(batch(dated(change(3), early.Add(time.Millisecond)))))); got != isNew {
		t.Errorf("a second later: %+v", got)
	}
	b.wants(4)
}

// Two handlers get the same events at once: each event is new exactly once.
func TestRaces(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		other := b.twin()
		var wait sync.WaitGroup
		for range 10 {
			for _, h := range []*intake.Handler{b.Handler, other} {
				wait.Go(func() {
					one := &bench{Handler: h, t: t, db: b.db, at: b.at}
					for _, sent := range [][2]string{
						{intake.HubSpotPath, batch(change(1), change(2), change(3))},
						{intake.AlowarePath, call("completed")}, // one fact, by two deliveries
						{intake.AlowarePath, call("missed")},
					} {
						if status, _ := one.serve(one.request(t.Context(), sent[0], sent[1])); status != 200 {
							t.Errorf("%s: %d", sent[1], status)
						}
					}
				})
			}
		}
		wait.Wait()
		if got, want := b.Tally.Snapshot(), (intake.Counts{Received: 100, New: 4, Duplicate: 96, Later: 1}); got != want {
			t.Errorf("%+v, want %+v", got, want)
		}
		b.wants(4)
	})
}

// The Handler stores as many events side by side as it allows, and no more.
func TestSideBySide(t *testing.T) {
	t.Parallel()
	for _, most := range []int{0, 1, 5} {
		synctest.Test(t, func(t *testing.T) {
			b := newBench(t)
			b.Handler.SideBySide = most
			var events []string
			for n := range 40 {
				events = append(events, change(n))
			}
			b.db.Inject(dynamotest.Fault{Do: dynamotest.Delay(10 * time.Millisecond), Op: "TransactWriteItems", Times: -1})
			cost := b.db.Meter(func() { b.send(intake.HubSpotPath, batch(events...), 200, intake.Counts{Received: 40, New: 40}) })
			atOnce := cmp.Or(most, intake.SideBySide)
			if want := (40 + atOnce - 1) / atOnce; cost.Depth != want {
				t.Errorf("%d one after the other, want %d", cost.Depth, want)
			}
		})
	}
}
