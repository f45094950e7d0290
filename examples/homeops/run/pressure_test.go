package run

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/examples/homeops/queue"
	"github.com/homeops/ddbpatterns/examples/homeops/worker"
)

// outages are ways in which a database can be down: it cannot be reached, it
// takes no writes, it takes too long to answer.
var outages = map[string]dynamotest.Fault{
	"lost":   {Do: dynamotest.LoseRequest, Times: -1},
	"writes": {Do: dynamotest.InternalError, Op: "PutItem", Times: -1},
	"slow":   {Do: dynamotest.Delay(time.Minute), Times: -1},
}

// telegramSide plays Telegram: it has another update each time, and repeats
// what was not acknowledged.
type telegramSide struct {
	waiting []string
	refused int
}

func (s *telegramSide) tick(t *testing.T, l *live) {
	s.waiting = append(s.waiting, l.update())
	var still []string
	for _, update := range s.waiting {
		switch w := l.do(http.MethodPost, "/telegram", update); w.Code {
		case http.StatusOK:
		case http.StatusServiceUnavailable:
			if after, err := strconv.Atoi(w.Header().Get("Retry-After")); err != nil || after < 1 || after > 3600 {
				t.Errorf("503 with Retry-After %q", w.Header().Get("Retry-After"))
			}
			s.refused++
			still = append(still, update)
		default:
			t.Fatalf("answered %d", w.Code)
		}
	}
	s.waiting = still
}

