package worker

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/homeops/ddbpatterns/activity"
	"github.com/homeops/ddbpatterns/alias"
	"github.com/homeops/ddbpatterns/counter"
	"github.com/homeops/ddbpatterns/ema"
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/examples/homeops/classify"
	"github.com/homeops/ddbpatterns/examples/homeops/dmstatus"
	"github.com/homeops/ddbpatterns/examples/homeops/job"
	"github.com/homeops/ddbpatterns/examples/homeops/moved"
	"github.com/homeops/ddbpatterns/examples/homeops/planner"
	"github.com/homeops/ddbpatterns/examples/homeops/profile"
	"github.com/homeops/ddbpatterns/examples/homeops/promise"
	"github.com/homeops/ddbpatterns/examples/homeops/queue"
	"github.com/homeops/ddbpatterns/examples/homeops/telegram"
	"github.com/homeops/ddbpatterns/examples/homeops/week"
	"github.com/homeops/ddbpatterns/ledger"
	"github.com/homeops/ddbpatterns/memory"
	"github.com/homeops/ddbpatterns/message"
	"github.com/homeops/ddbpatterns/pattern"
	"github.com/homeops/ddbpatterns/tzclock"
	"github.com/homeops/ddbpatterns/verdict"
)

// Limits of the bot's own messages, per chat and local day.
const (
	RepliesADay = 3
	AnswersADay = 50
)

// Deps is what a Worker works with. All fields except Observe are needed.
type Deps struct {
	Library
	Records
	Outside
	Clock
	Log *slog.Logger

	// Observe is told what became of every delivery.
	Observe func(context.Context, Report)
}

// Library is the stores of the library's packages.
type Library struct {
	Messages   *message.Store
	Activities *activity.Store
	Limits     *counter.Store
	Phrases    *alias.Store // what people say → canonical activity
	Names      *alias.Store // what people are called → user id
	Habits     *pattern.Store
	Effort     *ema.Store
	Prefs      *ema.Store
	Seen       *ledger.Store // what was said; with MaxAttempts 1, see sayOnce
	Memory     *memory.Memory
}

// Records is the application's own.
type Records struct {
	DM       *dmstatus.Store
	Moves    *moved.Store
	Profiles *profile.Store
	Promises *promise.Store
	Weeks    *week.Store
	Planner  *planner.Planner
}

// Outside is what else is talked to.
type Outside struct {
	Queue      queue.Queue // takes what is refused, and what comes later
	Classifier classify.Classifier
	Sender     telegram.Sender
	BotID      int64
}

// Clock is the time, and the household's day.
type Clock struct {
	Zone  tzclock.Zone
	Quiet tzclock.Quiet
	Now   func() time.Time
}

// Worker processes deliveries. It is safe for concurrent use.
type Worker struct{ Deps }

// New returns a Worker.
func New(deps Deps) *Worker { return &Worker{deps} }

// Kind is what a delivery turned out to be.
type Kind string

// The kinds.
const (
	KindActivity Kind = "activity" // somebody did something
	KindNone     Kind = "none"     // nothing of interest
	KindGuess    Kind = "unsure"   // the bot asked what was meant
	KindAsk      Kind = "question"
	KindTeach    Kind = "teaching"
	KindAnonym   Kind = "no sender"
	KindMember   Kind = "membership"
	KindMoved    Kind = "chat moved" // a group became a supergroup
	KindPromise  Kind = "promise"
	KindJob      Kind = "job"
	KindPoison   Kind = "poison"
	KindOther    Kind = "other"       // of a kind that ingest keeps out
	KindSaid     Kind = "said before" // asked or answered on an earlier delivery
)

// Report says what became of a delivery.
type Report struct {
	Kind      Kind
	Delivery  queue.Message
	Duplicate bool // the message had been saved before
	Recorded  []activity.Activity
	Usage     classify.Usage // of the classifier, even if the delivery failed later
	Sent      string         // what the bot said, "" for nothing
	Silent    string         // why the bot said nothing: one of the reasons of respond.go, or Telegram's
	Skipped   []string       // steps given up on the last delivery
	Refused   string         // why it can never be processed
	Err       error          // the item goes back to the queue, or is dead after its last delivery

	spoke bool // sent, or perhaps: in this delivery or, as far as is known, an earlier one

	mu *sync.Mutex // guards Skipped: steps run side by side
}

func (r *Report) skip(step string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.Skipped = append(r.Skipped, step)
}

// delivery is one delivery on its way through the steps.
type delivery struct {
	queue.Message
	report *Report

	heldBack bool // an earlier delivery would have said it, and was asked to wait
	stopped  bool // a private chat whose person has blocked the bot
}

