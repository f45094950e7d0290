package worker_test

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/homeops/ddbpatterns/activity"
	"github.com/homeops/ddbpatterns/alias"
	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/examples/homeops/queue"
	"github.com/homeops/ddbpatterns/examples/homeops/telegram"
	"github.com/homeops/ddbpatterns/examples/homeops/worker"
	"github.com/homeops/ddbpatterns/internal/recordtest"
)

var activityRange = activity.Range{}

func itoa(n int64) string { return strconv.FormatInt(n, 10) }

// A date far ahead can never be processed: it goes to the dead letters with
// its reason, at once.
func TestPoisonIsRefused(t *testing.T) {
	b := start(t)
	ahead := b.message(anna, "diskat")
	ahead.Date = b.now.Add(48 * time.Hour).Unix()
	if r := b.handle(ahead); r.Kind != worker.KindPoison {
		t.Errorf("%+v", r)
	}
	b.mustHandle(queue.Message{ID: "x", Body: "{"})
	if r := b.mustHandle(membership(9, telegram.Chat{ID: anna.ID, Type: "private"}, "kicked", b.now.AddDate(50, 0, 0))); r.Kind != worker.KindPoison {
		t.Errorf("%+v", r)
	}
	dead := b.queue.Dead()
	if len(dead) != 3 || !strings.Contains(dead[0].Attributes[queue.Reason], "worker: date lies more than") || !strings.Contains(dead[1].Attributes[queue.Reason], "not an update") {
		t.Errorf("dead letters: %+v", dead)
	}
	if rows := b.tables(); len(rows) != 0 {
		t.Errorf("rows of poison: %v", rows)
	}
}

// steps lists each step with its table and operation, and whether the worker
// may go on without it on the last delivery.
var steps = []struct {
	step, op, table string
	critical        bool
}{
	{"save", "PutItem", "homeops-messages", true},
	{"record", "PutItem", "homeops-activities", true},
	{"phrases", "Query", "homeops", false},
	{"fast conversation", "Query", "homeops-messages", false},
	{"reply", "UpdateItem", "homeops-response-counters", false},
	{"learn", "UpdateItem", "homeops", false},
}

func TestTroubleReturnsTheItemUntilTheLastDelivery(t *testing.T) {
	t.Parallel()
	for _, tc := range steps {
		t.Run(tc.step, func(t *testing.T) {
			inBubble(t, func(t *testing.T, b *bench) { // the SDK's pauses between its attempts are virtual
				m := b.message(anna, "Jag har diskat")
				b.db.Inject(dynamotest.Fault{Do: dynamotest.LoseRequest, Op: tc.op, Table: tc.table, Times: -1})
				for n := 1; n < queue.MaxReceives; n++ {
					if err := b.Worker.Handle(t.Context(), delivery(t, m, n)); err == nil {
						t.Errorf("delivery %d was acknowledged", n)
					}
				}
				err := b.Worker.Handle(t.Context(), delivery(t, m, queue.MaxReceives))
				dead := b.queue.Dead()
				if err != nil || tc.critical != (len(dead) == 1) || tc.critical && !strings.Contains(dead[0].Why(), "worker: "+tc.step) {
					t.Errorf("the last delivery: %v, dead %v", err, dead)
				}
				if !tc.critical && len(b.last.Skipped) == 0 {
					t.Error("the step skipped is not reported")
				}
				if !tc.critical && len(b.last.Recorded) != 1 && tc.step != "save" {
					t.Errorf("went on without recording: %+v", b.last)
				}
			})
		})
	}
}

// A skipped check means no reply, and a spent grant is not asked for.
func TestNoReplyOnASkippedCheck(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bench) {
		b.db.Inject(dynamotest.Fault{Do: dynamotest.LoseRequest, Op: "Query", Table: "homeops-messages", Times: -1})
		r := b.handleNth(b.message(anna, "diskat"), queue.MaxReceives)
		if r.Sent != "" || r.Silent != "a step was skipped" {
			t.Errorf("%+v", r)
		}
	})
}

// Nobody knows whether an event that is too old has counted: somebody must look. What
// was superseded is an answer.
func TestTooOldIsSeen(t *testing.T) {
	b := start(t)
	var log strings.Builder
	b.Worker.Log = slog.New(slog.NewTextHandler(&log, nil))
	done, corrected := b.message(anna, "diskat"), b.message(anna, "nej, fixandet betyder tvätt")
	for range 32 {
		b.now = b.now.Add(2 * time.Minute)
		b.say(anna, "diskat")
	}
	b.say(anna, "nej, fixandet betyder städning")
	if log.String() != "" {
		t.Errorf("logged %s", log.String())
	}
	for want, m := range map[string]telegram.Message{
		`level=WARN msg="too old to judge: somebody must look" step=effort`: done,
		`level=INFO msg=superseded step=correct`:                            corrected,
	} {
		b.handle(m)
		if !strings.Contains(log.String(), want) {
			t.Errorf("%s is not in %s", want, log.String())
		}
	}
	if n := strings.Count(log.String(), "level=INFO"); n != 1 {
		t.Errorf("%d lines of level INFO in %s", n, log.String())
	}
}

