package counter_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/counter"
	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/recordtest"
)

// A random history gives what a model of it gives, whatever is lost on the
// way; at the end the count is the sum of what the row holds.
func TestHistories(t *testing.T) {
	t.Parallel()
	for seed := range uint64(24) {
		e := open(t, counter.Config{MaxRecorded: 6})
		random := rand.New(rand.NewPCG(seed, 1))
		m := model{events: map[int]modelled{}, most: 6}
		for step := range 60 {
			if random.IntN(3) == 0 {
				e.db.Inject(disturbance(random))
			}
			did, got, want := e.step(t, random, &m)
			if got != want {
				t.Fatalf("seed %d, step %d, %s: got %s, want %s", seed, step, did, got, want)
			}
			e.db.Tap().Heal() // a refusal may have left a part of a fault unspent
		}
		count := e.get(t, day)
		if held, n := sum(t, e.row(t, day)); held != m.used || count.Used != m.used || count.Recorded != n || n != int64(len(m.events)) {
			t.Errorf("seed %d: Get = %v, the row holds %d of %d events; the model %d of %d", seed, count, held, n, m.used, len(m.events))
		}
	}
}

// disturbance loses up to two requests or replies, so that the SDK's third
// attempt is heard.
func disturbance(random *rand.Rand) dynamotest.Fault {
	f := dynamotest.Fault{Do: dynamotest.LoseReply, Op: "UpdateItem", Nth: 1 + random.IntN(2), Times: 1 + random.IntN(2)}
	if random.IntN(2) == 0 {
		f.Do = dynamotest.LoseRequest
	}
	if random.IntN(4) == 0 {
		f.Op, f.Nth = "TransactWriteItems", 1
	}
	return f
}

// step makes a random call, of the store and of the model.
func (e *env) step(t *testing.T, random *rand.Rand, m *model) (did, got, want string) {
	t.Helper()
	id := random.IntN(9)
	ev, weight := message(t, noon, id), int64(id%3+1)
	if random.IntN(10) == 0 {
		weight++
	}
	switch random.IntN(7) {
	case 0:
		in := counter.Take{Key: chat, Event: ev, Cap: random.Int64N(7), Weight: weight}
		g, err := e.Take(t.Context(), in)
		return fmt.Sprintf("event %d: Take %d of %d", id, weight, in.Cap), granted(g, err), granted(m.take(id, in))
	case 1:
		in := counter.Take{Key: chat, Event: ev, Cap: random.Int64N(7), Weight: weight}
		var g counter.Grant
		item, err := e.TakeItem(in)
		if err == nil {
			g, err = e.inTransaction(t, item.Item, item.Outcome, item.Committed)
		}
		return fmt.Sprintf("event %d: TakeItem %d of %d", id, weight, in.Cap), granted(g, err), granted(unheard(m.take(id, in)))
	case 2:
		sum, err := e.Add(t.Context(), counter.Add{Key: chat, Event: ev, Weight: weight})
		return fmt.Sprintf("event %d: Add %d", id, weight), totalled(sum, err), totalled(m.add(id, weight))
	case 3:
		in := counter.Adjust{Key: chat, Event: ev, From: weight, To: 1 + random.Int64N(4), Cap: random.Int64N(7)}
		g, err := e.Adjust(t.Context(), in)
		return fmt.Sprintf("event %d: Adjust %d to %d of %d", id, in.From, in.To, in.Cap), granted(g, err), granted(m.adjust(id, in))
	case 4:
		in := counter.Adjust{Key: chat, Event: ev, From: weight, To: 1 + random.Int64N(4), Cap: random.Int64N(7)}
		var g counter.Grant
		item, err := e.AdjustItem(in)
		if err == nil {
			g, err = e.inTransaction(t, item.Item, item.Outcome, item.Committed)
		}
		return fmt.Sprintf("event %d: AdjustItem %d to %d of %d", id, in.From, in.To, in.Cap), granted(g, err), granted(unheard(m.adjust(id, in)))
	}
	in := counter.Refund{Key: chat, Event: ev, Weight: weight, Tombstone: random.IntN(4) == 0}
	sum, err := e.Refund(t.Context(), in)
	return fmt.Sprintf("event %d: Refund %d, tombstone %v", id, weight, in.Tombstone), totalled(sum, err), totalled(m.refund(id, in))
}

// inTransaction sends the action, again by hand as often as the SDK gives up.
func (e *env) inTransaction(t testing.TB, item types.TransactWriteItem, outcome func(types.CancellationReason) (counter.Grant, error), committed func() counter.Grant) (counter.Grant, error) {
	t.Helper()
	for {
		_, err := recordtest.Impatient(e.db.Client()).TransactWriteItems(t.Context(), &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{item}})
		var cancelled *types.TransactionCanceledException
		switch {
		case err == nil:
			return committed(), nil
		case errors.As(err, &cancelled):
			return outcome(cancelled.CancellationReasons[0])
		}
	}
}

