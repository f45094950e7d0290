package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"github.com/homeops/ddbpatterns/activity"
	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/internal/recordtest"
	"github.com/homeops/ddbpatterns/schema"
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

// kill says where and how the worker is killed.
type kill struct {
	request int // the k-th request; 0 for none
	lose    dynamotest.Effect
	dead    bool // the process ends there; otherwise the worker gets an error
	send    int  // the k-th message; 0 for none
	sent    bool // it was sent
}

// life is a run of the pipeline: workers come and go, tables and queue stay.
type life struct {
	kill
	db       *dynamotest.DB
	queue    Memory
	worker   *Worker
	now      func() time.Time
	requests []string // operations, in the order they were sent
	sends    int
	sent     []Reply // what reached the chat
	deaths   int
	killed   bool // the process ended in one of them
}

// begin creates the tables and the first worker, in a bubble of synctest.
func begin(t *testing.T, k kill) *life {
	t.Helper()
	began, noon := time.Now(), time.Date(2026, 3, 11, 12, 0, 0, 0, time.UTC)
	l := &life{
		kill: k, db: dynamotest.New(t, nil), queue: Memory{Bodies: make(chan string, 100), Again: time.Minute},
		now: func() time.Time { return noon.Add(time.Since(began)) },
	}
	l.start(t)
	err := schema.Create(t.Context(), l.db.Client(), l.worker.Messages.Table(), l.worker.Activities.Table(), l.worker.Limits.Table())
	if err != nil {
		t.Fatal(err)
	}
	if k.request > 0 {
		l.db.Inject(dynamotest.Fault{Do: k.lose, Nth: k.request})
	}
	return l
}

// start starts a worker that knows nothing of earlier ones. Its client sends
// each request once.
func (l *life) start(t *testing.T) {
	t.Helper()
	o := l.db.Client().Options()
	o.Retryer = aws.NopRetryer{}
	o.HTTPClient = mortal{l.db.Client().Options().HTTPClient, l} // around the faults, which arrive as errors
	var err error
	if l.worker, err = NewWorker(dynamodb.New(o), l.now, l.queue, l.send); err != nil {
		t.Fatal(err)
	}
}

// death is the panic of a killed worker.
type death struct{}

// mortal carries requests, notes their operations, and kills the worker whose
// request or reply is lost.
type mortal struct {
	dynamodb.HTTPClient
	*life
}

func (m mortal) Do(r *http.Request) (*http.Response, error) {
	_, op, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	m.requests = append(m.requests, op)
	response, err := m.HTTPClient.Do(r)
	if err != nil && m.dead {
		panic(death{})
	}
	return response, err
}

func (l *life) send(_ context.Context, r Reply) error {
	l.sends++
	dies := l.sends == l.kill.send
	if !dies || l.kill.sent {
		l.sent = append(l.sent, r)
	}
	if dies && l.dead {
		panic(death{})
	}
	if dies {
		return context.DeadlineExceeded
	}
	return nil
}

// next reports whether the worker finished a delivery. It is false if the
// worker was killed.
func (l *life) next(t *testing.T) (done bool) {
	t.Helper()
	defer func() {
		switch cause := recover(); cause {
		case nil:
		case death{}:
			l.killed = true
		default:
			panic(cause)
		}
	}()
	return l.worker.Next(t.Context()) == nil
}

// play posts the bundled updates, each after the previous one is finished.
func (l *life) play(t *testing.T) {
	t.Helper()
	for update := range strings.Lines(updates) {
		if status := post(Webhook{secret, l.queue}, secret, update); status != http.StatusOK {
			t.Errorf("answered %d", status)
		}
		for !l.next(t) {
			l.deaths++
			l.start(t)
		}
	}
	time.Sleep(10 * l.queue.Again)
	if left := len(l.queue.Bodies); left > 0 {
		t.Errorf("%d deliveries come again", left)
	}
}

// rows returns all rows, without what differs between runs: when they were
// written, and the nonces of the limits.
func (l *life) rows() map[string][]map[string]any {
	all := map[string][]map[string]any{}
	for _, table := range []string{"bot-messages", "bot-activities", "bot-limits"} {
		for _, item := range l.db.Items(table) {
			row := map[string]any{}
			for name, value := range item {
				switch v := value.(type) {
				case *types.AttributeValueMemberN:
					row[name] = "N " + v.Value
				case *types.AttributeValueMemberS:
					row[name] = v.Value
					if strings.HasPrefix(name, "e_") {
						row[name], _, _ = strings.Cut(v.Value, "~")
					}
				}
			}
			delete(row, "createdAt")
			delete(row, "updatedAt")
			all[table] = append(all[table], row)
		}
	}
	return all
}

// grants returns the events that count under a limit.
func grants(rows map[string][]map[string]any) (events []string) {
	for _, row := range rows["bot-limits"] {
		for name := range row {
			if ev, ok := strings.CutPrefix(name, "e_"); ok {
				events = append(events, ev)
			}
		}
	}
	slices.Sort(events)
	return events
}