// conversation has a message of each kind.
func conversation(b *bench) []telegram.Message {
	at := func(from telegram.User, text string) telegram.Message {
		b.now = b.now.Add(2 * time.Minute)
		return b.message(from, text)
	}
	question := "Menade du «diskning» med «diksat»? Svara ja, eller: nej, jag menade …"
	yes := at(bo, "ja")
	yes.ReplyTo = &telegram.Message{ID: 9, Date: b.now.Unix() - 30, Chat: yes.Chat, From: &bot, Text: question}
	no := at(anna, "nej, jag menade tvätt")
	no.ReplyTo = &telegram.Message{ID: 9, Date: b.now.Unix() - 60, Chat: no.Chat, From: &bot, Text: question}
	toAnna := telegram.Outgoing{Text: "Anna, menade du «diskning» med «diksat»? Svara ja, eller: nej, jag menade …", Mention: anna}
	other, own := at(bo, "ja"), at(anna, "nej, jag menade städning")
	for _, m := range []*telegram.Message{&other, &own} {
		m.ReplyTo = &telegram.Message{ID: 10, Date: b.now.Unix() - 180, Chat: no.Chat, From: &bot, Text: toAnna.Text, Entities: toAnna.Entities()}
	}
	return []telegram.Message{
		at(anna, "Jag har diskat och dammsugit"), at(bo, "Jag heter Bo"), at(anna, "hunden betyder promenad"), yes, no, other, own,
		at(anna, "Vem diskade senast?"),
	}
}

// Redelivery at any point converges.
func TestRedeliveryAtAnyPointConverges(t *testing.T) {
	t.Parallel()
	newBench(t, 0).convergesAfter(conversation)
}

// What was recorded decides, even when the phrases no longer say so: the
// redelivery goes on from it.
func TestARedeliveryCarriesOnWithWhatWasRecorded(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bench) {
		b.say(bo, "hunden betyder ”hundvakt”")
		b.now = b.now.Add(time.Hour)
		m := b.message(anna, "hunden är ute")
		b.breaksOff(m, "UpdateItem", "homeops")
		forget := recordtest.Event(t, b.now, "telegram", "forget")
		if _, err := b.Phrases.Forget(t.Context(), alias.Forget{Scope: chatKey, Phrase: "hunden", Event: forget}); err != nil {
			t.Fatal(err)
		}
		b.handleNth(m, 2)
		habit, ok, err := b.Habits.Get(t.Context(), chatKey, anna.Key(), "hundvakt")
		if err != nil || !ok || habit.Total != 1 {
			t.Errorf("habit %+v, %v, %v", habit, ok, err)
		}
		if r := wantUnchanged(t, b, m); len(r.Recorded) != 1 || r.Recorded[0].Name != "hundvakt" {
			t.Errorf("redelivered: %+v", r)
		}
	})
}

func TestWorkReleasesWhatAShutdownCutsOff(t *testing.T) {
	b := start(t)
	ctx, stop := context.WithCancel(t.Context())
	stop()
	batch := b.received(b.message(anna, "diskat"))
	b.on(remote{Memory: b.queue}).Work(ctx, batch) // in flight when the stop came: finished
	if b.queue.Len() != 0 || len(b.last.Recorded) != 1 {
		t.Errorf("%d left, %+v", b.queue.Len(), b.last)
	}
}

func TestRunProcessesAndEnds(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bench) {
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { b.Worker.Run(ctx, 2); close(done) }()
		b.enqueue(b.message(anna, "diskat"))
		synctest.Wait()
		if b.queue.Len() != 0 || len(b.sender.Sent()) != 1 {
			t.Errorf("%d left, sent %v", b.queue.Len(), b.sender.Sent())
		}
		stop()
		<-done
	})
}

// The database answers nothing: the item goes back at once when the process
// ends, so that another need not wait for its visibility.
func TestWorkGivesBackAtShutdown(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bench) {
		b.db.Inject(dynamotest.Fault{Do: dynamotest.LoseRequest, Op: "PutItem", Table: "homeops-messages", Times: -1})
		batch := b.received(b.message(anna, "diskat"))
		ctx, stop := context.WithCancel(t.Context())
		stop()
		b.on(remote{Memory: b.queue}).Work(ctx, batch)
		again, err := b.queue.Receive(t.Context(), 1, 0)
		if err != nil || len(again) != 1 || again[0].Receives != 2 {
			t.Errorf("received again: %+v, %v", again, err)
		}
	})
}

// hanging is a Telegram that never answers.
type hanging struct{}

func (hanging) RoundTrip(r *http.Request) (*http.Response, error) {
	<-r.Context().Done()
	return nil, r.Context().Err()
}

