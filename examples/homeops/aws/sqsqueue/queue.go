// Package sqsqueue is the pipeline's queue on Amazon SQS: a standard queue and
// its dead-letter queue.
//
//	queue.go    the queue
//	letters.go  its dead letters
//	message.go  a message in SQS's terms
//
// IAM: every process needs sqs:GetQueueAttributes on both queues, and
// sqs:GetQueueUrl and sqs:SendMessage on the dead-letter queue. In addition the
// webhook needs sqs:SendMessage on the queue; the worker sqs:ReceiveMessage,
// sqs:DeleteMessage and sqs:ChangeMessageVisibility on it; operators the
// webhook's rights, and sqs:ReceiveMessage and sqs:DeleteMessage on the
// dead-letter queue.
package sqsqueue

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/homeops/ddbpatterns/examples/homeops/queue"
)

// API is the part of *sqs.Client that is called.
type API interface {
	ChangeMessageVisibility(context.Context, *sqs.ChangeMessageVisibilityInput, ...func(*sqs.Options)) (*sqs.ChangeMessageVisibilityOutput, error)
	DeleteMessage(context.Context, *sqs.DeleteMessageInput, ...func(*sqs.Options)) (*sqs.DeleteMessageOutput, error)
	GetQueueAttributes(context.Context, *sqs.GetQueueAttributesInput, ...func(*sqs.Options)) (*sqs.GetQueueAttributesOutput, error)
	GetQueueUrl(context.Context, *sqs.GetQueueUrlInput, ...func(*sqs.Options)) (*sqs.GetQueueUrlOutput, error)
	ReceiveMessage(context.Context, *sqs.ReceiveMessageInput, ...func(*sqs.Options)) (*sqs.ReceiveMessageOutput, error)
	SendMessage(context.Context, *sqs.SendMessageInput, ...func(*sqs.Options)) (*sqs.SendMessageOutput, error)
}

// SQS's own limits.
const (
	longestWait = 20 * time.Second
	longestHide = 12 * time.Hour
	// SQS counts longestHide from the receive, whose time a receipt does not
	// say.
	longestRelease = longestHide - time.Hour
	mostBatch      = 10
)

// Config of a Queue. A nil one works.
type Config struct {
	// Visibility is how long a received message stays hidden, in whole seconds
	// up to 12 hours. Defaults to the queue's own.
	Visibility time.Duration
	// MaxBytes bounds a message, attributes included. Defaults to
	// queue.MaxBytes. A queue's own limit holds if it is lower.
	MaxBytes int
	// Timeout is how long a request may take with its retries, not counting the
	// time that Receive waits. Defaults to 10 s.
	Timeout time.Duration
	// Log gets every dead letter made here. Defaults to none.
	Log *slog.Logger
}

func (c *Config) fill() (Config, error) {
	cfg := Config{}
	if c != nil {
		cfg = *c
	}
	switch {
	case cfg.Visibility < 0 || cfg.Visibility > longestHide || cfg.Visibility%time.Second != 0:
		return cfg, fmt.Errorf("sqsqueue: Config.Visibility: must be whole seconds up to 12 hours, is %v", cfg.Visibility)
	case cfg.MaxBytes < 0:
		return cfg, fmt.Errorf("sqsqueue: Config.MaxBytes: must not be negative, is %d", cfg.MaxBytes)
	case cfg.Timeout < 0:
		return cfg, fmt.Errorf("sqsqueue: Config.Timeout: must not be negative, is %v", cfg.Timeout)
	}
	if cfg.MaxBytes == 0 {
		cfg.MaxBytes = queue.MaxBytes
	}
	if cfg.Timeout == 0 {
		cfg.Timeout = 10 * time.Second
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	return cfg, nil
}

// Queue is a queue.Queue on SQS. Its errors name the operation and the queue.
type Queue struct {
	api         API
	cfg         Config
	queue, dead place
	maxReceives int
}

var _ queue.Queue = (*Queue)(nil)

// Open reads the settings of the queue and of its dead-letter queue, once for
// the life of the process. A queue without a redrive policy is refused: nothing
// would keep its dead letters. Three requests.
func Open(ctx context.Context, api API, url string, config *Config) (*Queue, error) {
	cfg, err := config.fill()
	if err != nil {
		return nil, err
	}
	q := &Queue{api: api, cfg: cfg, queue: place{url: url, name: nameOf(url)}}
	own, err := q.settings(ctx, q.queue)
	if err != nil {
		return nil, err
	}
	if q.maxReceives, q.dead, err = q.redrive(ctx, own[string(types.QueueAttributeNameRedrivePolicy)]); err != nil {
		return nil, err
	}
	others, err := q.settings(ctx, q.dead)
	if err != nil {
		return nil, err
	}
	for _, settings := range []map[string]string{own, others} {
		if most, err := strconv.Atoi(settings[string(types.QueueAttributeNameMaximumMessageSize)]); err == nil {
			q.cfg.MaxBytes = min(q.cfg.MaxBytes, most)
		}
	}
	return q, nil
}

// MaxReceives is how often a message is received before it is dead.
func (q *Queue) MaxReceives() int { return q.maxReceives }

// Send implements queue.Queue. After an error the message may have been sent:
// send it again. The webhook answers 500, Telegram repeats the update, and the
// worker does nothing twice.
func (q *Queue) Send(ctx context.Context, body string, attributes map[string]string) (string, error) {
	attributes = queue.NonEmpty(attributes)
	if err := queue.Check(body, attributes, q.cfg.MaxBytes); err != nil {
		return "", err
	}
	return q.send(ctx, q.queue, body, attributes)
}

func (q *Queue) send(ctx context.Context, to place, body string, attributes map[string]string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, q.cfg.Timeout)
	defer cancel()
	out, err := q.api.SendMessage(ctx, &sqs.SendMessageInput{
		QueueUrl: &to.url, MessageBody: &body, MessageAttributes: sendable(attributes), MessageGroupId: group(attributes),
	})
	if err != nil {
		return "", to.failed("SendMessage", err)
	}
	return aws.ToString(out.MessageId), nil
}

