package ledgersqs_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/homeops/ddbpatterns/ledger"
	"github.com/homeops/ddbpatterns/ledgersqs"
)

// fifo is a message of a FIFO queue, as Lambda writes it.
const fifo = `{"messageId":"id of BODY","receiptHandle":"BODY/1","body":"BODY","md5OfBody":"0","eventSource":"aws:sqs","awsRegion":"eu-north-1",
	"eventSourceARN":"arn:aws:sqs:eu-north-1:1:orders.fifo",
	"attributes":{"ApproximateReceiveCount":"2","SentTimestamp":"1795329006731","MessageGroupId":"GROUP","SequenceNumber":"18849496460467696128"},
	"messageAttributes":{"order":{"stringValue":"BODY","stringListValues":[],"binaryListValues":[],"dataType":"String"},
		"image":{"binaryValue":"AAE=","stringListValues":[],"binaryListValues":[],"dataType":"Binary"}}}`

func eventOf(t *testing.T, bodies ...string) (in ledgersqs.Event) {
	t.Helper()
	var records []string
	for _, body := range bodies {
		records = append(records, strings.NewReplacer("BODY", body, "GROUP", body[:1]).Replace(fifo))
	}
	if err := json.Unmarshal([]byte(`{"Records":[`+strings.Join(records, ",")+`]}`), &in); err != nil {
		t.Fatal(err)
	}
	return in
}

// invoke calls the function with its timeout, and returns the bodies that stay.
func (s *shop) invoke(timeout time.Duration, bodies ...string) (stay []string) {
	s.t.Helper()
	handle, err := ledgersqs.Lambda(s.handler(), &s.cfg)
	if err != nil {
		s.t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(s.t.Context(), timeout)
	defer cancel()
	out, err := handle(ctx, eventOf(s.t, bodies...))
	if err != nil || ctx.Err() != nil {
		s.t.Errorf("%v, %v", err, ctx.Err())
	}
	text, err := json.Marshal(out)
	if err != nil {
		s.t.Error(err)
	}
	for _, part := range strings.Split(string(text), `{"itemIdentifier":"id of `)[1:] {
		stay = append(stay, part[:strings.Index(part, `"`)])
	}
	return stay
}

func TestLambdaNamesWhatStays(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newShop(t, ledger.Config{})
		s.work = func(_ context.Context, m ledgersqs.Message, _ *ledger.Claim) error {
			if m.Receives() != 2 || m.Group() != m.Body[:1] || !slices.Equal(m.Attributes["image"].Binary, []byte{0, 1}) {
				t.Errorf("%+v", m)
			}
			if m.Body == "a-2" {
				return errors.New("down")
			}
			return nil
		}
		want(t, "all done", s.invoke(time.Minute, "a-1", "b-1"))
		want(t, "some stay", s.invoke(time.Minute, "a-1", "a-2", "b-1", "a-3", "c-1"), "a-2", "a-3")
		want(t, "shipped", s.shipped, "a-1", "b-1", "c-1")
	})
}

// The lease ends before the function, so a function that was killed blocks its key no
// longer than that, and the work ends 2 s before.
func TestLambdaTime(t *testing.T) {
	t.Parallel()
	for timeout, lease := range map[time.Duration]time.Duration{
		3 * time.Second: 2 * time.Second, 30 * time.Second: 29 * time.Second, 61 * time.Second: time.Minute, 15 * time.Minute: time.Minute,
	} {
		synctest.Test(t, func(t *testing.T) {
			s := newShop(t, ledger.Config{MaxSkew: 10 * time.Second})
			began := time.Now()
			s.work = func(ctx context.Context, m ledgersqs.Message, c *ledger.Claim) error {
				if got := c.LeaseUntil().Sub(began); got != lease || ledgersqs.Lease(ctx) != lease {
					t.Errorf("%v: a lease of %v, %v in the context", timeout, got, ledgersqs.Lease(ctx))
				}
				<-ctx.Done()
				if got := time.Since(began); got != timeout-2*time.Second {
					t.Errorf("%v: the work ends after %v", timeout, got)
				}
				if m.Body == "k-1" {
					panic("killed")
				}
				return ctx.Err()
			}
			want(t, "too slow", s.invoke(timeout, "a-1", "b-1"), "a-1", "b-1")
			want(t, "the log", s.stayed, "a-1: context deadline exceeded", "b-1: ledgersqs: not begun: the time is over")

			began = time.Now()
			func() {
				defer func() { _ = recover() }()
				s.invoke(timeout, "k-1")
			}()
			s.work = nil
			time.Sleep(2*time.Second + lease + 10*time.Second)
			want(t, "after a kill", s.invoke(timeout, "k-1"))
			want(t, "shipped", s.shipped, "k-1")
		})
	}
	if ledgersqs.Lease(t.Context()) != 0 {
		t.Error("a lease of nothing")
	}
}

// With a client, what is in progress comes again when its key may be free.
func TestLambdaDelays(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newShop(t, ledger.Config{})
		if _, err := s.seen.Claim(t.Context(), ledger.Request{Key: "ORDER:a-1"}); err != nil {
			t.Fatal(err)
		}
		want(t, "without a client", s.invoke(time.Minute, "a-1", "a-2", "b-1"), "a-1", "a-2")
		s.cfg.Client, s.cfg.URL = s.q, url
		want(t, "with a client", s.invoke(time.Minute, "a-1", "a-2", "b-1"), "a-1", "a-2")
		if !slices.Equal(s.q.delays, []int32{70, 70}) {
			t.Errorf("delays of %v s", s.q.delays)
		}
		s.q.fails = func(string, int) (bool, bool) { return true, true }
		want(t, "a delay fails", s.invoke(time.Minute, "a-1"), "a-1")
		if last := s.stayed[len(s.stayed)-1]; last != "a-1: ledgersqs: ChangeMessageVisibility: connection reset" {
			t.Error(last)
		}
	})
}
