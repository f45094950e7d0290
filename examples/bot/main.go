package main

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"time"
	_ "time/tzdata" // for machines without time zones

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/homeops/ddbpatterns/activity"
	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/message"
	"github.com/homeops/ddbpatterns/schema"
	"github.com/homeops/ddbpatterns/tzclock"
)

// updates are from the 10th and 11th of March 2026, the first of them twice.
//
//go:embed testdata/updates.jsonl
var updates string

const (
	secret = "a-secret"
	chat   = "-1002123456789"
)

// deaths say when the worker dies, by the line of the update. (A client without
// retries returns the error of a lost request or reply, and the worker gives
// up.)
var deaths = map[int]dynamotest.Fault{
	4: {Do: dynamotest.LoseRequest, Table: "bot-limits"}, // the laundry is recorded, not counted
	5: {Do: dynamotest.LoseReply, Table: "bot-limits"},   // the windows are counted, nothing is sent
}

func main() {
	if err := run(context.Background(), os.Stdout); err != nil {
		log.Fatal(err)
	}
}

// run plays the updates. A service has two goroutines instead of its loop: an
// http.Server with the Webhook, and a loop around Next.
func run(ctx context.Context, out io.Writer) error {
	server := dynamotest.NewServer(nil)
	// In production: dynamodb.NewFromConfig(cfg), with the SDK's retries.
	db := server.Client(func(o *dynamodb.Options) { o.Retryer = aws.NopRetryer{} })
	now := func() time.Time { return time.Date(2026, 3, 11, 12, 0, 0, 0, time.UTC) } // in production: nil
	queue := &lone{Memory: Memory{Bodies: make(chan string, 100), Again: time.Hour}}
	send := func(_ context.Context, r Reply) error {
		_, err := fmt.Fprintf(out, "  → %s\n", r.Text)
		return err
	}
	start := func() (*Worker, error) {
		worker, err := NewWorker(db, now, queue, send)
		if err == nil {
			worker.Silent = func(why string) { fmt.Fprintln(out, "  no thanks:", why) }
		}
		return worker, err
	}
	worker, err := start()
	if err != nil {
		return err
	}
	err = schema.Create(ctx, db, worker.Messages.Table(), worker.Activities.Table(), worker.Limits.Table())
	if err != nil {
		return err
	}
	line, today := 0, tzclock.Date{}
	for update := range strings.Lines(updates) {
		u := parse(update)
		if day := u.day(today); day != today && line > 0 {
			fmt.Fprintln(out, "the next day")
		}
		today = u.day(today)
		fmt.Fprintln(out, u)
		fmt.Fprintln(out, "  answered", post(Webhook{secret, queue}, secret, update))
		if line++; deaths[line].Do != nil {
			server.Tap().Inject(deaths[line])
		}
		for worker.Next(ctx) != nil {
			fmt.Fprintln(out, "  the worker dies; the next one gets the delivery again")
			if worker, err = start(); err != nil {
				return err
			}
		}
	}
	return show(ctx, out, worker)
}

// lone is the queue of a single worker. A delivery that a dead worker left comes
// again as soon as the next worker asks, so nothing here depends on time.
type lone struct {
	Memory
	left []string
}

// Receive implements Queue.
func (q *lone) Receive(ctx context.Context) (string, func(), error) {
	if len(q.left) == 0 {
		body, ack, err := q.Memory.Receive(ctx)
		if err != nil {
			return "", nil, err
		}
		ack() // lone itself keeps the delivery
		q.left = []string{body}
	}
	return q.left[0], func() { q.left = nil }, nil
}

func parse(update string) (u Update) {
	if err := json.Unmarshal([]byte(update), &u); err != nil {
		panic(err) // the bundled updates are JSON
	}
	return u
}

// String returns an update for people.
func (u Update) String() string {
	if u.Message == nil {
		return "(no message)"
	}
	return u.Message.From.Name + ": " + u.Message.Text
}

// day returns the day of the update's message, by default the one before.
func (u Update) day(before tzclock.Date) tzclock.Date {
	if u.Message == nil {
		return before
	}
	return tzclock.Stockholm.Date(time.Unix(u.Message.Date, 0))
}

// post posts an update as Telegram does, and returns the status of the answer.
func post(w Webhook, secret, update string) int {
	r := httptest.NewRequest(http.MethodPost, "/telegram", strings.NewReader(update))
	r.Header.Set("X-Telegram-Bot-Api-Secret-Token", secret)
	answer := httptest.NewRecorder()
	w.ServeHTTP(answer, r)
	return answer.Code
}

// show prints the tables.
func show(ctx context.Context, out io.Writer, w *Worker) error {
	fmt.Fprintln(out, "\nbot-messages")
	for m, err := range w.Messages.InScope(ctx, chat, message.Range{}) {
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "  %d  %s: %s\n", m.Seq, m.ActorName, m.Text)
	}
	fmt.Fprintln(out, "bot-activities")
	for a, err := range w.Activities.InScope(ctx, chat, activity.Range{}) {
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "  %s  %s: %s\n", tzclock.Stockholm.Date(a.At), a.ActorName, a.Name)
	}
	fmt.Fprintln(out, "bot-limits")
	for _, day := range []tzclock.Date{{Year: 2026, Month: 3, Day: 10}, {Year: 2026, Month: 3, Day: 11}} {
		count, err := w.Limits.Get(ctx, chat, tzclock.Stockholm.Start(day))
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "  %s  %d of %d used\n", day, count.Used, ThanksADay)
	}
	return nil
}