// The database is down for 400 s, longer than three deliveries take. What was
// acknowledged is worked on afterwards, and Telegram keeps the rest.
func TestNothingDiesInAnOutage(t *testing.T) {
	t.Parallel()
	for name, fault := range outages {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, false, nil, func(t *testing.T, l *live) {
				var telegram telegramSide
				for range 5 {
					telegram.tick(t, l)
					time.Sleep(10 * time.Second)
				}
				l.disturb(fault)
				for range 40 {
					telegram.tick(t, l)
					time.Sleep(10 * time.Second)
				}
				if got := l.readiness(); !strings.HasPrefix(got, "503 database\n") || telegram.refused < 30 {
					t.Errorf("in an outage: %s, %d refused", got, telegram.refused)
				}
				for _, m := range l.memory.Left() {
					if m.Receives > 1 {
						t.Errorf("%s was received %d times", m.ID, m.Receives)
					}
				}
				l.heal()
				time.Sleep(time.Minute)
				if got := l.readiness(); !strings.HasPrefix(got, "200 ready\n") {
					t.Errorf("after it: %s", got)
				}
				for range 30 {
					telegram.tick(t, l)
					time.Sleep(10 * time.Second)
				}
				messages, activities := l.stored()
				if n := int(l.updates); len(telegram.waiting) > 0 || messages != n || activities != n || len(l.memory.Dead()) > 0 || l.memory.Len() > 0 {
					t.Errorf("of %d, %d messages and %d activities are stored, %d dead, %d waiting, %d never taken", n, messages, activities, len(l.memory.Dead()), l.memory.Len(), len(telegram.waiting))
				}
				l.log.Until(t, `level=WARN msg="the database does not answer: nothing is worked on" error="`)
				l.log.Until(t, `msg="the database answers again"`)
				if n := strings.Count(l.log.String(), "the database does not answer: nothing"); n != 1 {
					t.Errorf("said %d times", n)
				}
				if err := l.end(); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// In an outage the database is asked only every few seconds.
func TestAnOutageIsCheap(t *testing.T) {
	t.Parallel()
	inBubble(t, false, nil, func(t *testing.T, l *live) {
		l.disturb(dynamotest.Fault{Do: dynamotest.LoseRequest, Times: -1})
		for range 10 {
			l.post()
		}
		time.Sleep(time.Minute)
		cost := l.db.Embedded.Tap().Meter(func() { time.Sleep(10 * time.Minute) })
		if cost.Requests < 100 || cost.Requests > 3*2*300 { // the SDK tries three times
			t.Errorf("%d requests in ten minutes", cost.Requests)
		}
	})
}

// A message that fails while the database answers is that message's trouble:
// others are worked on, and it ends among the dead letters.
func TestOneMessagesTroubleStopsNothing(t *testing.T) {
	t.Parallel()
	inBubble(t, false, nil, func(t *testing.T, l *live) {
		l.disturb(dynamotest.Fault{
			Do: dynamotest.LoseRequest, Op: "PutItem", Table: "homeops-messages", Times: -1,
			Key: map[string]types.AttributeValue{"chatId": &types.AttributeValueMemberS{Value: "-1"}},
		})
		for range 60 {
			if !l.post() {
				t.Error("not taken")
			}
			time.Sleep(10 * time.Second)
			if got := l.readiness(); !strings.HasPrefix(got, "200 ready\n") {
				t.Fatal(got)
			}
		}
		messages, _ := l.stored()
		if dead := l.memory.Dead(); messages != 59 || len(dead) != 1 || dead[0].Attributes[queue.ChatID] != "-1" {
			t.Errorf("%d stored, dead %v", messages, dead)
		}
	})
}

// Even with a slow database, all that is acknowledged when the process ends is
// worked on: no more is acknowledged. The hour's job takes a place, too.
func TestASlowDatabaseMakesTheQueueShort(t *testing.T) {
	t.Parallel()
	for _, slow := range []time.Duration{20 * time.Millisecond, 200 * time.Millisecond, 500 * time.Millisecond, 2 * time.Second} {
		inBubble(t, false, []dynamotest.Fault{{Do: dynamotest.Delay(slow), Times: -1}}, func(t *testing.T, l *live) {
			acknowledged := 0
			for range 300 {
				if l.post() {
					acknowledged++
				}
			}
			err := l.end()
			l.heal()
			messages, activities := l.stored()
			if err != nil || messages != acknowledged || activities != acknowledged || acknowledged < 1 || slow > 100*time.Millisecond && acknowledged == 300 {
				t.Errorf("%v a request: %v: of %d acknowledged %d and %d are stored", slow, err, acknowledged, messages, activities)
			}
			t.Logf("%v a request: %d acknowledged, %d stored", slow, acknowledged, messages)
		})
	}
}

// A database that becomes slow shows it only after a while. What was taken until
// then may be lost if the process ends at once, and the log has it. Later
// nothing is lost.
func TestADatabaseThatBecomesSlow(t *testing.T) {
	t.Parallel()
	const every = 50 * time.Millisecond
	for after, most := range map[time.Duration]int{2 * time.Second: 25, 30 * time.Second: 25, 5 * time.Minute: 0} {
		inBubble(t, false, nil, func(t *testing.T, l *live) {
			l.post()
			time.Sleep(time.Second)
			l.disturb(dynamotest.Fault{Do: dynamotest.Delay(2 * time.Second), Times: -1})
			acknowledged := 1
			for range after / every {
				if l.post() {
					acknowledged++
				}
				time.Sleep(every)
			}
			err := l.end()
			l.heal()
			messages, _ := l.stored()
			lost := acknowledged - messages
			if lost > most || lost < 0 || (err != nil) != (lost > 0) || acknowledged == int(l.updates) {
				t.Errorf("SIGTERM after %v: %v: of %d, %d are acknowledged and %d stored", after, err, l.updates, acknowledged, messages)
			}
			logged := strings.Count(l.log.String(), `msg="an item is lost with the queue"`) + strings.Count(l.log.String(), `msg="a dead letter is lost with the queue"`)
			if logged != lost {
				t.Errorf("%d are lost and %d in the log", lost, logged)
			}
			t.Logf("SIGTERM after %v: of %d, %d acknowledged, %d lost", after, l.updates, acknowledged, lost)
		})
	}
}

// A message that failed, and would come again in three minutes, is tried once
// more when the process ends.
func TestTheEndTriesOnceMore(t *testing.T) {
	t.Parallel()
	inBubble(t, false, nil, func(t *testing.T, l *live) {
		l.disturb(dynamotest.Fault{Do: dynamotest.LoseRequest, Op: "PutItem", Table: "homeops-messages", Times: 3})
		l.post()
		time.Sleep(30 * time.Second)
		if messages, _ := l.stored(); messages != 0 || l.memory.Len() != 1 {
			t.Fatalf("%d stored, %d waiting", messages, l.memory.Len())
		}
		if err := l.end(); err != nil {
			t.Error(err)
		}
		if messages, _ := l.stored(); messages != 1 {
			t.Error("not stored")
		}
	})
}

// So is a message that fails while the process ends, if time is left.
func TestWhatFailsAtTheEndIsTriedAgain(t *testing.T) {
	t.Parallel()
	inBubble(t, false, []dynamotest.Fault{{Do: dynamotest.Delay(200 * time.Millisecond), Times: -1}}, func(t *testing.T, l *live) {
		for range 6 {
			l.post()
		}
		l.disturb(dynamotest.Fault{
			Do: dynamotest.LoseRequest, Op: "PutItem", Table: "homeops-messages", Times: 3, // after which the SDK gives up
			Key: map[string]types.AttributeValue{"chatId": &types.AttributeValueMemberS{Value: "-5"}},
		})
		if err := l.end(); err != nil {
			t.Error(err)
		}
		if messages, _ := l.stored(); messages != 6 || !strings.Contains(l.log.String(), `msg="message goes back to the queue" delivery=m-6 `) {
			t.Errorf("%d stored: %s", messages, l.log)
		}
	})
}

// A queue that lasts goes on taking updates, but the worker takes none from it.
func TestAQueueThatLastsTakesUpdatesInAnOutage(t *testing.T) {
	t.Parallel()
	inBubble(t, true, nil, func(t *testing.T, l *live) {
		l.disturb(dynamotest.Fault{Do: dynamotest.LoseRequest, Times: -1})
		for range 100 {
			if !l.post() {
				t.Error("not taken")
			}
			time.Sleep(4 * time.Second)
		}
		if got, want := l.readiness(), "200 ready\ndatabase\nwaiting 100\nin flight 0\ndead 0\n"; got != want {
			t.Errorf("readiness %q, want %q", got, want)
		}
		for _, m := range l.lasting.Left() {
			if m.Receives > 1 {
				t.Errorf("%s was received %d times", m.ID, m.Receives)
			}
		}
		l.heal()
		time.Sleep(5 * time.Minute)
		if messages, _ := l.stored(); messages != 100 || l.lasting.Len() != 0 {
			t.Errorf("%d stored, %d left", messages, l.lasting.Len())
		}
	})
}

// newGate returns a pressure without a service; the test says whether its
// database is down.
func newGate(empty time.Duration) (p *pressure, q *queue.Memory, down *atomic.Bool) {
	q, down = queue.NewMemory(queue.Config{}), new(atomic.Bool)
	p = newPressure(q, q, empty, discard, func(context.Context) error {
		if down.Load() {
			return errTrouble
		}
		return nil
	})
	p.pollers = 2
	return p, q, down
}

// The queue takes as many messages as are in hand and as the pollers can work
// on at the end. To others it says when to come again.
func TestRoom(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		empty, takes time.Duration
		room         int
		again        time.Duration // with one too many
	}{
		{0, time.Second, 2, time.Second},
		{10 * time.Second, 10 * time.Second, 4, 5 * time.Second},
		{10 * time.Second, 4 * time.Second, 6, 2 * time.Second},
		{10 * time.Second, 16 * time.Second, 2, 8 * time.Second},
		{10 * time.Second, 100 * time.Millisecond, 202, time.Second},
		{time.Second, 10 * time.Minute, 2, time.Minute},
		{10 * time.Millisecond, 0, 22, time.Second},
	} {
		p, _, _ := newGate(tc.empty)
		p.begin(tc.takes / readsADelivery)
		var err error
		n := 0
		for ; err == nil; n++ {
			_, err = p.Send(t.Context(), "x", nil)
		}
		busy, ok := errors.AsType[*queue.BusyError](err)
		if n-1 != tc.room || !ok || busy.After != tc.again {
			t.Errorf("%v at %v each: %d taken, want %d; %v, %+v", tc.empty, tc.takes, n-1, tc.room, err, busy)
		}
	}
}

// Deliveries that succeed show how long one takes; later ones weigh more. While
// all pollers are at work on theirs for longer, that time counts.
func TestWhatADeliveryTakes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p, _, _ := newGate(10 * time.Second)
		go p.watch(t.Context())
		takes := func() time.Duration {
			p.mu.Lock()
			defer p.mu.Unlock()
			return p.aDelivery()
		}
		p.begin(time.Second / readsADelivery)
		deliver := func(err error) {
			if _, err := p.Queue.Send(t.Context(), "x", nil); err != nil {
				t.Fatal(err)
			}
			received, _ := p.Receive(t.Context(), 1, 0)
			time.Sleep(5 * time.Second)
			p.observe(t.Context(), worker.Report{Delivery: received[0], Err: err})
			synctest.Wait()
		}
		deliver(nil)
		if got := takes(); got != 2*time.Second {
			t.Errorf("after one of 5 s: %v", got)
		}
		deliver(errTrouble)
		if got := takes(); got != 2*time.Second {
			t.Errorf("a failure counts: %v", got)
		}
		take := func() {
			if _, err := p.Queue.Send(t.Context(), "x", nil); err != nil {
				t.Fatal(err)
			}
			if received, err := p.Receive(t.Context(), 1, 0); err != nil || len(received) != 1 {
				t.Fatal(received, err)
			}
		}
		take()
		time.Sleep(time.Minute)
		if got := takes(); got != 2*time.Second {
			t.Errorf("one poller alone is slow: %v", got)
		}
		take()
		if got := takes(); got != 2*time.Second {
			t.Errorf("the other has just begun: %v", got)
		}
		time.Sleep(30 * time.Second)
		if got := takes(); got != 30*time.Second {
			t.Errorf("all are slow: %v", got)
		}
	})
}

