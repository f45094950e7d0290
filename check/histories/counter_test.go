package histories_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/counter"
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/schema"
)

// counterStory is about limits on few events, of the present window, of the one before
// and of one whose rows expire during the history.
type counterStory struct {
	w         *world
	stores    []*counter.Store
	most      int64
	windows   map[string]window // by key of the history
	keys      []string          // keys of windows
	older     bool              // an older system writes rows, which are of days
	retention time.Duration
	weight    [mostEvents]int64

	erasures []finished
	bare     string // the key of the last row of an older system
}

func newCounter(w *world) story {
	s := &counterStory{w: w, most: 4 + w.rnd.Int64N(6), windows: map[string]window{}}
	in, kind := pick(w.rnd, places), counter.Window(max(0, w.rnd.IntN(6)-2)) // half of them days
	w.now, s.older = in.now, kind == counter.Day
	now := windowOf(kind, in.zone, w.now)
	before := windowOf(kind, in.zone, now.start.Add(-1))
	gone := windowOf(kind, in.zone, windowOf(kind, in.zone, w.now.Add(-13*12*time.Hour)).start.Add(-1))
	s.retention = w.now.Add(12 * time.Hour).Sub(gone.end) // at least seven days
	for _, of := range []window{now, pick(w.rnd, []window{before, gone})}[:1+w.rnd.IntN(2)] {
		of.near = of.end.Before(w.now.Add(55 * time.Minute))
		key := "chat " + of.name
		s.keys, s.windows[key] = append(s.keys, key), of
	}
	for i := range s.weight {
		s.weight[i] = 1 + w.rnd.Int64N(3)
	}
	for _, c := range w.callers {
		store, err := counter.New(c.client, "limits", in.zone, &counter.Config{
			Now: c.now, Rand: c.random, MaxRecorded: int(s.most), MaxSkew: counterSkew, Window: kind, Retention: s.retention,
		})
		if err != nil {
			panic(err)
		}
		s.stores = append(s.stores, store)
	}
	return s
}

func (s *counterStory) tables() []schema.Table {
	return []schema.Table{s.stores[0].Table(), {Name: effects, Key: schema.Key{Partition: schema.String("pk")}}}
}
func (*counterStory) keyOf(r row) string { return str(r, "chatId") + " " + str(r, "date") }

// delay and the clocks' range together stay within MaxSkew.
func (*counterStory) delay() time.Duration { return counterSkew - 3*clockRange }

func (s *counterStory) leaps() []time.Duration {
	return []time.Duration{time.Minute, time.Minute, 5 * time.Minute, 2 * time.Hour, 6 * time.Hour}
}

func (s *counterStory) begin() []*call    { return nil }
func (*counterStory) keen(*caller) bool   { return false }
func (*counterStory) waited(*flight) bool { return false }
func (s *counterStory) wrong() string     { return "" }

// event returns the n-th event of a window: after its start, or before its end if that is
// not far ahead.
func (s *counterStory) event(of window, n int64) event.Event {
	at := of.start.Add(time.Duration(n) * time.Minute)
	if n%2 == 1 && of.near {
		at = of.end.Add(-time.Millisecond - time.Duration(n)*time.Minute)
	}
	ev, err := event.New(at, "chat", fmt.Sprint(n))
	if err != nil {
		panic(err)
	}
	return ev
}

// nonce returns what a row says about the writer of the event's entry.
func (s *counterStory) nonce(r row, n int64) string {
	of, known := s.windows[s.keyOf(r)]
	if !known {
		return ""
	}
	_, nonce, _ := strings.Cut(str(r, "e_"+s.event(of, n).String()), "~")
	return nonce
}

