package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/homeops/ddbpatterns/activity"
	"github.com/homeops/ddbpatterns/counter"
	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/dynamotest/explore"
	"github.com/homeops/ddbpatterns/examples/internal/pipeline"
	"github.com/homeops/ddbpatterns/internal/recordtest"
	"github.com/homeops/ddbpatterns/schema"
	"github.com/homeops/ddbpatterns/tzclock"
)

func Example() {
	if err := run(context.Background(), os.Stdout); err != nil {
		fmt.Println(err)
	}
	// Output:
	// Ann: /done dishes
	//   answered 200
	//   → Thanks, Ann: dishes ✓ (1 of 3 today)
	// Ann: /done dishes
	//   answered 200
	//   no thanks: delivered again, already counted (1 of 3 today)
	// Bo: Who did the dishes?
	//   answered 200
	//   no thanks: nothing was done
	// Bo: /done laundry
	//   answered 200
	//   the worker dies; the next one gets the delivery again
	//   → Thanks, Bo: laundry ✓ (2 of 3 today)
	// Ann: /done windows
	//   answered 200
	//   the worker dies; the next one gets the delivery again
	//   no thanks: delivered again, already counted (3 of 3 today)
	// Bo: /done shopping
	//   answered 200
	//   no thanks: limit reached, 3 of 3 today
	// (no message)
	//   answered 200
	// the next day
	// Ann: /done dishes
	//   answered 200
	//   → Thanks, Ann: dishes ✓ (1 of 3 today)
	//
	// bot-messages
	//   21  Ann: /done dishes
	//   22  Bo: Who did the dishes?
	//   23  Bo: /done laundry
	//   24  Ann: /done windows
	//   25  Bo: /done shopping
	//   26  Ann: /done dishes
	// bot-activities
	//   2026-03-10  Ann: dishes
	//   2026-03-10  Bo: laundry
	//   2026-03-10  Ann: windows
	//   2026-03-10  Bo: shopping
	//   2026-03-11  Ann: dishes
	// bot-limits
	//   2026-03-10  3 of 3 used
	//   2026-03-11  1 of 3 used
}

// created returns a server with the bot's tables.
func created(t *testing.T) *dynamotest.Server {
	t.Helper()
	server := dynamotest.NewServer(nil)
	w, err := NewWorker(server.Client(), nil, nil, nil)
	if err == nil {
		err = schema.Create(t.Context(), server.Client(), w.Messages.Table(), w.Activities.Table(), w.Limits.Table())
	}
	if err != nil {
		t.Fatal(err)
	}
	return server
}

// given is a queue that gives one delivery.
type given struct {
	Queue
	body  string
	acked bool
}

func (q *given) Receive(context.Context) (string, func(), error) {
	return q.body, func() { q.acked = true }, nil
}

// If workers die anywhere, or two have the same delivery, the tables are those of
// undisturbed deliveries. One more message is thanked for that day, and only once.
func TestPipeline(t *testing.T) {
	t.Parallel()
	all := strings.SplitAfter(updates, "\n")
	server := created(t)
	at := time.Unix(parse(all[0]).Message.Date, 0)
	limits, err := counter.New(server.Client(), "bot-limits", tzclock.Stockholm, &counter.Config{Now: func() time.Time { return at }})
	if err == nil {
		_, err = limits.Add(t.Context(), counter.Add{Key: chat, Event: recordtest.Event(t, at, "test", "before"), Weight: ThanksADay - 1})
	}
	if err != nil {
		t.Fatal(err)
	}
	start := func(p *explore.Process) func(context.Context, string) error {
		w, err := NewWorker(p.Client(), p.Now, nil, func(_ context.Context, r Reply) error {
			return p.Do(fmt.Sprint("thanks for ", r.ReplyTo), func() error { return nil })
		})
		if err == nil {
			w.Limits, err = counter.New(p.Client(), "bot-limits", tzclock.Stockholm, &counter.Config{Now: p.Now, Rand: p.Rand()})
		}
		if err != nil {
			t.Error(err)
		}
		return func(ctx context.Context, body string) error {
			queue := &given{body: body}
			w.Queue = queue
			if err := w.Next(ctx); err != nil || queue.acked {
				return err
			}
			return errors.New("it is not acknowledged")
		}
	}
	for name, messages := range map[string][]string{"one": all[:1], "two": {all[0], all[3]}} {
		t.Run(name, func(t *testing.T) {
			pipeline.Test(t, 60, explore.Config{Server: server, Moves: 1}, explore.Deliveries[string]{
				Messages: messages, Visibility: time.Minute, Ignore: []string{"createdAt", "updatedAt", "e_*"}, AtMostOnce: []string{"thanks*"},
			}, start)
		})
	}
}

