package replay

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"time"

	"github.com/homeops/ddbpatterns/alias"
	"github.com/homeops/ddbpatterns/counter"
	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/examples/homeops/app"
	"github.com/homeops/ddbpatterns/examples/homeops/classify"
	"github.com/homeops/ddbpatterns/examples/homeops/config"
	"github.com/homeops/ddbpatterns/examples/homeops/demo/report"
	"github.com/homeops/ddbpatterns/examples/homeops/ingest"
	"github.com/homeops/ddbpatterns/examples/homeops/job"
	"github.com/homeops/ddbpatterns/examples/homeops/page"
	"github.com/homeops/ddbpatterns/examples/homeops/queue"
	tg "github.com/homeops/ddbpatterns/examples/homeops/telegram"
	"github.com/homeops/ddbpatterns/examples/homeops/worker"
	"github.com/homeops/ddbpatterns/examples/internal/database"
	"github.com/homeops/ddbpatterns/examples/internal/prices"
)

// Options of a replay.
type Options struct {
	Config  config.Config
	Updates io.Reader // one JSON object a line
	Seeds   app.Seeds
	Log     *slog.Logger
	Page    string // the file that gets the status page at the end; "" for none

	Classifier func(*alias.Store, *counter.Store) (classify.Classifier, error) // as app.Options has it

	// Queue defaults to one in the process, on the updates' clock. Another
	// queue has its own clock, which decides when a failed message comes back.
	Queue queue.Queue

	// Present is when the file was written, if that is known: dates more than
	// an hour ahead of it are not believed. Defaults to the wall clock.
	Present time.Time
}

// Tuning.
const (
	madeUpSecret = "replay"
	longPoll     = 20 * time.Second
	mostHours    = 14 * 24 // of a gap in which jobs are done
)

// run is a replay under way.
type run struct {
	Options
	updates  *source
	clock    *clock
	db       database.DB
	app      *app.App
	queue    queue.Queue
	poll     time.Duration // how long to wait for the queue
	pending  int           // what was sent to it and is not done
	telegram telegram
	tally    *report.Tally

	last worker.Report // of the delivery just handled
}

// Run replays the updates and returns the facts for the report.
func Run(ctx context.Context, o Options) (report.Facts, error) {
	r, err := start(o)
	if err != nil {
		return report.Facts{}, err
	}
	if err := r.setUp(ctx); err != nil {
		return report.Facts{}, err
	}
	if err := r.all(ctx); err != nil {
		return report.Facts{}, err
	}
	stored, err := report.Read(ctx, r.app, r.db.Client, r.tally, r.clock.now())
	if err != nil {
		return report.Facts{}, err
	}
	dead, err := r.dead(ctx)
	if err != nil {
		return report.Facts{}, err
	}
	if r.Page != "" {
		if err := r.page(ctx, len(dead)); err != nil {
			return report.Facts{}, fmt.Errorf("-page: %w", err)
		}
	}
	return report.Facts{Where: r.db.Where, Zone: app.Zone, Tally: r.tally, Stored: stored, Dead: dead}, nil
}

// page writes the status page as of the updates' last time.
func (r *run) page(ctx context.Context, dead int) error {
	priced, err := prices.Load("")
	if err != nil {
		return err
	}
	html, err := page.Make(ctx, r.app, page.Facts{
		At: r.clock.now(), Where: r.db.Where, Depth: queue.Depth{Dead: dead}, Since: r.tally.First,
		Cost: r.tally.Costs.All, Region: r.Config.Region, Prices: priced,
	})
	if err != nil {
		return err
	}
	return os.WriteFile(r.Page, html, 0o600) // people's names are in it
}

// dead returns the dead letters, and hides them from others meanwhile.
func (r *run) dead(ctx context.Context) (all []queue.Message, _ error) {
	for {
		letters, err := r.queue.DeadLetters().Receive(ctx, 10, time.Minute)
		if err != nil || len(letters) == 0 {
			return all, err
		}
		all = append(all, letters...)
	}
}

// start wires the pipeline as a service does, except for the clock and the
// sender, which sends nothing.
func start(o Options) (*run, error) {
	present := time.Now
	if !o.Present.IsZero() {
		present = func() time.Time { return o.Present }
	}
	r := &run{Options: o, updates: newSource(o.Updates, present), tally: report.NewTally()}
	r.clock = newClock(r.updates.at)
	r.db = open(o.Config, r.clock.now)
	r.queue = o.Queue
	if o.Queue == nil {
		r.queue = queue.NewMemory(queue.Config{Now: r.clock.now})
	} else {
		r.poll = longPoll
	}
	r.queue = counting{r.queue, &r.pending}
	var err error
	r.app, err = app.New(app.Options{
		Config: o.Config, DB: r.db.Client, Now: r.clock.now, Queue: r.queue, Classifier: o.Classifier, Sender: &tg.Console{}, Log: o.Log,
		Observe: func(_ context.Context, report worker.Report) { r.last = report },
	})
	if err != nil {
		return nil, err
	}
	secret := cmp.Or(o.Config.TelegramSecret, madeUpSecret)
	r.telegram = telegram{secret: secret, webhook: &ingest.Handler{
		Secret: secret, Queue: r.queue, Log: o.Log, Observe: r.tally.Ingested,
	}}
	return r, nil
}