var errTrouble = errors.New("trouble")

// A poll that waits when a delivery fails brings nothing, and the next waits
// until the database has answered.
func TestNothingIsReceivedInDoubt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p, q, down := newGate(10 * time.Second)
		ctx, cancel := context.WithCancel(t.Context())
		go p.watch(ctx)
		defer cancel()
		down.Store(true)
		began := time.Now()
		polled := make(chan error)
		go func() {
			received, err := p.Receive(t.Context(), 1, 20*time.Second)
			if len(received) > 0 {
				err = errors.New("received")
			}
			polled <- err
		}()
		synctest.Wait()
		p.observe(t.Context(), worker.Report{Err: errTrouble})
		if err := <-polled; err != nil || time.Since(began) != 0 {
			t.Errorf("the poll ends with %v after %v", err, time.Since(began))
		}
		if _, err := q.Send(t.Context(), "x", nil); err != nil {
			t.Fatal(err)
		}
		time.AfterFunc(time.Minute+time.Second, func() { down.Store(false) })
		received, err := p.Receive(t.Context(), 1, 0)
		if err != nil || len(received) != 1 || time.Since(began) != time.Minute+probeEvery {
			t.Errorf("received %v, %v after %v", received, err, time.Since(began))
		}
		if p.isDown() || p.takes != 0 {
			t.Errorf("down %v, a delivery takes %v", p.isDown(), p.takes)
		}
		p.observe(t.Context(), worker.Report{Err: errTrouble})
		synctest.Wait()
		ended, stop := context.WithCancel(t.Context())
		down.Store(true)
		p.observe(t.Context(), worker.Report{Err: errTrouble})
		synctest.Wait()
		stop()
		if _, err := p.Receive(ended, 1, 0); !errors.Is(err, context.Canceled) {
			t.Errorf("the wait ends with %v", err)
		}
	})
}