// Handle processes one delivery; it is a queue.Handler. An error returns the
// item to the queue, where it comes again when its visibility ends, or after the
// time of a *queue.LaterError. A failure of the last delivery is not an error: the item is
// among the dead letters.
//
// The caller deletes what is done.
func (w *Worker) Handle(ctx context.Context, m queue.Message) error {
	report := &Report{Delivery: m, mu: new(sync.Mutex)}
	err := w.handle(ctx, delivery{Message: m, report: report})
	if bad, ok := errors.AsType[*event.InputError](err); ok {
		err = w.refuse(ctx, m, report, bad.Error())
	}
	if report.Err = err; err != nil && m.Last() {
		err = w.bury(ctx, m, err)
	}
	if w.Observe != nil {
		w.Observe(ctx, *report)
	}
	return err
}

func (w *Worker) handle(ctx context.Context, d delivery) error {
	if j, ok, err := job.Parse(d.Body); err != nil {
		return w.refuse(ctx, d.Message, d.report, err.Error())
	} else if ok {
		return w.job(ctx, d, j)
	}
	update, err := telegram.Parse([]byte(d.Body))
	if err != nil {
		return w.refuse(ctx, d.Message, d.report, err.Error())
	}
	switch update.Kind() {
	case telegram.KindMessage:
		msg, err := w.read(*update.Message, d.Body)
		if err != nil {
			return err
		}
		return w.message(ctx, d, msg)
	case telegram.KindMember:
		return w.member(ctx, d, update)
	}
	d.report.Kind = KindOther
	return nil
}

// refuse puts a delivery that can never be processed among the dead letters.
func (w *Worker) refuse(ctx context.Context, m queue.Message, report *Report, reason string) error {
	report.Kind, report.Refused = KindPoison, reason
	w.Log.WarnContext(ctx, "refused", "delivery", m.ID, "reason", reason)
	if err := w.Queue.Bury(ctx, m, reason); err != nil {
		return fmt.Errorf("worker: refusing: %w", err)
	}
	return nil
}

// bury puts a delivery that failed for the last time among the dead letters,
// with the reason, which the queue itself would not keep. The reason may be
// that the delivery's time is over, so this has time of its own.
func (w *Worker) bury(ctx context.Context, m queue.Message, why error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), toSettle)
	defer cancel()
	if err := w.Queue.Bury(ctx, m, why.Error()); err != nil {
		w.Log.ErrorContext(ctx, "message not moved to the dead letters, or only in part", "delivery", m.ID, "error", err)
		return why
	}
	return nil
}

// bestEffort decides what becomes of a step that is not critical. It returns an
// error when the item is to go back, and nil when the worker goes on without
// the step.
func (w *Worker) bestEffort(ctx context.Context, d delivery, step string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, event.ErrSuperseded):
		w.Log.InfoContext(ctx, "superseded", "step", step, "delivery", d.ID, "error", err)
		return nil
	case errors.Is(err, event.ErrTooOld): // nobody knows whether it has counted
		w.Log.WarnContext(ctx, "too old to judge: somebody must look", "step", step, "delivery", d.ID, "error", err)
		return nil
	}
	if verdict.Of(err).Kind == verdict.Retry && !d.Last() {
		return fmt.Errorf("worker: %s: %w", step, err)
	}
	w.Log.ErrorContext(ctx, "step skipped", "step", step, "delivery", d.ID, "error", err)
	d.report.skip(step)
	return nil
}

// critical returns the item to the queue when a step fails on which everything
// depends.
func critical(step string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("worker: %s: %w", step, err)
}

const (
	// PerItem is how long one delivery may take.
	PerItem = queue.PerItem
	// toSettle is how long it may take to bury a delivery. A Lambda function stops work
	// two seconds before its own limit.
	toSettle = 1500 * time.Millisecond
)

// Run polls the queue with the given number of pollers until the context ends. What is in
// flight then is finished, or goes back to the queue when it takes longer than
// PerItem.
func (w *Worker) Run(ctx context.Context, pollers int) {
	var wg sync.WaitGroup
	for range pollers {
		wg.Go(func() { queue.Run(ctx, w.Queue, w.Handle, w.Log) })
	}
	wg.Wait()
}

// Work handles a batch and settles each item. What is done is deleted. What failed is left
// to become visible again, or released for the time of its *queue.LaterError; when the
// process is about to end, at once.
func (w *Worker) Work(ctx context.Context, messages []queue.Message) {
	queue.Work(ctx, w.Queue, messages, w.Handle, w.Log)
}