// setUp creates the tables, on a real endpoint without TTL, and seeds the
// phrases.
func (r *run) setUp(ctx context.Context) error {
	ttl := r.db.Embedded != nil
	if !ttl {
		if err := refuseTTL(ctx, r.db.Client, r.app.Tables(true)); err != nil {
			return err
		}
	}
	if err := r.app.CreateTables(ctx, ttl); err != nil {
		return fmt.Errorf("creating tables: %w", err)
	}
	if err := r.app.Seed(ctx, r.Seeds); err != nil {
		return fmt.Errorf("seeding phrases: %w", err)
	}
	return nil
}

// all posts one update after the other, and lets the worker empty the queue
// before the next. At the end it lets time pass until nothing comes back.
func (r *run) all(ctx context.Context) error {
	for {
		update, ok, err := r.updates.next()
		if err != nil {
			return fmt.Errorf("reading updates: %w", err)
		}
		if !ok {
			break
		}
		if err := r.one(ctx, update); err != nil {
			return err
		}
	}
	for r.pending > 0 {
		r.clock.advance(queue.Visibility)
		if err := r.drain(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (r *run) one(ctx context.Context, update line) error {
	if err := r.jobs(ctx, update.at); err != nil {
		return err
	}
	r.clock.until(update.at)
	r.tally.Update(r.clock.now())
	r.tally.Dated(!update.believed, !update.at.IsZero() && r.updates.at.Sub(update.at) > late)
	if err := r.telegram.deliver(ctx, update.body); err != nil {
		return err
	}
	return r.drain(ctx)
}

// jobs sends the job of each full hour between now and the given time, and lets the
// worker do it at that hour.
func (r *run) jobs(ctx context.Context, until time.Time) error {
	due := r.clock.now().Truncate(time.Hour)
	for range mostHours {
		if due = due.Add(time.Hour); due.After(until) {
			return nil
		}
		r.clock.until(due)
		if _, err := r.queue.Send(ctx, job.Job{Name: job.Hourly, Due: due}.Body(), nil); err != nil {
			return fmt.Errorf("sending a job: %w", err)
		}
		if err := r.drain(ctx); err != nil {
			return err
		}
	}
	return nil
}

// counting counts the messages that anybody sends to the queue.
type counting struct {
	queue.Queue
	sent *int
}

// Send implements queue.Queue.
func (c counting) Send(ctx context.Context, body string, attributes map[string]string) (string, error) {
	id, err := c.Queue.Send(ctx, body, attributes)
	if err == nil {
		*c.sent++
	}
	return id, err
}

// drain gives the worker what is visible in the queue, and meters each
// delivery. A message that fails is left to come back.
func (r *run) drain(ctx context.Context) error {
	for r.pending > 0 {
		batch, err := r.queue.Receive(ctx, 1, r.poll)
		if err := cmp.Or(err, ctx.Err()); err != nil || len(batch) == 0 {
			return err
		}
		r.last = worker.Report{}
		metered, meter := dynamotest.WithMeter(ctx)
		r.app.Worker.Work(metered, batch)
		r.tally.Delivered(r.last, meter.Cost())
		if r.last.Err == nil || batch[0].Last() {
			r.pending--
		}
	}
	return ctx.Err()
}

// telegram delivers updates to a webhook, one at a time.
type telegram struct {
	webhook http.Handler
	secret  string
}

// deliver posts an update. One that is not acknowledged ends the replay: only a
// queue that is down refuses it.
func (t telegram) deliver(ctx context.Context, body []byte) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, ingest.Path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set(ingest.SecretHeader, t.secret)
	answer := answer{header: http.Header{}}
	t.webhook.ServeHTTP(&answer, request)
	if err := ctx.Err(); err != nil {
		return err
	}
	if answer.status/100 != 2 {
		return fmt.Errorf("the webhook answers %d", answer.status)
	}
	return nil
}

// answer is what a webhook answered.
type answer struct {
	header http.Header
	status int
}

func (a *answer) Header() http.Header { return a.header }

func (a *answer) WriteHeader(status int) {
	if a.status == 0 {
		a.status = status
	}
}

func (a *answer) Write(p []byte) (int, error) {
	a.WriteHeader(http.StatusOK)
	return len(p), nil
}