// Receive implements queue.Queue. SQS waits whole seconds, at most 20, and
// hands out at most 10 messages. If the context ends while it hands out a
// message, that message stays hidden for its visibility, and the receive
// counts.
func (q *Queue) Receive(ctx context.Context, max int, wait time.Duration) ([]queue.Message, error) {
	batch, err := q.receive(ctx, q.queue, max, wait, q.cfg.Visibility)
	for i := range batch {
		batch[i].MaxReceives = q.maxReceives
	}
	return batch, err
}

func (q *Queue) receive(ctx context.Context, from place, max int, wait, hidden time.Duration) ([]queue.Message, error) {
	if max < 1 {
		return nil, nil
	}
	wait = min(wait, longestWait).Truncate(time.Second)
	ctx, cancel := context.WithTimeout(ctx, q.cfg.Timeout+wait)
	defer cancel()
	out, err := q.api.ReceiveMessage(ctx, &sqs.ReceiveMessageInput{
		QueueUrl:              &from.url,
		MaxNumberOfMessages:   int32(min(max, mostBatch)),
		WaitTimeSeconds:       int32(wait / time.Second),
		VisibilityTimeout:     seconds(hidden),
		MessageAttributeNames: []string{"All"},
		MessageSystemAttributeNames: []types.MessageSystemAttributeName{
			types.MessageSystemAttributeNameApproximateReceiveCount,
			types.MessageSystemAttributeNameSentTimestamp,
			types.MessageSystemAttributeNameMessageGroupId,
		},
	})
	if err != nil {
		return nil, from.failed("ReceiveMessage", err)
	}
	batch := make([]queue.Message, len(out.Messages))
	for i, m := range out.Messages {
		if batch[i], err = received(m); err != nil {
			return nil, from.failed("ReceiveMessage", err)
		}
	}
	return batch, nil
}

// Delete implements queue.Queue.
func (q *Queue) Delete(ctx context.Context, receipt string) error {
	return q.delete(ctx, q.queue, receipt)
}

func (q *Queue) delete(ctx context.Context, from place, receipt string) error {
	ctx, cancel := context.WithTimeout(ctx, q.cfg.Timeout)
	defer cancel()
	_, err := q.api.DeleteMessage(ctx, &sqs.DeleteMessageInput{QueueUrl: &from.url, ReceiptHandle: &receipt})
	if err == nil || isStale(err) {
		return nil
	}
	return from.failed("DeleteMessage", err)
}

// Release implements queue.Queue: in whole seconds, and after at most 11 hours.
func (q *Queue) Release(ctx context.Context, receipt string, after time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, q.cfg.Timeout)
	defer cancel()
	_, err := q.api.ChangeMessageVisibility(ctx, &sqs.ChangeMessageVisibilityInput{
		QueueUrl: &q.queue.url, ReceiptHandle: &receipt, VisibilityTimeout: seconds(min(after, longestRelease)),
	})
	if err == nil || isStale(err) {
		return nil
	}
	return q.queue.failed("ChangeMessageVisibility", err)
}

// Depth implements queue.Queue. Two requests.
func (q *Queue) Depth(ctx context.Context) (queue.Depth, error) {
	own, err := q.counts(ctx, q.queue)
	if err != nil {
		return queue.Depth{}, err
	}
	dead, err := q.counts(ctx, q.dead)
	return queue.Depth{Waiting: own.Waiting, InFlight: own.InFlight, Dead: dead.Waiting + dead.InFlight}, err
}

func (q *Queue) counts(ctx context.Context, of place) (queue.Depth, error) {
	const (
		visible = types.QueueAttributeNameApproximateNumberOfMessages
		delayed = types.QueueAttributeNameApproximateNumberOfMessagesDelayed
		hidden  = types.QueueAttributeNameApproximateNumberOfMessagesNotVisible
	)
	found, err := q.attributes(ctx, of, visible, delayed, hidden)
	if err != nil {
		return queue.Depth{}, err
	}
	var errs []error
	count := func(name types.QueueAttributeName) int {
		n, err := strconv.Atoi(found[string(name)])
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", name, err))
		}
		return n
	}
	depth := queue.Depth{Waiting: count(visible) + count(delayed), InFlight: count(hidden)}
	if len(errs) > 0 {
		return queue.Depth{}, of.failed("GetQueueAttributes", errors.Join(errs...))
	}
	return depth, nil
}