// A message that Telegram asks to wait takes no room until it comes again, does
// not count as the database's trouble, and is not brought forward at the end.
func TestWhatIsHeldBackTakesNoRoom(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p, q, _ := newGate(0) // room for two
		send := func() bool {
			_, err := p.Send(t.Context(), "x", nil)
			return err == nil
		}
		for range 5 {
			if !send() {
				t.Fatal("no room")
			}
			received, err := p.Receive(t.Context(), 1, 0)
			if err != nil || len(received) != 1 {
				t.Fatal(received, err)
			}
			if err := q.Release(t.Context(), received[0].Receipt, time.Hour); err != nil {
				t.Fatal(err)
			}
			p.observe(t.Context(), worker.Report{Delivery: received[0], Err: fmt.Errorf("worker: %w", &queue.LaterError{After: time.Hour, Err: errTrouble})})
		}
		p.handBack(t.Context())
		if got, err := p.Receive(t.Context(), 1, 0); err != nil || len(got) != 0 {
			t.Errorf("brought forward: %v, %v", got, err)
		}
		taken := 0
		for send() {
			taken++
		}
		if taken != 2 {
			t.Errorf("there is room for %d", taken)
		}
		if p.memory.Len() != 7 {
			t.Errorf("%d in the queue", p.memory.Len())
		}
		time.Sleep(time.Hour)
		if send() {
			t.Error("what has waited takes no room")
		}
	})
}

// If the queue lasts, nobody asks which messages are held back, and the process
// does not note them.
func TestAQueueThatLastsHoldsBackItself(t *testing.T) {
	t.Parallel()
	p := newPressure(brokenQueue{}, nil, 0, discard, nil)
	p.observe(t.Context(), worker.Report{Delivery: queue.Message{Receipt: "r"}, Err: &queue.LaterError{After: time.Hour, Err: errTrouble}})
	if len(p.later) > 0 || p.doubt {
		t.Errorf("kept %v, in doubt %v", p.later, p.doubt)
	}
}

// Trouble with the queue itself is reported, and not taken for the database's.
func TestTroubleOfTheQueueIsTold(t *testing.T) {
	t.Parallel()
	p := newPressure(brokenQueue{}, nil, 0, discard, nil)
	if _, err := p.Receive(t.Context(), 1, 0); !errors.Is(err, errTrouble) {
		t.Errorf("got %v", err)
	}
}

type brokenQueue struct{ queue.Queue }

func (brokenQueue) Receive(context.Context, int, time.Duration) ([]queue.Message, error) {
	return nil, errTrouble
}