func granted(g counter.Grant, err error) string {
	return fmt.Sprint(g.OK, g.Outcome, g.Refunded, g.Used, g.Cap, g.Remaining, err)
}

func totalled(total counter.Total, err error) string {
	return fmt.Sprint(total.Outcome, total.Refunded, total.Used, err)
}

// model is what the package promises, without loss, repetition or haste.
type model struct {
	events map[int]modelled
	used   int64
	most   int
}

// modelled is an event: its state is held, settled or refunded.
type modelled struct {
	state  string
	weight int64
}

// grant is an answer with what it says of the cap.
func (m *model) grant(g counter.Grant, most int64) (counter.Grant, error) {
	g.Used, g.Cap, g.Remaining = m.used, most, max(0, most-m.used)
	return g, nil
}

// known is the answer to who takes, adds or settles what is recorded.
func (m *model) known(e modelled, most int64) (counter.Grant, error) {
	gone := e.state == "refunded"
	return m.grant(counter.Grant{OK: !gone, Total: counter.Total{Outcome: event.Duplicate, Refunded: gone}}, most)
}

func (m *model) take(id int, in counter.Take) (counter.Grant, error) {
	e, known := m.events[id]
	switch {
	case known && e.state == "held" && e.weight != in.Weight:
		return counter.Grant{}, &counter.WeightError{Recorded: e.weight, Given: in.Weight}
	case known:
		return m.known(e, in.Cap)
	case m.used+in.Weight > in.Cap:
		return m.grant(counter.Grant{}, in.Cap)
	case len(m.events) == m.most:
		return counter.Grant{}, counter.ErrFull
	}
	m.events[id] = modelled{"held", in.Weight}
	m.used += in.Weight
	return m.grant(counter.Grant{OK: true, Total: counter.Total{Outcome: event.Created}}, in.Cap)
}

// unheard is the answer of an action, which does not hear the count when it
// succeeds.
func unheard(g counter.Grant, err error) (counter.Grant, error) {
	if g.First() {
		g.Used, g.Remaining = counter.Unknown, counter.Unknown
	}
	return g, err
}

func (m *model) add(id int, weight int64) (counter.Total, error) {
	e, known := m.events[id]
	switch {
	case known && e.state == "held" && e.weight != weight:
		return counter.Total{}, &counter.WeightError{Recorded: e.weight, Given: weight}
	case known:
		return counter.Total{Outcome: event.Duplicate, Refunded: e.state == "refunded", Used: m.used}, nil
	case len(m.events) == m.most:
		return counter.Total{}, counter.ErrFull
	}
	m.events[id] = modelled{"held", weight}
	m.used += weight
	return counter.Total{Outcome: event.Created, Used: m.used}, nil
}

func (m *model) adjust(id int, in counter.Adjust) (counter.Grant, error) {
	e, known := m.events[id]
	switch {
	case !known:
		return counter.Grant{}, counter.ErrNotFound
	case e.state == "refunded", e.state == "settled" && e.weight == in.To:
		return m.known(e, in.Cap)
	case e.state == "settled":
		return counter.Grant{}, &counter.WeightError{Recorded: e.weight, Given: in.To}
	case e.weight != in.From:
		return counter.Grant{}, &counter.WeightError{Recorded: e.weight, Given: in.From}
	case in.To > in.From && m.used+in.To-in.From > in.Cap:
		return m.grant(counter.Grant{}, in.Cap)
	}
	m.events[id] = modelled{"settled", in.To}
	m.used += in.To - in.From
	return m.grant(counter.Grant{OK: true, Total: counter.Total{Outcome: event.Created}}, in.Cap)
}

func (m *model) refund(id int, in counter.Refund) (counter.Total, error) {
	e, known := m.events[id]
	switch {
	case !known && !in.Tombstone:
		return counter.Total{}, counter.ErrNotFound
	case !known && len(m.events) == m.most:
		return counter.Total{}, counter.ErrFull
	case !known:
		m.events[id] = modelled{"refunded", in.Weight}
	case e.weight != in.Weight:
		return counter.Total{}, &counter.WeightError{Recorded: e.weight, Given: in.Weight}
	case e.state == "refunded":
		return counter.Total{Outcome: event.Duplicate, Refunded: true, Used: m.used}, nil
	default:
		m.events[id] = modelled{"refunded", in.Weight}
		m.used -= in.Weight
	}
	return counter.Total{Outcome: event.Created, Refunded: true, Used: m.used}, nil
}