// eventOf returns the event of the message that the reply answers.
func eventOf(t *testing.T, r Reply) string {
	t.Helper()
	for update := range strings.Lines(updates) {
		if m := parse(update).Message; m != nil && m.ID == r.ReplyTo {
			return recordtest.Event(t, time.Unix(m.Date, 0), "telegram", fmt.Sprint(m.Chat.ID), fmt.Sprint(m.ID)).String()
		}
	}
	t.Fatalf("an answer to no message: %+v", r)
	return ""
}

// Wherever the worker is killed, the next ones end with the tables of an
// undisturbed run, and each grant has at most one message.
func TestKilledAtEveryRequest(t *testing.T) {
	t.Parallel()
	var calm *life
	var want map[string][]map[string]any
	synctest.Test(t, func(t *testing.T) {
		calm = begin(t, kill{})
		calm.play(t)
		want = calm.rows()
	})
	if got := grants(want); len(calm.requests) != 19 || len(calm.sent) != 4 || len(got) != 4 || calm.deaths != 0 {
		t.Fatalf("undisturbed: %d requests, %d sent, %d grants, %d deaths", len(calm.requests), len(calm.sent), len(got), calm.deaths)
	}
	for name, k := range kills(len(calm.requests), len(calm.sent)) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				l := begin(t, k)
				l.play(t)
				if diff := cmp.Diff(want, l.rows()); diff != "" {
					t.Errorf("other tables:\n%s", diff)
				}
				if l.deaths != 1 || l.killed != k.dead {
					t.Errorf("%d deaths, killed %t", l.deaths, l.killed)
				}
				l.checkSent(t, calm)
			})
		})
	}
}

// kills returns all possible kills.
func kills(requests, sends int) map[string]kill {
	all := map[string]kill{}
	for _, dead := range []bool{false, true} {
		for _, lose := range []dynamotest.Effect{dynamotest.LoseRequest, dynamotest.LoseReply} {
			for i := range requests {
				all[fmt.Sprintf("request %d %v dead %v", i+1, lose, dead)] = kill{request: i + 1, lose: lose, dead: dead}
			}
		}
		for _, sent := range []bool{false, true} {
			for i := range sends {
				all[fmt.Sprintf("message %d sent %v dead %v", i+1, sent, dead)] = kill{send: i + 1, sent: sent, dead: dead}
			}
		}
	}
	return all
}

// checkSent compares the sent messages with those of an undisturbed run. Each
// must be sent once. One may be missing if the worker died after Take and before
// the message was sent.
func (l *life) checkSent(t *testing.T, calm *life) {
	t.Helper()
	var events []string
	for _, r := range l.sent {
		events = append(events, eventOf(t, r))
	}
	slices.Sort(events)
	if len(slices.Compact(slices.Clone(events))) != len(events) {
		t.Errorf("two messages for one grant: %+v", l.sent)
	}
	granted := grants(l.rows())
	for _, ev := range events {
		if !slices.Contains(granted, ev) {
			t.Errorf("a message without a grant: %s", ev)
		}
	}
	taken := l.request > 0 && l.lose == dynamotest.LoseReply && calm.requests[l.request-1] == "UpdateItem"
	between := l.kill.send > 0 && !l.kill.sent || taken
	missing := len(calm.sent) - len(l.sent)
	switch {
	case missing < 0 || missing > 1 || missing == 1 && !between:
		t.Errorf("%d messages, undisturbed %d", len(l.sent), len(calm.sent))
	case missing == 0:
		if diff := cmp.Diff(calm.sent, l.sent); diff != "" {
			t.Errorf("other messages:\n%s", diff)
		}
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
				l := begin(t, kill{})
				now := l.now()
				ev := recordtest.Event(t, now.Truncate(time.Second), "telegram", chat, "50")
				gone := recordtest.Event(t, now.Truncate(time.Second), "telegram", chat, "51")
				if _, err := l.worker.Activities.Retract(t.Context(), activity.Retract{Scope: chat, Event: gone, Tombstone: true}); err != nil {
					t.Fatal(err)
				}
				if _, err := l.worker.Activities.Record(t.Context(), activity.Activity{Scope: chat, Actor: "7", Event: ev, Name: "laundry"}); err != nil {
					t.Fatal(err)
				}
				if err := l.worker.handle(t.Context(), body(now)); err != nil && name == "a week old" {
					t.Errorf("it is a dead letter: %v", err)
				}
				if err := l.queue.Send(t.Context(), body(now)); err != nil {
					t.Fatal(err)
				}
				if err := l.worker.Next(t.Context()); err != nil {
					t.Error(err)
				}
				time.Sleep(10 * l.queue.Again)
				if len(l.queue.Bodies) > 0 || len(l.sent) > 0 {
					t.Errorf("%d come again, sent %v", len(l.queue.Bodies), l.sent)
				}
			})
		})
	}
}
