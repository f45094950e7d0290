package ledgersqs

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/verdict"
)

const (
	margin   = 2 * time.Second // between the end of the handler's context and that of the function
	settling = time.Second     // between the end of a lease and that of the function
	shortest = time.Second     // lease of a ledger
	mostWait = 11 * time.Hour  // SQS counts its 12 from the receive
	longPoll = 20 * time.Second
	toAnswer = 10 * time.Second // for a request to SQS, with its retries
)

var (
	errNoTime  = errors.New("ledgersqs: not begun: the time is over")
	errInOrder = errors.New("ledgersqs: not begun: a message before it in its group stays")
)

// queue is where messages come from.
type queue struct {
	Config

	handle Handler
}

// returned is a message that stays in the queue.
type returned struct {
	Message

	why  error
	wait time.Duration // until it should come again; 0 if nobody knows
}

// Run works on the messages of a queue, one after the other, until the context ends.
// Then it finishes the messages in hand, within Config.Timeout, and returns nil. What
// fails meanwhile comes again at once, for another process, or after the error's Wait.
// To work on several messages side by side, call Run several times.
//
// A request to SQS that fails is logged. A message that could not be deleted comes
// again, and its key is done. Run returns an [*event.InputError] for bad input.
//
// Price: 1 request to SQS for each Batch that is received, or for 20 seconds without a
// message, and 1 for each message that is deleted or delayed; and the Handler's.
func Run(ctx context.Context, client API, url string, handle Handler, cfg *Config) error {
	q, err := open(client, url, handle, cfg)
	for err == nil && ctx.Err() == nil {
		if lost := q.poll(ctx); lost != nil && ctx.Err() == nil {
			q.Log(ctx, Message{}, lost)
			select {
			case <-ctx.Done():
			case <-time.After(time.Second):
			}
		}
	}
	return err
}

// Poll receives messages once, for which SQS waits 20 seconds at most, and works on them
// as Run does. It is for a task that starts now and then. It returns the error of the
// receive, also when the context ends, or an [*event.InputError] for bad input.
//
// Price: that of Run, for one Batch.
func Poll(ctx context.Context, client API, url string, handle Handler, cfg *Config) error {
	q, err := open(client, url, handle, cfg)
	if err != nil {
		return err
	}
	return q.poll(ctx)
}

func open(client API, url string, handle Handler, cfg *Config) (*queue, error) {
	own, err := cfg.filled(handle)
	if err == nil && (client == nil || url == "") {
		err = event.BadInput(pkg, "url", "and client must be given")
	}
	own.Client, own.URL = client, url
	return &queue{own, handle}, err
}

// poll receives messages, and works on them.
func (q *queue) poll(ctx context.Context) error {
	asking, cancel := context.WithTimeout(ctx, longPoll+toAnswer)
	defer cancel()
	out, err := q.Client.ReceiveMessage(asking, &sqs.ReceiveMessageInput{
		QueueUrl: &q.URL, MaxNumberOfMessages: int32(q.Batch), WaitTimeSeconds: int32(longPoll / time.Second),
		MessageAttributeNames:       []string{"All"},
		MessageSystemAttributeNames: []types.MessageSystemAttributeName{types.MessageSystemAttributeNameAll},
	})
	if err != nil {
		return fmt.Errorf("ledgersqs: ReceiveMessage: %w", err)
	}

	batch := make([]Message, len(out.Messages))
	for i, m := range out.Messages {
		batch[i] = received(m)
	}

	after := context.WithoutCancel(ctx)
	working, cancel := context.WithTimeout(after, q.Timeout)
	defer cancel()

	for _, r := range q.work(working, batch, func(m Message) { q.remove(after, m) }) {
		if r.wait > 0 || ctx.Err() != nil { // the process ends: another has it at once
			q.delay(after, r)
		}
	}
	return nil
}