// When Telegram hangs, the delivery has time left for the database, and is done.
func TestTelegramHangs(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bench) {
		deps := b.Deps
		deps.Sender = &telegram.Client{Token: "1:x", HTTP: &http.Client{Transport: hanging{}}}
		batch := b.received(b.message(anna, "Vem diskade senast?"))
		began := time.Now()
		worker.New(deps).Work(t.Context(), batch)
		if took := time.Since(began); took != telegram.Timeout || b.last.Err != nil || b.last.Silent == "" || b.queue.Len() != 0 {
			t.Errorf("%v, %d left, %+v", took, b.queue.Len(), b.last)
		}
	})
}

var errNever = errors.New("never")

func TestClassifierTrouble(t *testing.T) {
	b := start(t)
	deps := b.Deps
	deps.Classifier = failing{}
	w := worker.New(deps)
	m := b.message(anna, "diskat")
	if err := w.Handle(t.Context(), delivery(t, m, 1)); !errors.Is(err, errNever) {
		t.Errorf("first delivery: %v", err)
	}
	if err := w.Handle(t.Context(), delivery(t, m, queue.MaxReceives)); err != nil || b.last.Kind != worker.KindNone {
		t.Errorf("last delivery: %v, %+v", err, b.last)
	}
}

// remote is a queue that is reached over a network: it does nothing for a
// caller whose context has ended, or while it is broken.
type remote struct {
	*queue.Memory
	broken error
}

func (q remote) Bury(ctx context.Context, m queue.Message, reason string) error {
	if q.broken != nil {
		return q.broken
	}
	return q.Memory.Bury(ctx, m, reason)
}

func (q remote) Release(ctx context.Context, receipt string, after time.Duration) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return q.Memory.Release(ctx, receipt, after)
}

func (q remote) Delete(ctx context.Context, receipt string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return q.Memory.Delete(ctx, receipt)
}

// deaf is a queue that cannot be reached, and counts the attempts.
type deaf struct {
	queue.Queue
	tried *int
}

func (q deaf) Receive(context.Context, int, time.Duration) ([]queue.Message, error) {
	*q.tried++
	return nil, errors.New("unreachable")
}

// ending is a Telegram that asks to wait at the very end.
type ending struct{ over context.CancelFunc }

func (e ending) Send(context.Context, telegram.Outgoing) (int64, error) {
	e.over()
	return 0, wait40
}

// on returns the bench's worker, with another queue.
func (b *bench) on(q queue.Queue) *worker.Worker {
	deps := b.Deps
	deps.Queue = q
	return worker.New(deps)
}

// A delivery whose time is over is settled all the same: it is a dead letter with
// a reason, or comes again when Telegram asks.
func TestADeliveryIsSettledAfterItsTime(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bench) {
		b.db.Inject(dynamotest.Fault{Do: dynamotest.Delay(time.Hour), Op: "PutItem", Table: "homeops-messages", Times: -1})
		ctx, cancel := context.WithTimeout(t.Context(), worker.PerItem)
		defer cancel()
		if err := b.on(remote{Memory: b.queue}).Handle(ctx, delivery(t, b.message(anna, "diskat"), queue.MaxReceives)); err != nil {
			t.Error(err)
		}
		if dead := b.queue.Dead(); len(dead) != 1 || !strings.Contains(dead[0].Why(), "worker: save: ") || ctx.Err() == nil {
			t.Errorf("dead %+v, %v", dead, ctx.Err())
		}
	})
	b := newBench(t, 0)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	batch := b.received(b.message(anna, "Vem diskade senast?"))
	deps := b.Deps
	deps.Queue, deps.Sender = remote{Memory: b.queue}, ending{cancel}
	if worker.New(deps).Work(ctx, batch); b.last.Err == nil || ctx.Err() == nil {
		t.Error("it was not held back")
	}
	b.now = b.now.Add(40 * time.Second)
	if n := b.work(t.Context()); n != 1 {
		t.Error("it does not come when Telegram wants it to")
	}
}

// If the queue does not take a dead letter, the message is not lost: it stays,
// and comes again or is moved by the queue itself.
func TestWhatIsNotBuriedStays(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bench) {
		broken := errors.New("broken")
		w := b.on(remote{Memory: b.queue, broken: broken})
		m := b.message(anna, "diskat")
		far := m
		far.Date = b.now.Add(48 * time.Hour).Unix()
		for n := range queue.MaxReceives {
			if err := w.Handle(t.Context(), delivery(t, far, n+1)); !errors.Is(err, broken) {
				t.Errorf("poison, delivery %d: %v", n+1, err)
			}
		}
		b.db.Inject(dynamotest.Fault{Do: dynamotest.LoseRequest, Op: "PutItem", Table: "homeops-messages", Times: -1})
		if err := w.Handle(t.Context(), delivery(t, m, queue.MaxReceives)); err == nil || errors.Is(err, broken) || !strings.HasPrefix(err.Error(), "worker: save: ") {
			t.Errorf("the last delivery: %v", err)
		}
	})
}

// A queue that cannot be reached is asked only once a second.
func TestAnUnreachableQueueIsAskedNowAndThen(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute+time.Millisecond)
		defer cancel()
		tried := 0
		newBench(t, 0).on(deaf{tried: &tried}).Run(ctx, 1)
		if tried != 61 {
			t.Errorf("asked %d times in a minute", tried)
		}
	})
}
