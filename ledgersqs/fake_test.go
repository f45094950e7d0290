package ledgersqs_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/ledger"
	"github.com/homeops/ddbpatterns/ledgersqs"
	"github.com/homeops/ddbpatterns/schema"
)

const url = "https://sqs.eu-north-1.amazonaws.com/1/orders"

// fake is a queue as SQS has it: a message that is received is hidden for a time, and is
// dead after too many receives. A FIFO queue delivers nothing of a group of which
// something is hidden.
type fake struct {
	visibility  time.Duration
	maxReceives int
	fifo        bool
	fails       func(op string, nth int) (request, reply bool) // which is lost

	mu      sync.Mutex
	entries []*entry
	dead    []string // bodies
	asked   map[string]int
	delays  []int32
}

type entry struct {
	body, group string
	receives    int
	receipt     string
	visible     time.Time
}

var errLost = errors.New("connection reset")

func newFake() *fake {
	return &fake{visibility: 30 * time.Second, maxReceives: 5, asked: map[string]int{}}
}

// send sends a message for each body; "a-1" is of the group a.
func (f *fake) send(bodies ...string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, body := range bodies {
		f.entries = append(f.entries, &entry{body: body, group: body[:1]})
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
		e.receipt, e.visible = fmt.Sprintf("%s/%d", e.body, e.receives), now.Add(f.visibility)
		system := map[string]string{"ApproximateReceiveCount": strconv.Itoa(e.receives), "MessageGroupId": e.group}
		if f.fifo {
			system["SequenceNumber"] = "1"
		}
		batch = append(batch, types.Message{
			MessageId: aws.String("id of " + e.body), Body: aws.String(e.body), ReceiptHandle: aws.String(e.receipt), Attributes: system,
			MessageAttributes: map[string]types.MessageAttributeValue{"order": {StringValue: aws.String(e.body), DataType: aws.String("String")}},
		})
		return false
	})
	return batch
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

// shop ships orders.
type shop struct {
	t    *testing.T
	db   *dynamotest.DB
	q    *fake
	seen *ledger.Store
	cfg  ledgersqs.Config

	pollers int
	work    func(ctx context.Context, m ledgersqs.Message, c *ledger.Claim) error

	mu      sync.Mutex
	shipped []string
	refused []string
	stayed  []string
}

func newShop(t *testing.T, cfg ledger.Config) *shop {
	t.Helper()
	db := dynamotest.New(t, nil)
	seen, err := ledger.New(db.Client(), "seen", &cfg)
	if err != nil {
		t.Fatal(err)
	}
	if err := schema.Create(t.Context(), db.Client(), seen.Table()); err != nil {
		t.Fatal(err)
	}
	s := &shop{t: t, db: db, q: newFake(), seen: seen}
	s.cfg.Refused = func(_ context.Context, m ledgersqs.Message, why error) error {
		s.note(&s.refused, fmt.Sprintf("%s: %v", m.Body, why))
		return nil
	}
	s.cfg.Log = func(_ context.Context, m ledgersqs.Message, why error) {
		s.note(&s.stayed, fmt.Sprintf("%s: %v", m.Body, why))
	}
	return s
}

func (s *shop) note(list *[]string, text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	*list = append(*list, text)
}

func keyOf(m ledgersqs.Message) (string, error) {
	return ledger.Key("ORDER", m.Attributes["order"].String)
}

// handler ships each order once.
func (s *shop) handler() ledgersqs.Handler {
	return ledgersqs.Once(s.seen, keyOf, func(ctx context.Context, m ledgersqs.Message, c *ledger.Claim) error {
		if s.work != nil {
			if err := s.work(ctx, m, c); err != nil {
				return err
			}
		}
		s.note(&s.shipped, m.Body)
		return nil
	})
}

// run runs until the queue is empty, or for so long.
func (s *shop) run(atMost time.Duration) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), atMost)
	defer cancel()
	go func() {
		for s.q.left() > 0 && ctx.Err() == nil {
			<-time.After(time.Second)
		}
		cancel()
	}()
	var pollers sync.WaitGroup
	for range max(1, s.pollers) {
		pollers.Go(func() {
			if err := ledgersqs.Run(ctx, s.q, url, s.handler(), &s.cfg); err != nil {
				s.t.Error(err)
			}
		})
	}
	pollers.Wait()
}