func (s *counterStory) next(c *caller) *call {
	key := pick(s.w.rnd, s.keys)
	if s.bare != "" && s.w.rnd.IntN(5) == 0 {
		return c.backfill(s.bare, s.stores[c.id].Backfill)
	}
	ev := s.w.rnd.Int64N(mostEvents)
	weight := s.weight[ev]
	if s.w.rnd.IntN(25) == 0 {
		weight++
	}
	on := s.event(s.windows[key], ev)
	store := s.stores[c.id]
	call := &call{caller: c, key: key}
	switch roll := s.w.rnd.IntN(100); {
	case roll < 42:
		in := takes{ev, weight, s.cap(), roll < 10}
		take := counter.Take{Key: "chat", Event: on, Weight: weight, Cap: in.cap}
		call.in, call.do = in, func(ctx context.Context) any {
			if in.tx {
				return s.takeItem(ctx, call, take)
			}
			return s.grantOf(key)(store.Take(ctx, take))
		}
	case roll < 52:
		in := adjusts{ev, weight, 1 + s.w.rnd.Int64N(4), s.cap(), roll < 45}
		call.in, call.do = in, func(ctx context.Context) any {
			adjust := counter.Adjust{Key: "chat", Event: on, From: in.from, To: in.to, Cap: in.cap}
			if in.tx {
				return s.adjustItem(ctx, call, adjust)
			}
			return s.grantOf(key)(store.Adjust(ctx, adjust))
		}
	case roll < 60:
		call.in, call.do = adds{ev, weight}, func(ctx context.Context) any {
			t, err := store.Add(ctx, counter.Add{Key: "chat", Event: on, Weight: weight})
			return s.total(key)(t, err)
		}
	case roll < 85:
		if s.w.rnd.IntN(4) == 0 { // a weight that it may have been settled to
			weight = 1 + s.w.rnd.Int64N(4)
		}
		in := refunds{ev, weight, roll < 68, roll >= 80}
		refund := counter.Refund{Key: "chat", Event: on, Weight: weight, Tombstone: in.first}
		call.in, call.do = in, func(ctx context.Context) any {
			if in.tx {
				return s.refundItem(ctx, call, refund)
			}
			return s.total(key)(store.Refund(ctx, refund))
		}
	case roll < 88:
		call.in, call.do = unkeyed{weight}, s.unkeyed(call, store, weight)
	case roll < 90:
		return s.erase(c)
	default:
		return s.read(c, key)
	}
	return call
}

// cap returns a cap that is often reached, and sometimes leaves no room at all.
func (s *counterStory) cap() int64 {
	if s.w.rnd.IntN(8) == 0 {
		return s.w.rnd.Int64N(2)
	}
	return 4 + s.w.rnd.Int64N(2)
}

func (s *counterStory) takeItem(ctx context.Context, call *call, take counter.Take) any {
	item, err := s.stores[call.caller.id].TakeItem(take)
	if err != nil {
		return said(nil, err)
	}
	return inTransaction(ctx, call, item.Item, func(reason types.CancellationReason) any { return s.grantOf(call.key)(item.Outcome(reason)) })
}

func (s *counterStory) adjustItem(ctx context.Context, call *call, adjust counter.Adjust) any {
	item, err := s.stores[call.caller.id].AdjustItem(adjust)
	if err != nil {
		return said(nil, err)
	}
	return inTransaction(ctx, call, item.Item, func(reason types.CancellationReason) any { return s.grantOf(call.key)(item.Outcome(reason)) })
}

func (s *counterStory) refundItem(ctx context.Context, call *call, refund counter.Refund) any {
	item, err := s.stores[call.caller.id].RefundItem(refund)
	if err != nil {
		return said(nil, err)
	}
	return inTransaction(ctx, call, item.Item, func(reason types.CancellationReason) any { return s.total(call.key)(item.Outcome(reason)) })
}

// inTransaction sends the item together with an effect. It sends it unchanged up to
// three times while the outcome is unknown or the row is in another transaction.
func inTransaction(ctx context.Context, call *call, item types.TransactWriteItem, outcome func(types.CancellationReason) any) any {
	for range 3 {
		_, err := call.caller.client.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{
			TransactItems: []types.TransactWriteItem{item, {Update: &types.Update{
				TableName: aws.String(effects), Key: row{"pk": s(call.key)},
				UpdateExpression: aws.String("ADD times :one"), ExpressionAttributeValues: row{":one": n(1)},
			}}},
		})
		var cancelled *types.TransactionCanceledException
		if err == nil {
			return committed{}
		}
		if errors.As(err, &cancelled) {
			if out := outcome(cancelled.CancellationReasons[0]); out != nil {
				return out
			}
		}
	}
	return nil
}

func (s *counterStory) unkeyed(call *call, store *counter.Store, weight int64) func(context.Context) any {
	return func(ctx context.Context) any {
		p := call.caller.current()
		p.once = true
		t, err := store.AddUnkeyed(ctx, counter.AddUnkeyed{Key: "chat", At: s.windows[call.key].start.Add(time.Minute), Weight: weight})
		if err != nil && !errors.Is(err, event.ErrUnknownOutcome) && s.w.written(p) != nil {
			return fmt.Errorf("it counted, and said %w", err) // a model never accepts that
		}
		return s.total(call.key)(t, err)
	}
}

