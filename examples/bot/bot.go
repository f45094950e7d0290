// Command bot is a whole service in two files, to read before the larger
// examples: Telegram's webhook, a queue, a worker, and three tables of the
// library.
//
//	go run ./examples/bot
//
// In a chat, the bot logs "/done dishes" and says thanks, three times a day at
// most. This file has the order of an update's steps:
//
//	Webhook    checks the secret, and answers 200 once the update is queued
//	Queue      delivers at least once: put SQS here
//	Worker     one delivery: keep the message, record what was done, ask the
//	           limit, send
//
// main.go posts the updates of testdata, on a DynamoDB inside the process,
// makes the worker die twice, prints why there are no thanks, and at the end the
// tables.
//
// # What happens once
//
// Telegram posts an update again if it got no answer, the queue delivers it again
// if it was not acknowledged, and the SDK sends a request again if its reply is
// lost. So each write has a key from the event that caused it, the message with
// Telegram's id, and takes effect once. A repeated delivery goes through all steps
// again: steps that an earlier one has done are Duplicates, and the others are
// done now.
//
// The message to the chat is sent at most once, because Telegram has no key that
// would make it safe to repeat. Only the call of Take that took the room sends (OK,
// Created, even if a reply was lost and the SDK sent again). A later delivery gets
// OK, Duplicate. It cannot know whether the earlier worker died just before or just
// after it sent, so it says nothing. A worker that dies between Take and Send has
// used one of the three and thanked nobody. For thanks that is the better mistake.
// If silence is worse than saying it twice, send inside ledger.Do, which repeats
// its work until the result is stored.
//
// bot_test.go kills the worker at every request, gives a delivery to two workers, and
// compares the tables.
package main

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/homeops/ddbpatterns/activity"
	"github.com/homeops/ddbpatterns/counter"
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/message"
	"github.com/homeops/ddbpatterns/tzclock"
	"github.com/homeops/ddbpatterns/verdict"
)

// Webhook receives the updates that Telegram posts.
type Webhook struct {
	Secret string // the secret_token that setWebhook got
	Queue  Queue
}

// ServeHTTP answers 200 only when the update is in the queue. After any other
// answer Telegram posts it again.
func (w Webhook) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	if !same(r.Header.Get("X-Telegram-Bot-Api-Secret-Token"), w.Secret) {
		http.Error(rw, "wrong secret", http.StatusUnauthorized)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(rw, r.Body, 1<<20)) // Telegram's updates have 64 KB
	if err != nil {
		http.Error(rw, "cannot read the body", http.StatusBadRequest)
		return
	}
	if err := w.Queue.Send(r.Context(), string(body)); err != nil {
		http.Error(rw, "later", http.StatusServiceUnavailable)
	}
}

// same compares hashes, so that its duration discloses nothing.
func same(got, want string) bool {
	a, b := sha256.Sum256([]byte(got)), sha256.Sum256([]byte(want))
	return want != "" && subtle.ConstantTimeCompare(a[:], b[:]) == 1
}

// Queue delivers at least once, in no promised order, as a standard queue of SQS
// does: Send is SendMessage, Receive is ReceiveMessage, ack is DeleteMessage.
type Queue interface {
	Send(ctx context.Context, body string) error
	// Receive waits for a delivery. A delivery that is not acknowledged comes
	// again.
	Receive(ctx context.Context) (body string, ack func(), err error)
}

// Memory is a Queue that ends with the process, which is enough to try the bot.
type Memory struct {
	Bodies chan string   // its capacity bounds the queue
	Again  time.Duration // until a delivery that was not acknowledged comes again
}

// Send implements Queue. It does not wait for room, because Telegram posts
// again.
func (q Memory) Send(_ context.Context, body string) error {
	select {
	case q.Bodies <- body:
		return nil
	default:
		return errors.New("bot: the queue is full")
	}
}

// Receive implements Queue.
func (q Memory) Receive(ctx context.Context) (string, func(), error) {
	select {
	case body := <-q.Bodies:
		timer := time.AfterFunc(q.Again, func() { q.Bodies <- body })
		return body, func() { timer.Stop() }, nil
	case <-ctx.Done():
		return "", nil, ctx.Err()
	}
}

