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
				if n := len(l.memory.Left()); n > 5 {
					t.Errorf("%d were taken in the outage", n)
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

// Cheap messages come first, then dear ones as fast as they are taken, and then
// SIGTERM. At up to 60 ms for each request of the database everything that was
// acknowledged is stored. If it is slower, what is lost is in the log, and never more
// than may wait. The hour's job takes a place, too.
func TestSIGTERMUnderLoad(t *testing.T) {
	t.Parallel()
	for slow, most := range map[time.Duration]int{20 * time.Millisecond: 0, 60 * time.Millisecond: 0, 2 * time.Second: 22} {
		inBubble(t, false, nil, func(t *testing.T, l *live) {
			acknowledged := 0
			post := func(update string) {
				if l.do(http.MethodPost, "/telegram", update).Code == http.StatusOK {
					acknowledged++
				}
			}
			for range 40 {
				post(strings.Replace(l.update(), "Jag har diskat", "God morgon", 1))
				time.Sleep(200 * time.Millisecond)
			}
			l.disturb(dynamotest.Fault{Do: dynamotest.Delay(slow), Times: -1})
			for range 400 {
				post(l.update())
			}
			err := l.end()
			l.heal()
			messages, _ := l.stored()
			lost := acknowledged - messages
			if lost > most || lost < 0 || (err != nil) != (lost > 0) || acknowledged != 62 {
				t.Errorf("%v a request: %v: of %d acknowledged, %d are stored", slow, err, acknowledged, messages)
			}
			if n := strings.Count(l.log.String(), "is lost with the queue"); n != lost {
				t.Errorf("%d are lost and %d in the log", lost, n)
			}
			t.Logf("%v a request: %d acknowledged, %d lost", slow, acknowledged, lost)
		})
	}
}

// A queue in memory has room for those in hand and those that the pollers can work on
// at the end, a second each. To others the entrance says when to come again. What the
// worker sends is taken.
func TestRoom(t *testing.T) {
	t.Parallel()
	for empty, room := range map[time.Duration]int{0: 2, 900 * time.Millisecond: 2, time.Second: 4, 10 * time.Second: 22} {
		g, _, _ := newTestGate(empty)
		var err error
		n := 0
		for ; err == nil; n++ {
			_, err = entrance{g}.Send(t.Context(), "x", nil)
		}
		busy, ok := errors.AsType[*queue.BusyError](err)
		if n-1 != room || !ok || busy.After != time.Second {
			t.Errorf("%v: %d taken, want %d; %v", empty, n-1, room, err)
		}
		if _, err := g.Send(t.Context(), "x", nil); err != nil {
			t.Errorf("the worker's: %v", err)
		}
	}
}

// An hour's jobs may be more than the updates that may wait: none is refused.
func TestTheHourHasRoom(t *testing.T) {
	t.Parallel()
	inBubble(t, false, []dynamotest.Fault{{Do: dynamotest.Delay(20 * time.Millisecond), Times: -1}}, func(t *testing.T, l *live) {
		for range 40 { // households
			update := strings.Replace(l.update(), `"id":7,`, fmt.Sprintf(`"id":%d,`, 7+l.updates), 1)
			if w := l.do(http.MethodPost, "/telegram", update); w.Code != http.StatusOK {
				t.Fatal(w.Code)
			}
			time.Sleep(time.Second)
		}
		time.Sleep(10 * time.Hour)
		if got := l.log.String(); strings.Contains(got, "goes back") || l.memory.Len() > 0 {
			t.Errorf("%d left: %s", l.memory.Len(), got)
		}
	})
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

// newTestGate returns a gate without a service; the test says whether its
// database is down.
func newTestGate(empty time.Duration) (g *gate, q *queue.Memory, down *atomic.Bool) {
	q, down = queue.NewMemory(queue.Config{}), new(atomic.Bool)
	g = newGate(q, q, empty, discard, func(context.Context) error {
		if down.Load() {
			return errTrouble
		}
		return nil
	})
	g.pollers = 2
	return g, q, down
}

var errTrouble = errors.New("trouble")

// A poll that waits when a delivery fails brings nothing, and the next waits
// until the database has answered.
func TestNothingIsReceivedInDoubt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g, q, down := newTestGate(10 * time.Second)
		ctx, cancel := context.WithCancel(t.Context())
		go g.watch(ctx)
		defer cancel()
		down.Store(true)
		began := time.Now()
		polled := make(chan error)
		go func() {
			received, err := g.Receive(t.Context(), 1, 20*time.Second)
			if len(received) > 0 {
				err = errors.New("received")
			}
			polled <- err
		}()
		synctest.Wait()
		g.observe(t.Context(), worker.Report{Err: errTrouble})
		if err := <-polled; err != nil || time.Since(began) != 0 {
			t.Errorf("the poll ends with %v after %v", err, time.Since(began))
		}
		if _, err := q.Send(t.Context(), "x", nil); err != nil {
			t.Fatal(err)
		}
		time.AfterFunc(time.Minute+time.Second, func() { down.Store(false) })
		received, err := g.Receive(t.Context(), 1, 0)
		if err != nil || len(received) != 1 || time.Since(began) != time.Minute+probeEvery {
			t.Errorf("received %v, %v after %v", received, err, time.Since(began))
		}
		if g.isDown() {
			t.Error("down")
		}
		g.observe(t.Context(), worker.Report{Err: errTrouble})
		synctest.Wait()
		ended, stop := context.WithCancel(t.Context())
		down.Store(true)
		g.observe(t.Context(), worker.Report{Err: errTrouble})
		synctest.Wait()
		stop()
		if _, err := g.Receive(ended, 1, 0); !errors.Is(err, context.Canceled) {
			t.Errorf("the wait ends with %v", err)
		}
	})
}

// A message that Telegram asks to wait takes no room until it comes again, does
// not count as the database's trouble, and is not brought forward at the end.
func TestWhatIsHeldBackTakesNoRoom(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g, q, _ := newTestGate(0) // room for two
		send := func() bool {
			_, err := entrance{g}.Send(t.Context(), "x", nil)
			return err == nil
		}
		for range 5 {
			if !send() {
				t.Fatal("no room")
			}
			received, err := g.Receive(t.Context(), 1, 0)
			if err != nil || len(received) != 1 {
				t.Fatal(received, err)
			}
			if err := q.Release(t.Context(), received[0].Receipt, time.Hour); err != nil {
				t.Fatal(err)
			}
			g.observe(t.Context(), worker.Report{Delivery: received[0], Err: fmt.Errorf("worker: %w", &queue.LaterError{After: time.Hour, Err: errTrouble})})
		}
		g.handBack(t.Context())
		if got, err := g.Receive(t.Context(), 1, 0); err != nil || len(got) != 0 {
			t.Errorf("brought forward: %v, %v", got, err)
		}
		taken := 0
		for send() {
			taken++
		}
		if taken != 2 {
			t.Errorf("there is room for %d", taken)
		}
		if g.memory.Len() != 7 {
			t.Errorf("%d in the queue", g.memory.Len())
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
	g := newGate(brokenQueue{}, nil, 0, discard, nil)
	g.observe(t.Context(), worker.Report{Delivery: queue.Message{Receipt: "r"}, Err: &queue.LaterError{After: time.Hour, Err: errTrouble}})
	if len(g.later) > 0 || g.doubt {
		t.Errorf("kept %v, in doubt %v", g.later, g.doubt)
	}
}

type brokenQueue struct{ queue.Queue }

func (brokenQueue) Receive(context.Context, int, time.Duration) ([]queue.Message, error) {
	return nil, errTrouble
}
