package histories_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/record"
	"github.com/homeops/ddbpatterns/schema"
)

// exactStory is about one balance of an exact Kind. Its first events are too old
// before the end of the history.
type exactStory struct {
	averages
	rows   []*record.Rows[balance]
	eraser *record.Rows[balance] // its requests arrive at once
	erases bool
}

const (
	exactKey       = "POINTS#ann"
	exactRetention = 30 * 24 * time.Hour
	exactSkew      = 10 * time.Minute
)

func newExact(w *world) story {
	e := &exactStory{averages: averages{w: w, pk: exactKey}, erases: w.rnd.IntN(2) == 0}
	kind := record.Kind[balance]{
		Package: "points", Type: "POINTS", Count: "n", Attributes: []string{"sum"}, Retention: exactRetention,
		Decode: func(r record.Item) (balance, error) { return balanceOf(r), nil },
	}
	for _, c := range w.callers {
		rows, err := record.New(c.client, "points", kind, &record.Config{Now: c.now, Rand: c.random, MaxSkew: exactSkew, ConsistentReads: true})
		if err != nil {
			panic(err)
		}
		e.rows = append(e.rows, rows)
	}
	var err error
	if e.eraser, err = record.New(w.raw, "points", kind, nil); err != nil {
		panic(err)
	}
	return e
}

// exactEvent returns the nth event. The time of the first ones is so long ago that
// their rows expire during the history.
func exactEvent(n int) event.Event {
	at := epoch.Add(-time.Duration(n) * time.Hour)
	if n < oldExact {
		at = epoch.Add(-exactRetention + exactSkew + time.Duration(n+1)*2*time.Hour)
	}
	ev, err := event.New(at, "event", fmt.Sprint(n))
	if err != nil {
		panic(err)
	}
	return ev
}

func (e *exactStory) tables() []schema.Table {
	return []schema.Table{e.rows[0].Table(), {Name: effects, Key: schema.Key{Partition: schema.String("pk")}}}
}

func (*exactStory) keyOf(r row) string { return strings.TrimSuffix(str(r, "pk"), "##") }

// gather adds the nonces of the events' rows to the record.
func (*exactStory) gather(all, item row) row {
	if all == nil {
		all = row{}
	}
	if _, ev, ok := strings.Cut(str(item, "sk"), "#"); ok {
		all[ev] = item["by"]
		return all
	}
	maps.Copy(all, item)
	return all
}

func (*exactStory) begin() []*call       { return nil }
func (*exactStory) delay() time.Duration { return exactSkew - 3*clockRange }
func (*exactStory) leaps() []time.Duration {
	return []time.Duration{time.Minute, 5 * time.Minute, 2 * time.Hour, 6 * time.Hour}
}

// intrude erases the balance from outside.
func (e *exactStory) intrude() {
	if !e.erases {
		return
	}
	before := len(e.w.rows())
	n, err := e.eraser.Erase(context.Background(), exactKey)
	if err != nil {
		panic(err)
	}
	if before > 0 && n > 0 {
		e.w.happened(exactKey, erased{}, nil)
	}
}

func (e *exactStory) next(c *caller) *call {
	n := e.w.rnd.IntN(mostExact)
	in := counts1{event: n, next: e.w.rnd.IntN(2) == 0, tx: e.w.rnd.IntN(4) == 0}
	in.floor = !in.next && amountOf(n) < 0
	switch roll := e.w.rnd.IntN(10); {
	case roll < 2:
		return e.read(c)
	case roll < 4:
		return e.all(c)
	}
	call := &call{caller: c, key: exactKey, in: in}
	call.do = func(ctx context.Context) any {
		a := record.Apply{Partition: exactKey, Sort: "points", Event: exactEvent(n)}
		if in.next {
			a.Next = func(r record.Item, _ event.Event) (record.Item, error) { return computed(r, n), nil }
		} else {
			a.Add = map[string]int64{"sum": amountOf(n)}
		}
		if in.floor {
			a.AtLeast = map[string]int64{"sum": 0}
		}
		if in.tx {
			return e.inTransaction(ctx, call, a)
		}
		return exactly(e.rows[c.id].Apply(ctx, a))
	}
	return call
}

func computed(r record.Item, n int) record.Item {
	return record.Item{"sum": record.Int(num(r, "sum") + amountOf(n)), "last": record.Int(int64(n))}
}

