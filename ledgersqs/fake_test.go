package ledgersqs_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

const url = "https://sqs.eu-north-1.amazonaws.com/1/orders"

// fake is a queue as SQS has it: a message that is received is hidden for a time, and is
// dead after too many receives. A FIFO queue delivers nothing of a group of which
// something is hidden. Copy this file for tests of your own.
type fake struct {
	visibility  time.Duration
	maxReceives int
	fifo        bool
	fails       func(op string, nth int) (request, reply bool) // which is lost
	attributes  func(body string) map[string]string            // of a message: set it to your own

	mu      sync.Mutex
	entries []*entry
	dead    []string // bodies
	sent    int
	asked   map[string]int
	delays  []int32
}

type entry struct {
	id          string
	body, group string
	receives    int
	receipt     string
	visible     time.Time
}

var errLost = errors.New("connection reset")

func newFake() *fake {
	f := &fake{visibility: 30 * time.Second, maxReceives: 5, asked: map[string]int{}}
	f.attributes = func(body string) map[string]string {
		if body == "" {
			return nil
		}
		return map[string]string{"order": body, "customer": "ann"}
	}
	return f
}

// send sends a message for each body; "a-1" is of the group a.
func (f *fake) send(bodies ...string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, body := range bodies {
		f.sent++
		f.entries = append(f.entries, &entry{id: strconv.Itoa(f.sent), body: body, group: body[:min(1, len(body))]})
	}
}

// ask does what was asked, unless the request is lost; the reply may be lost, too.
func (f *fake) ask(op string, do func()) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asked[op]++
	request, reply := false, false
	if f.fails != nil {
		request, reply = f.fails(op, f.asked[op])
	}
	if !request {
		do()
	}
	if request || reply {
		return errLost
	}
	return nil
}

func (f *fake) ReceiveMessage(ctx context.Context, in *sqs.ReceiveMessageInput, _ ...func(*sqs.Options)) (*sqs.ReceiveMessageOutput, error) {
	out := &sqs.ReceiveMessageOutput{}
	for range in.WaitTimeSeconds {
		err := f.ask("ReceiveMessage", func() { out.Messages = f.take(int(in.MaxNumberOfMessages)) })
		if err != nil || len(out.Messages) > 0 {
			return out, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(time.Second):
		}
	}
	return out, nil
}

func (f *fake) take(most int) (batch []types.Message) {
	now := time.Now()
	busy := map[string]bool{}
	f.entries = slices.DeleteFunc(f.entries, func(e *entry) bool {
		hidden := now.Before(e.visible)
		if f.fifo && hidden {
			busy[e.group] = true
		}
		if hidden || busy[e.group] || len(batch) == most {
			return false
		}
		if e.receives++; e.receives > f.maxReceives {
			f.dead = append(f.dead, e.body)
			return true
		}
		e.receipt, e.visible = fmt.Sprintf("%s/%d", e.id, e.receives), now.Add(f.visibility)
		system := map[string]string{"ApproximateReceiveCount": strconv.Itoa(e.receives), "MessageGroupId": e.group}
		if f.fifo {
			system["SequenceNumber"] = "1"
		}
		batch = append(batch, types.Message{
			MessageId: aws.String(e.id), Body: aws.String(e.body), ReceiptHandle: aws.String(e.receipt), Attributes: system,
			MessageAttributes: typed(f.attributes(e.body)),
		})
		return false
	})
	return batch
}

func typed(attributes map[string]string) map[string]types.MessageAttributeValue {
	all := map[string]types.MessageAttributeValue{}
	for name, text := range attributes {
		all[name] = types.MessageAttributeValue{StringValue: aws.String(text), DataType: aws.String("String")}
	}
	return all
}

func (f *fake) DeleteMessage(_ context.Context, in *sqs.DeleteMessageInput, _ ...func(*sqs.Options)) (*sqs.DeleteMessageOutput, error) {
	return &sqs.DeleteMessageOutput{}, f.ask("DeleteMessage", func() {
		f.entries = slices.DeleteFunc(f.entries, func(e *entry) bool { return e.receipt == *in.ReceiptHandle })
	})
}

func (f *fake) ChangeMessageVisibility(_ context.Context, in *sqs.ChangeMessageVisibilityInput, _ ...func(*sqs.Options)) (*sqs.ChangeMessageVisibilityOutput, error) {
	return &sqs.ChangeMessageVisibilityOutput{}, f.ask("ChangeMessageVisibility", func() {
		f.delays = append(f.delays, in.VisibilityTimeout)
		for _, e := range f.entries {
			if e.receipt == *in.ReceiptHandle {
				e.visible = time.Now().Add(time.Duration(in.VisibilityTimeout) * time.Second)
			}
		}
	})
}

func (f *fake) left() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.entries)
}