func (s *counterStory) read(c *caller, key string) *call {
	at := pick(s.w.rnd, []time.Time{s.windows[key].start, s.windows[key].end.Add(-1)})
	return &call{caller: c, key: key, in: counts{}, do: func(ctx context.Context) any {
		count, err := s.stores[c.id].Get(ctx, "chat", at)
		if err != nil {
			return nil
		}
		return countOf{count.Used, count.Recorded}
	}}
}

// intrude lowers a count as another system, now and then below zero.
func (c *counterStory) intrude() {
	key := pick(c.w.rnd, c.keys)
	if c.older {
		c.count(key)
	}
	by := 1 + c.w.rnd.Int64N(3)
	least := by
	if c.w.rnd.IntN(3) == 0 {
		least = -10
	}
	_, err := c.w.raw.UpdateItem(context.Background(), &dynamodb.UpdateItemInput{
		TableName: aws.String("limits"), Key: row{"chatId": s("chat"), "date": s(c.windows[key].name)},
		UpdateExpression: aws.String("ADD #count :by"), ConditionExpression: aws.String("#count >= :least"),
		ExpressionAttributeNames:  map[string]string{"#count": "count"},
		ExpressionAttributeValues: row{":by": n(-by), ":least": n(least)},
	})
	if err == nil {
		c.w.happened(key, lowers{by}, nil)
	}
}

// erase erases all windows, while others write. The world notes what its requests
// delete.
func (s *counterStory) erase(c *caller) *call {
	stood := slices.Sorted(maps.Keys(s.w.rows()))
	call := &call{caller: c, key: s.keys[0], in: erasesAll{}}
	call.do = func(ctx context.Context) any {
		count, err := s.stores[c.id].Erase(ctx, "chat")
		if err != nil {
			return nil
		}
		s.w.mu.Lock()
		defer s.w.mu.Unlock()
		s.erasures = append(s.erasures, finished{c.current(), stood})
		return rowsErased(count)
	}
	return call
}

// finished is an Erase that ended without an error, and what stood before it.
type finished struct {
	part  *part
	stood []string
}

// complete reports whether each row that stood before the Erase was deleted until
// its end.
func (s *counterStory) complete(e finished) bool {
	for _, key := range e.stood {
		if !slices.ContainsFunc(s.w.parts, func(p *part) bool {
			switch p.in.(type) {
			case sweep, erasure:
				return p.key == key && p.start >= e.part.start && p.end <= e.part.end
			}
			return false
		}) {
			return false
		}
	}
	return true
}

func (s *counterStory) end() []*call {
	var calls []*call
	for _, key := range s.keys {
		calls = append(calls, s.read(s.w.callers[0], key))
	}
	return calls
}

// verdict adds up what each row records, and looks for what Erase should have deleted.
func (s *counterStory) verdict() string {
	for _, e := range s.erasures {
		if !s.complete(e) {
			return fmt.Sprintf("Erase from %d to %d has left a row of %v", e.part.start/4, e.part.end/4, e.stood)
		}
	}
	for key, r := range s.w.rows() {
		other := s.others(key)
		var sum, recorded int64
		for name := range r {
			if !strings.HasPrefix(name, "e_") {
				continue
			}
			recorded++
			var weight int64
			entry, _, _ := strings.Cut(strings.TrimPrefix(str(r, name), "="), "~")
			if _, err := fmt.Sscan(entry, &weight); err != nil {
				return err.Error()
			}
			sum += max(0, weight)
		}
		if num(r, "count") != sum+other || num(r, "recorded") != recorded {
			return fmt.Sprintf("%s counts %d and %d recorded, its entries give %d and %d, and others made %+d of it",
				key, num(r, "count"), num(r, "recorded"), sum, recorded, other)
		}
	}
	return s.w.effectsOnce()
}

// others is what other writers than recorded events did to the existing row.
func (s *counterStory) others(key string) (sum int64) {
	since := int64(-1)
	for _, p := range s.w.parts {
		switch p.in.(type) {
		case sweep, erasure:
			if p.key == key {
				since = p.start
			}
		}
	}
	for _, p := range s.w.parts {
		if p.key != key || p.start <= since {
			continue
		}
		switch in := p.in.(type) {
		case lowers:
			sum -= in.by
		case olderDay:
			sum += in.used
		}
	}
	for _, a := range s.w.arrivals {
		if in, ok := a.flight.part.in.(unkeyed); ok && a.flight.part.key == key && 4*a.step > since {
			sum += in.weight
		}
	}
	return sum
}