func TestWebhook(t *testing.T) {
	t.Parallel()
	queue := Memory{Bodies: make(chan string, 1), Again: time.Hour}
	for _, tc := range []struct {
		name, want, given, body string
		status                  int
		queued                  int
	}{
		{"no secret of its own", "", "", "{}", http.StatusUnauthorized, 0},
		{"no secret given", "s", "", "{}", http.StatusUnauthorized, 0},
		{"another secret", "s", "S", "{}", http.StatusUnauthorized, 0},
		{"too large", "s", "s", strings.Repeat(" ", 1<<20+1), http.StatusBadRequest, 0},
		{"the first", "s", "s", "{}", http.StatusOK, 1},
		{"no room", "s", "s", "{}", http.StatusServiceUnavailable, 1},
	} {
		if got := post(Webhook{tc.want, queue}, tc.given, tc.body); got != tc.status || len(queue.Bodies) != tc.queued {
			t.Errorf("%s: answered %d, %d queued", tc.name, got, len(queue.Bodies))
		}
	}
}

// A delivery that is not acknowledged comes again.
func TestMemory(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		queue := Memory{Bodies: make(chan string, 1), Again: time.Hour}
		if err := queue.Send(t.Context(), "{}"); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		for range 3 {
			if body, _, err := queue.Receive(t.Context()); body != "{}" || err != nil {
				t.Errorf("%q, %v", body, err)
			}
		}
		if waited := time.Since(began); waited != 2*queue.Again {
			t.Errorf("after %s", waited)
		}
		time.Sleep(queue.Again)
	})
}

// A delivery that can never be handled does not come again.
func TestDeliveriesThatEnd(t *testing.T) {
	t.Parallel()
	message := func(id int64, at time.Time, text string) string {
		return fmt.Sprintf(`{"message":{"message_id":%d,"date":%d,"chat":{"id":%s},"from":{"id":7},"text":%q}}`, id, at.Unix(), chat, text)
	}
	for name, body := range map[string]func(now time.Time) string{
		"not JSON":           func(time.Time) string { return "update" },
		"without an id":      func(now time.Time) string { return message(0, now, "/done dishes") },
		"far ahead":          func(now time.Time) string { return message(1, now.Add(48*time.Hour), "/done dishes") },
		"a week old":         func(now time.Time) string { return message(1, now.AddDate(0, 0, -9), "/done dishes") },
		"nothing done":       func(now time.Time) string { return message(1, now, "/done ") },
		"recorded otherwise": func(now time.Time) string { return message(50, now, "/done dishes") },
		"retracted":          func(now time.Time) string { return message(51, now, "/done dishes") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				db := created(t).Client()
				queue, sent, now := Memory{Bodies: make(chan string, 10), Again: time.Minute}, 0, time.Now()
				w, err := NewWorker(db, nil, queue, func(context.Context, Reply) error { sent++; return nil })
				if err != nil {
					t.Fatal(err)
				}
				ev := recordtest.Event(t, now.Truncate(time.Second), "telegram", chat, "50")
				gone := recordtest.Event(t, now.Truncate(time.Second), "telegram", chat, "51")
				if _, err := w.Activities.Retract(t.Context(), activity.Retract{Scope: chat, Event: gone, Tombstone: true}); err != nil {
					t.Fatal(err)
				}
				if _, err := w.Activities.Record(t.Context(), activity.Activity{Scope: chat, Actor: "7", Event: ev, Name: "laundry"}); err != nil {
					t.Fatal(err)
				}
				if err := w.handle(t.Context(), body(now)); err != nil && name == "a week old" {
					t.Errorf("it is a dead letter: %v", err)
				}
				if err := queue.Send(t.Context(), body(now)); err != nil {
					t.Fatal(err)
				}
				if err := w.Next(t.Context()); err != nil {
					t.Error(err)
				}
				time.Sleep(10 * queue.Again)
				if len(queue.Bodies) > 0 || sent > 0 {
					t.Errorf("%d come again, %d sent", len(queue.Bodies), sent)
				}
			})
		})
	}
}