// Update is what the bot reads of Telegram's updates.
type Update struct {
	Message *struct { // nil in updates of other kinds
		ID   int64 `json:"message_id"`
		Date int64 `json:"date"` // Unix seconds
		Text string
		Chat struct{ ID int64 }
		From struct {
			ID   int64
			Name string `json:"first_name"`
		}
	}
}

// ThanksADay is how often the bot says thanks in a chat on one day in
// Stockholm.
const ThanksADay = 3

// Worker writes rows and sends replies for deliveries.
type Worker struct {
	Queue      Queue
	Messages   *message.Store
	Activities *activity.Store
	Limits     *counter.Store
	Send       func(context.Context, Reply) error
	Silent     func(why string) // called where a message gets no thanks
}

// Reply is a message of the bot, for Telegram's sendMessage.
type Reply struct {
	Chat, ReplyTo int64
	Text          string
}

// NewWorker makes the stores. A nil clock is time.Now.
func NewWorker(db *dynamodb.Client, now func() time.Time, q Queue, send func(context.Context, Reply) error) (*Worker, error) {
	messages, err := message.New(db, "bot-messages", &message.Config{Now: now})
	if err != nil {
		return nil, err
	}
	activities, err := activity.New(db, "bot-activities", &activity.Config{Now: now})
	if err != nil {
		return nil, err
	}
	limits, err := counter.New(db, "bot-limits", tzclock.Stockholm, &counter.Config{Now: now})
	if err != nil {
		return nil, err
	}
	return &Worker{Queue: q, Messages: messages, Activities: activities, Limits: limits, Send: send, Silent: func(string) {}}, nil
}

// Next works on one delivery. After an error that delivery comes again, to this
// worker or another.
func (w *Worker) Next(ctx context.Context) error {
	body, ack, err := w.Queue.Receive(ctx)
	if err != nil {
		return err
	}
	err = w.handle(ctx, body)
	switch verdict.Of(err).Kind {
	case verdict.Retry:
		return err
	case verdict.Poison: // repeating cannot help
		slog.WarnContext(ctx, "refused", "reason", err) // SQS: to the dead letters
	}
	ack()
	return nil
}

// handle does all that follows from an update, even if an earlier delivery has
// done a part of it.
func (w *Worker) handle(ctx context.Context, body string) error {
	var u Update
	if json.Unmarshal([]byte(body), &u) != nil {
		return event.BadInput("bot", "Update", "must be JSON in the form of a Telegram update")
	}
	m := u.Message
	if m == nil {
		return nil // an update of another kind
	}
	sent := time.Unix(m.Date, 0)
	chat, actor := strconv.FormatInt(m.Chat.ID, 10), strconv.FormatInt(m.From.ID, 10)
	ev, err := event.New(sent, "telegram", chat, strconv.FormatInt(m.ID, 10))
	if err != nil {
		return err
	}
	_, err = w.Messages.Save(ctx, message.Message{
		Scope: chat, Seq: m.ID, Actor: actor, ActorName: m.From.Name, Text: m.Text, At: sent, Raw: body,
	})
	if err != nil {
		return err
	}
	what, ok := strings.CutPrefix(m.Text, "/done ")
	if !ok {
		w.Silent("nothing was done")
		return nil
	}
	_, err = w.Activities.Record(ctx, activity.Activity{
		Scope: chat, Actor: actor, ActorName: m.From.Name, Event: ev, Name: what, Seq: m.ID,
	})
	if err != nil { // if another version of this program wrote it, or it was taken back, that ends the delivery
		return err
	}
	grant, err := w.Limits.Take(ctx, counter.Take{Key: chat, Event: ev, Weight: 1, Cap: ThanksADay})
	switch {
	case errors.Is(err, event.ErrTooOld): // a week late: its day cannot be counted, and nobody waits for thanks
		return nil
	case err != nil:
		return err
	case grant.Refused():
		w.Silent(fmt.Sprintf("limit reached, %d of %d today", grant.Used, grant.Cap))
		return nil
	case !grant.First(): // an earlier delivery sent, or died before it did
		w.Silent(fmt.Sprintf("delivered again, already counted (%d of %d today)", grant.Used, grant.Cap))
		return nil
	}
	// If Send fails, the delivery comes again and finds a Duplicate.
	text := fmt.Sprintf("Thanks, %s: %s ✓ (%d of %d today)", m.From.Name, what, grant.Used, grant.Cap)
	return w.Send(ctx, Reply{Chat: m.Chat.ID, ReplyTo: m.ID, Text: text})
}
