package worker_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	_ "time/tzdata"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/examples/homeops/app"
	"github.com/homeops/ddbpatterns/examples/homeops/classify"
	"github.com/homeops/ddbpatterns/examples/homeops/config"
	"github.com/homeops/ddbpatterns/examples/homeops/queue"
	"github.com/homeops/ddbpatterns/examples/homeops/telegram"
	"github.com/homeops/ddbpatterns/examples/homeops/worker"
)

const chat = -1002123456789

var (
	anna = telegram.User{ID: 5001, FirstName: "Anna"}
	bo   = telegram.User{ID: 5002, FirstName: "Bo"}
	bot  = telegram.User{ID: app.DefaultBotID, IsBot: true, FirstName: "homeops"}
)

// noon of a Wednesday in Stockholm, in winter.
var noon = time.Date(2026, 2, 18, 11, 0, 0, 0, time.UTC)

// bench is a pipeline on a database of its own, with a clock that the test
// sets.
type bench struct {
	*app.App
	t      *testing.T
	db     *dynamotest.DB
	now    time.Time
	queue  *queue.Memory
	sender *sender
	last   worker.Report
	waits  time.Duration // how long Telegram asks to wait in explored schedules
	nextID int64
}

// sender records what is sent, and fails when told to, first with the errors in
// first.
type sender struct {
	telegram.Console
	first []error
	err   error

	mu   sync.Mutex
	sent []telegram.Outgoing
}

// Sent returns what was sent, oldest first.
func (s *sender) Sent() []telegram.Outgoing {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.sent)
}

func (s *sender) Send(ctx context.Context, out telegram.Outgoing) (int64, error) {
	if len(s.first) > 0 {
		err := s.first[0]
		s.first = s.first[1:]
		if !errors.Is(err, errLost) {
			return 0, err
		}
		_, _ = s.record(ctx, out)
		return 0, err
	}
	if s.err != nil {
		return 0, s.err
	}
	return s.record(ctx, out)
}

func (s *sender) record(ctx context.Context, out telegram.Outgoing) (int64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	s.sent = append(s.sent, out)
	return 1_000_000 + int64(len(s.sent)), nil
}

func newBench(t *testing.T, latency time.Duration) *bench {
	t.Helper()
	b := &bench{t: t, now: noon, sender: new(sender), nextID: 100}
	b.open(&dynamotest.Config{Latency: latency})
	if err := b.CreateTables(t.Context(), true); err != nil {
		t.Fatal(err)
	}
	return b
}

// start returns the bench of a test that runs beside the others.
func start(t *testing.T) *bench {
	t.Helper()
	t.Parallel()
	return newBench(t, 0)
}

// inBubble runs a test beside the others, in a bubble: there the SDK's pauses between
// its attempts take no time.
func inBubble(t *testing.T, test func(t *testing.T, b *bench)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, func(t *testing.T) { test(t, newBench(t, 0)) })
}

// fork returns another bench with the same tables, and a process that has just begun.
func (b *bench) fork() *bench {
	b.t.Helper()
	f := &bench{t: b.t, now: b.now, sender: &sender{sent: b.sender.Sent()}, nextID: b.nextID}
	f.open(&dynamotest.Config{From: b.db.Server().Snapshot()})
	return f
}

func (b *bench) open(cfg *dynamotest.Config) {
	b.t.Helper()
	cfg.Now, cfg.MaxBackoff = b.clock, time.Millisecond
	b.db = dynamotest.New(b.t, cfg)
	b.queue = queue.NewMemory(queue.Config{Now: b.clock})
	b.restart()
}

// restart gives the bench a new process on the same tables: caches are cold.
func (b *bench) restart() {
	b.t.Helper()
	cfg, err := config.Load(func(string) (string, bool) { return "", false })
	if err != nil {
		b.t.Fatal(err)
	}
	b.App, err = app.New(app.Options{
		Config: cfg, DB: b.db.Server().Client(), Now: b.clock, Queue: b.queue, Sender: b.sender,
		Log:     slog.New(slog.DiscardHandler),
		Observe: func(_ context.Context, r worker.Report) { b.last = r },
	})
	if err != nil {
		b.t.Fatal(err)
	}
}

// meet makes Anna and Bo known to the bot: the first contact with them is over.
func (b *bench) meet() {
	b.t.Helper()
	b.say(anna, "Hej")
	b.say(bo, "Hej")
}

func (b *bench) clock() time.Time { return b.now }