// exactly is the answer of a call, nil if the model is not to judge it.
func exactly(out event.Outcome, err error) any {
	floor, below := errors.AsType[*record.FloorError](err)
	switch {
	case below:
		return belowFloor{floor.Stands}
	case errors.Is(err, event.ErrTooOld):
		return tooOld{}
	case err != nil && strings.Contains(err.Error(), "no known reason"):
		return err // a model never accepts that
	case err != nil || out == 0:
		return nil
	case out == event.Created:
		return created{}
	}
	return duplicate{}
}

// inTransaction sends the item together with an effect, unchanged while its outcome
// is unknown.
func (e *exactStory) inTransaction(ctx context.Context, call *call, a record.Apply) any {
	item, err := e.rows[call.caller.id].ApplyItem(ctx, a)
	if err != nil {
		return exactly(0, err)
	}
	for range 3 {
		_, err := call.caller.client.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{
			TransactItems: append([]types.TransactWriteItem{{Update: &types.Update{
				TableName: aws.String(effects), Key: row{"pk": s(call.key)},
				UpdateExpression: aws.String("ADD times :one"), ExpressionAttributeValues: row{":one": n(1)},
			}}}, item.Items...),
		})
		if err == nil {
			return committed{}
		}
		if cancelled, ok := errors.AsType[*types.TransactionCanceledException](err); ok {
			if out := exactly(item.Outcome(cancelled.CancellationReasons[1:])); out != nil {
				return out
			}
		}
	}
	return nil
}

// all is a call of ApplyAll. Each of its writes is a move, and so is what it says
// about each event.
func (e *exactStory) all(c *caller) *call {
	numbers := e.w.rnd.Perm(mostExact)[:1+e.w.rnd.IntN(6)]
	in := countsAll{events: numbers, next: e.w.rnd.IntN(2) == 0}
	return &call{caller: c, key: exactKey, in: in, do: func(ctx context.Context) any {
		of := map[event.Event]int{}
		a := record.ApplyAll{Partition: exactKey, Sort: "points"}
		for _, n := range numbers {
			a.Events = append(a.Events, exactEvent(n))
			of[exactEvent(n)] = n
		}
		if in.next {
			a.Next = func(r record.Item, ev event.Event) (record.Item, error) { return computed(r, of[ev]), nil }
		} else {
			a.Add = func(ev event.Event) map[string]int64 { return map[string]int64{"sum": amountOf(of[ev])} }
		}
		part := c.current()
		outcomes, err := e.rows[c.id].ApplyAll(ctx, a)
		reasons := map[int]error{}
		if left, ok := errors.AsType[*event.LeftoverError](err); ok {
			for _, l := range left.Leftovers {
				reasons[l.Index] = l.Err
			}
		}
		for i, out := range outcomes {
			if answer := exactly(out, reasons[i]); answer != nil {
				e.w.tells(part, told{numbers[i]}, answer)
			}
		}
		return nil
	}}
}

func (e *exactStory) read(c *caller) *call {
	return &call{caller: c, key: exactKey, in: fetches{}, do: func(ctx context.Context) any {
		b, _, err := e.rows[c.id].Get(ctx, exactKey, "points")
		if err != nil {
			return nil
		}
		return b.figures
	}}
}

func (e *exactStory) end() []*call { return []*call{e.read(e.w.callers[0])} }

// verdict counts the effects, and the times that an event was told that it is new.
func (e *exactStory) verdict() string {
	var times, want int64
	out, err := e.w.raw.Scan(context.Background(), &dynamodb.ScanInput{TableName: aws.String(effects)})
	if err != nil {
		return err.Error()
	}
	for _, item := range out.Items {
		times += num(item, "times")
	}
	for _, a := range e.w.arrivals {
		if in, ok := a.flight.part.in.(counts1); ok && in.tx {
			want++
		}
	}
	if times != want {
		return "the effect happened " + strconv.FormatInt(times, 10) + " times, and " + strconv.FormatInt(want, 10) + " transactions wrote it"
	}
	news := map[int]int{}
	for _, p := range e.w.parts {
		if p.out != (created{}) && p.out != (committed{}) {
			continue
		}
		switch in := p.in.(type) {
		case counts1:
			news[in.event]++
		case told:
			news[in.event]++
		}
	}
	for n, times := range news {
		if times > 1 && !e.erases {
			return fmt.Sprintf("event %d was told %d times that it is new", n, times)
		}
	}
	return ""
}