// Lambda returns the function behind an event source mapping of a queue, for lambda.Start.
// The mapping must have ReportBatchItemFailures. The function names the messages that
// stay, and never returns an error. Lambda returns an [*event.InputError] for bad input.
//
// Price: 1 request to SQS for each message that is delayed, if there is a Config.Client;
// and the Handler's.
func Lambda(handle Handler, cfg *Config) (func(context.Context, Event) (Response, error), error) {
	own, err := cfg.filled(handle)
	if err != nil {
		return nil, err
	}

	q := &queue{own, handle}
	return func(ctx context.Context, in Event) (out Response, _ error) {
		for _, r := range q.work(ctx, in.Records, func(Message) {}) { // Lambda deletes what is done
			out.Failures = append(out.Failures, Failure{r.ID})
			if q.Client != nil && r.wait > 0 {
				q.delay(ctx, r)
			}
		}
		return out, nil
	}, nil
}

// work handles the messages one after the other, tells which are done, and returns those
// that stay. The context ends with the function.
func (q *queue) work(ctx context.Context, batch []Message, done func(Message)) (back []returned) {
	stuck := map[string]returned{} // a group's first message that stays
	for _, m := range batch {
		r, stays := stuck[m.Group()]
		if r.Message, r.why = m, errInOrder; !stays {
			r, stays = q.one(ctx, m)
		}

		if !stays {
			done(m)
			continue
		}

		if m.System["SequenceNumber"] != "" { // a FIFO queue; a standard one has groups, too, for fairness
			stuck[m.Group()] = r
		}

		q.Log(ctx, m, r.why)
		back = append(back, r)
	}

	return back
}

// one handles a message, and reports whether it stays.
func (q *queue) one(ctx context.Context, m Message) (r returned, stays bool) {
	lease, working := q.Lease, ctx
	if deadline, ok := ctx.Deadline(); ok {
		lease = min(lease, time.Until(deadline)-settling)
		var cancel context.CancelFunc
		working, cancel = context.WithDeadline(ctx, deadline.Add(-margin))
		defer cancel()
	}

	if working.Err() != nil {
		return returned{m, errNoTime, 0}, true
	}

	err := q.handle(context.WithValue(working, leaseKey{}, lease), m)
	if err == nil {
		return returned{}, false
	}

	v := verdict.Of(err)
	if v.Kind == verdict.Poison {
		if kept := q.Refused(ctx, m, err); kept != nil {
			return returned{m, fmt.Errorf("ledgersqs: refused, and not kept: %w; %w", err, kept), 0}, true
		}
	}

	return returned{m, err, v.Wait}, v.Kind == verdict.Retry
}

// delay makes a message come again after its wait, rounded up to whole seconds. A
// message without a wait comes again at once.
func (q *queue) delay(ctx context.Context, r returned) {
	wait := int32((min(r.wait, mostWait) + time.Second - 1) / time.Second)
	in := &sqs.ChangeMessageVisibilityInput{QueueUrl: &q.URL, ReceiptHandle: &r.Receipt, VisibilityTimeout: wait}
	ask(ctx, q, r.Message, "ChangeMessageVisibility", q.Client.ChangeMessageVisibility, in)
}

// remove deletes a message. If that fails, it comes again.
func (q *queue) remove(ctx context.Context, m Message) {
	in := &sqs.DeleteMessageInput{QueueUrl: &q.URL, ReceiptHandle: &m.Receipt}
	ask(ctx, q, m, "DeleteMessage", q.Client.DeleteMessage, in)
}

// ask sends a request about a message, and logs its error.
func ask[In, Out any](ctx context.Context, q *queue, m Message, op string, send func(context.Context, *In, ...func(*sqs.Options)) (*Out, error), in *In) {
	ctx, cancel := context.WithTimeout(ctx, toAnswer)
	defer cancel()
	if _, err := send(ctx, in); err != nil {
		q.Log(ctx, m, fmt.Errorf("ledgersqs: %s: %w", op, err))
	}
}