// message makes the next message of the chat, sent now.
func (b *bench) message(from telegram.User, text string) telegram.Message {
	b.nextID++
	return telegram.Message{
		ID: b.nextID, Date: b.now.Unix(), Chat: telegram.Chat{ID: chat, Type: "supergroup"}, From: &from, Text: text,
	}
}

// reply makes a message that answers the bot's last one.
func (b *bench) reply(from telegram.User, text string) telegram.Message {
	b.t.Helper()
	sent := b.sender.Sent()
	if len(sent) == 0 {
		b.t.Fatal("the bot said nothing to reply to")
	}
	m := b.message(from, text)
	m.ReplyTo = &telegram.Message{ID: 1_000_001, Date: b.now.Unix() - 30, Chat: m.Chat, From: &bot, Text: sent[len(sent)-1].Text, Entities: sent[len(sent)-1].Entities()}
	return m
}

// delivery wraps a message as the queue delivers it for the n-th time.
func delivery(t *testing.T, m telegram.Message, receives int) queue.Message {
	t.Helper()
	body, err := json.Marshal(telegram.Update{ID: m.ID, Message: &m})
	if err != nil {
		t.Fatal(err)
	}
	return queue.Message{ID: fmt.Sprint("m-", m.ID), Body: string(body), Receives: receives, MaxReceives: queue.MaxReceives, Receipt: "r"}
}

// handle delivers the message once and returns what became of it.
func (b *bench) handle(m telegram.Message) worker.Report {
	b.t.Helper()
	return b.handleNth(m, 1)
}

func (b *bench) handleNth(m telegram.Message, receives int) worker.Report {
	b.t.Helper()
	return b.mustHandle(delivery(b.t, m, receives))
}

func (b *bench) mustHandle(m queue.Message) worker.Report {
	b.t.Helper()
	if err := b.Worker.Handle(b.t.Context(), m); err != nil {
		b.t.Fatalf("Handle(%s): %v", m.Body, err)
	}
	return b.last
}

// breaksOff delivers the message once, while all such requests are lost: it must come
// again.
func (b *bench) breaksOff(m telegram.Message, op, table string) {
	b.t.Helper()
	b.db.Inject(dynamotest.Fault{Do: dynamotest.LoseRequest, Op: op, Table: table, Times: -1})
	if err := b.Worker.Handle(b.t.Context(), delivery(b.t, m, 1)); err == nil {
		b.t.Errorf("a request was lost and %q was acknowledged", m.Text)
	}
	b.db.Heal()
}

// say sends a text a minute later than the last, so that the chat is slow.
func (b *bench) say(from telegram.User, text string) worker.Report {
	b.t.Helper()
	b.now = b.now.Add(2 * time.Minute)
	return b.handle(b.message(from, text))
}

// received puts the message on the queue, and takes it from there.
func (b *bench) received(m telegram.Message) []queue.Message {
	b.t.Helper()
	b.enqueue(m)
	batch, err := b.queue.Receive(b.t.Context(), 1, 0)
	if err != nil {
		b.t.Fatal(err)
	}
	return batch
}

// atOnce handles deliveries side by side.
func (b *bench) atOnce(all ...queue.Message) {
	b.t.Helper()
	deps := b.Deps
	deps.Observe = nil
	var wg sync.WaitGroup
	for _, one := range all {
		wg.Go(func() {
			if err := worker.New(deps).Handle(b.t.Context(), one); err != nil {
				b.t.Errorf("%s: %v", one.Body, err)
			}
		})
	}
	wg.Wait()
}

// wantTaken compares what is taken of a limit today.
func (b *bench) wantTaken(key string, want int64) {
	b.t.Helper()
	count, err := b.Limits.Get(b.t.Context(), key, b.now)
	if err != nil || count.Used != want {
		b.t.Errorf("%d of %s are used, %v, want %d", count.Used, key, err, want)
	}
}

// tables reads all rows, as the SDK gives them.
func (b *bench) tables() map[string]string {
	b.t.Helper()
	all := map[string]string{}
	for _, name := range b.db.Server().Tables() {
		out, err := b.db.Client().Scan(b.t.Context(), &dynamodb.ScanInput{TableName: aws.String(name)})
		if err != nil {
			b.t.Fatal(err)
		}
		for i, item := range out.Items {
			text, err := json.MarshalIndent(item, "", " ")
			if err != nil {
				b.t.Fatal(err)
			}
			all[fmt.Sprintf("%s %d", name, i)] = string(text)
		}
	}
	return all
}

// failing is a classifier that always fails.
type failing struct{}

func (failing) Classify(context.Context, classify.Message) (classify.Result, error) {
	return classify.Result{}, errNever
}
