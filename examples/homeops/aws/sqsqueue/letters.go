package sqsqueue

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/arn"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/homeops/ddbpatterns/examples/homeops/queue"
)

// redrive reads a redrive policy: after how many receives SQS moves a message,
// and to which queue.
func (q *Queue) redrive(ctx context.Context, policy string) (receives int, dead place, err error) {
	if policy == "" {
		return 0, place{}, fmt.Errorf("sqsqueue: queue %s has no redrive policy: nothing would keep a dead letter", q.queue.name)
	}
	var found struct {
		Target   string      `json:"deadLetterTargetArn"`
		Receives json.Number `json:"maxReceiveCount"` // a number, or in quotes
	}
	err = json.Unmarshal([]byte(policy), &found)
	count, notCount := found.Receives.Int64()
	target, notARN := arn.Parse(found.Target)
	if err == nil && notCount == nil && count < 1 {
		notCount = errors.New("maxReceiveCount must be positive")
	}
	if err = errors.Join(err, notCount, notARN); err != nil {
		return 0, place{}, fmt.Errorf("sqsqueue: queue %s has the redrive policy %s: %w", q.queue.name, policy, err)
	}
	dead.name = target.Resource
	ctx, cancel := context.WithTimeout(ctx, q.cfg.Timeout)
	defer cancel()
	out, err := q.api.GetQueueUrl(ctx, &sqs.GetQueueUrlInput{QueueName: &target.Resource, QueueOwnerAWSAccountId: &target.AccountID})
	if err != nil {
		return 0, place{}, dead.failed("GetQueueUrl", err)
	}
	dead.url = aws.ToString(out.QueueUrl)
	return int(count), dead, nil
}

// Refuse implements queue.Queue. After an error the letter may have been sent.
func (q *Queue) Refuse(ctx context.Context, body []byte, attributes map[string]string, reason string) error {
	text, attributes := queue.Refusal(body, queue.NonEmpty(attributes), reason, q.cfg.MaxBytes)
	return q.bury(ctx, queue.Message{Body: text, Attributes: attributes})
}

// Bury implements queue.Queue. A message that is too large with its reason is a
// *queue.TooLargeError. It is left to SQS, which moves it without a reason.
func (q *Queue) Bury(ctx context.Context, m queue.Message, reason string) error {
	letter := m
	letter.Attributes = queue.WithReason(m.Attributes, reason)
	letter.Attributes[queue.Delivery] = m.ID
	if err := q.bury(ctx, letter); err != nil {
		return err
	}
	return q.Delete(ctx, m.Receipt)
}

// bury sends a letter to the dead-letter queue.
func (q *Queue) bury(ctx context.Context, m queue.Message) error {
	if err := queue.Check(m.Body, m.Attributes, q.cfg.MaxBytes); err != nil {
		return q.dead.failed("SendMessage", err)
	}
	id, err := q.send(ctx, q.dead, m.Body, m.Attributes)
	if err != nil {
		return err
	}
	if m.ID == "" { // a body that never was in the queue
		m.ID = id
	}
	m.Log(q.cfg.Log).Warn("dead letter", "reason", m.Why())
	return nil
}

// DeadLetters implements queue.Queue.
func (q *Queue) DeadLetters() queue.DeadLetters { return letters{q} }

type letters struct{ q *Queue }

// lettersWait makes SQS ask all of its servers, which it does only with a wait.
// So an empty queue takes a second to answer.
const lettersWait = time.Second

// Receive implements queue.DeadLetters: hidden for whole seconds, at least one.
func (l letters) Receive(ctx context.Context, max int, hidden time.Duration) ([]queue.Message, error) {
	return l.q.receive(ctx, l.q.dead, max, lettersWait, clamp(hidden, time.Second))
}

// Delete implements queue.DeadLetters.
func (l letters) Delete(ctx context.Context, receipt string) error {
	return l.q.delete(ctx, l.q.dead, receipt)
}
