package sqsqueue_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/aws/smithy-go"
	"github.com/google/go-cmp/cmp"

	"github.com/homeops/ddbpatterns/examples/homeops/aws/sqsqueue"
	"github.com/homeops/ddbpatterns/examples/homeops/queue"
)

const (
	account  = "https://sqs.eu-north-1.amazonaws.com/123456789012/"
	ownURL   = account + "homeops-messages"
	deadURL  = account + "homeops-messages-dlq"
	policy   = `{"deadLetterTargetArn":"arn:aws:sqs:eu-north-1:123456789012:homeops-messages-dlq","maxReceiveCount":3}`
	ownName  = "homeops-messages"
	deadName = "homeops-messages-dlq"
)

// api answers as SQS does, and keeps what it was asked.
type api struct {
	attributes map[string]map[string]string // by URL
	messages   []types.Message
	fails      map[string]error // by operation
	blocks     string           // the operation that ends with its context, or all

	sent     []*sqs.SendMessageInput
	received []*sqs.ReceiveMessageInput
	deleted  []*sqs.DeleteMessageInput
	changed  []*sqs.ChangeMessageVisibilityInput
	asked    int
}

func newAPI() *api {
	return &api{fails: map[string]error{}, attributes: map[string]map[string]string{
		ownURL: {
			"RedrivePolicy": policy, "MaximumMessageSize": "1048576", "ApproximateNumberOfMessages": "4",
			"ApproximateNumberOfMessagesDelayed": "20", "ApproximateNumberOfMessagesNotVisible": "300",
		},
		deadURL: {
			"MaximumMessageSize": "1048576", "ApproximateNumberOfMessages": "5",
			"ApproximateNumberOfMessagesDelayed": "0", "ApproximateNumberOfMessagesNotVisible": "60",
		},
	}}
}

func (a *api) answer(ctx context.Context, operation string) error {
	a.asked++
	if a.blocks == operation || a.blocks == "all" {
		<-ctx.Done()
		return ctx.Err()
	}
	return a.fails[operation]
}

func (a *api) GetQueueAttributes(ctx context.Context, in *sqs.GetQueueAttributesInput, _ ...func(*sqs.Options)) (*sqs.GetQueueAttributesOutput, error) {
	found := map[string]string{}
	for _, name := range in.AttributeNames {
		if value, ok := a.attributes[*in.QueueUrl][string(name)]; ok {
			found[string(name)] = value
		}
	}
	return &sqs.GetQueueAttributesOutput{Attributes: found}, a.answer(ctx, "GetQueueAttributes")
}

func (a *api) GetQueueUrl(ctx context.Context, in *sqs.GetQueueUrlInput, _ ...func(*sqs.Options)) (*sqs.GetQueueUrlOutput, error) {
	url := "https://sqs.eu-north-1.amazonaws.com/" + *in.QueueOwnerAWSAccountId + "/" + *in.QueueName
	return &sqs.GetQueueUrlOutput{QueueUrl: &url}, a.answer(ctx, "GetQueueUrl")
}

func (a *api) SendMessage(ctx context.Context, in *sqs.SendMessageInput, _ ...func(*sqs.Options)) (*sqs.SendMessageOutput, error) {
	a.sent = append(a.sent, in)
	return &sqs.SendMessageOutput{MessageId: aws.String(fmt.Sprintf("id-%d", len(a.sent)))}, a.answer(ctx, "SendMessage")
}

func (a *api) ReceiveMessage(ctx context.Context, in *sqs.ReceiveMessageInput, _ ...func(*sqs.Options)) (*sqs.ReceiveMessageOutput, error) {
	a.received = append(a.received, in)
	return &sqs.ReceiveMessageOutput{Messages: a.messages}, a.answer(ctx, "ReceiveMessage")
}

func (a *api) DeleteMessage(ctx context.Context, in *sqs.DeleteMessageInput, _ ...func(*sqs.Options)) (*sqs.DeleteMessageOutput, error) {
	a.deleted = append(a.deleted, in)
	return &sqs.DeleteMessageOutput{}, a.answer(ctx, "DeleteMessage")
}

func (a *api) ChangeMessageVisibility(ctx context.Context, in *sqs.ChangeMessageVisibilityInput, _ ...func(*sqs.Options)) (*sqs.ChangeMessageVisibilityOutput, error) {
	a.changed = append(a.changed, in)
	return &sqs.ChangeMessageVisibilityOutput{}, a.answer(ctx, "ChangeMessageVisibility")
}

func open(t *testing.T, a *api, config *sqsqueue.Config) *sqsqueue.Queue {
	t.Helper()
	q, err := sqsqueue.Open(t.Context(), a, ownURL, config)
	if err != nil {
		t.Fatal(err)
	}
	return q
}

func TestOpenReadsTheRedrivePolicy(t *testing.T) {
	t.Parallel()
	a := newAPI()
	q := open(t, a, nil)
	if a.asked != 3 || q.MaxReceives() != 3 {
		t.Errorf("%d requests, %d receives", a.asked, q.MaxReceives())
	}
	if err := q.Refuse(t.Context(), []byte("{"), nil, "no JSON"); err != nil || *a.sent[0].QueueUrl != deadURL {
		t.Errorf("a letter goes to %s, %v", *a.sent[0].QueueUrl, err)
	}
	a.attributes[ownURL]["RedrivePolicy"] = strings.Replace(policy, ":3}", `:"7"}`, 1) // as it was written by a template
	if q := open(t, a, nil); q.MaxReceives() != 7 {
		t.Errorf("%d receives", q.MaxReceives())
	}
}

func TestOpenRefuses(t *testing.T) {
	t.Parallel()
	for policy, want := range map[string]string{
		"":   "queue homeops-messages has no redrive policy: nothing would keep a dead letter",
		"{":  "has the redrive policy {: ",
		"{}": "has the redrive policy {}: ",
		`{"deadLetterTargetArn":"homeops-messages-dlq","maxReceiveCount":3}`:                                             "arn: invalid prefix",
		`{"deadLetterTargetArn":"arn:aws:sqs:eu-north-1:123456789012:homeops-messages-dlq"}`:                             "parsing",
		`{"deadLetterTargetArn":"arn:aws:sqs:eu-north-1:123456789012:homeops-messages-dlq","maxReceiveCount":0}`:         "must be positive",
		`{"deadLetterTargetArn":"arn:aws:sqs:eu-north-1:123456789012:homeops-messages-dlq","maxReceiveCount":"several"}`: "number",
	} {
		a := newAPI()
		a.attributes[ownURL]["RedrivePolicy"] = policy
		_, err := sqsqueue.Open(t.Context(), a, ownURL, nil)
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), ownName) {
			t.Errorf("the policy %q: %v, want %s", policy, err, want)
		}
	}
	for _, config := range []sqsqueue.Config{
		{Visibility: -time.Second},
		{Visibility: 1500 * time.Millisecond},
		{Visibility: 12*time.Hour + time.Second},
		{MaxBytes: -1},
		{Timeout: -1},
	} {
		a := newAPI()
		if _, err := sqsqueue.Open(t.Context(), a, ownURL, &config); err == nil || a.asked > 0 {
			t.Errorf("%+v: %v after %d requests", config, err, a.asked)
		}
	}
	if q := open(t, newAPI(), &sqsqueue.Config{Visibility: 12 * time.Hour}); q == nil {
		t.Error("12 hours are refused")
	}
}

// The least of three limits holds.
func TestLimits(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		own, dead string
		config    int
		want      int
	}{
		{"1048576", "1048576", 0, queue.MaxBytes},
		{"1048576", "1048576", 1_048_576, 1_048_576},
		{"1024", "1048576", 0, 1024},
		{"1048576", "2048", 0, 2048},
		{"1048576", "1048576", 5000, 5000},
		{"", "", 0, queue.MaxBytes},
	} {
		a := newAPI()
		a.attributes[ownURL]["MaximumMessageSize"], a.attributes[deadURL]["MaximumMessageSize"] = c.own, c.dead
		q := open(t, a, &sqsqueue.Config{MaxBytes: c.config})
		_, err := q.Send(t.Context(), strings.Repeat("x", c.want+1), nil)
		if large, ok := errors.AsType[*queue.TooLargeError](err); !ok || large.Limit != c.want || len(a.sent) > 0 {
			t.Errorf("%+v: %v", c, err)
		}
		if _, err := q.Send(t.Context(), strings.Repeat("x", c.want), nil); err != nil {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

func TestSendsTypesAndTheChat(t *testing.T) {
	t.Parallel()
	a := newAPI()
	q := open(t, a, nil)
	id, err := q.Send(t.Context(), "hej", map[string]string{queue.ChatID: "-5", queue.MessageID: "7", "empty": ""})
	if err != nil || id != "id-1" {
		t.Fatalf("%q, %v", id, err)
	}
	got := map[string]string{}
	for name, value := range a.sent[0].MessageAttributes {
		got[name] = *value.DataType + " " + *value.StringValue
	}
	if want := map[string]string{queue.ChatID: "String -5", queue.MessageID: "Number 7"}; !maps.Equal(got, want) {
		t.Errorf("the attributes are %v, want %v", got, want)
	}
	for chat, want := range map[string]string{
		"-5": "-5", "": "none", "a b": "none", "å": "none", "a\tb": "none", "!~": "!~",
		strings.Repeat("5", 128): strings.Repeat("5", 128), strings.Repeat("5", 129): "none",
	} {
		if _, err := q.Send(t.Context(), "hej", map[string]string{queue.ChatID: chat}); err != nil {
			t.Fatal(err)
		}
		group := a.sent[len(a.sent)-1].MessageGroupId
		if group == nil {
			group = aws.String("none")
		}
		if *group != want {
			t.Errorf("the group of chat %q is %q", chat, *group)
		}
	}
}

func TestReceiveStaysWithinSQSLimits(t *testing.T) {
	t.Parallel()
	a := newAPI()
	q := open(t, a, &sqsqueue.Config{Visibility: 180 * time.Second})
	for _, c := range []struct {
		max     int
		wait    time.Duration
		wantMax int32
		want    int32
	}{
		{1, 20 * time.Second, 1, 20},
		{25, time.Hour, 10, 20},
		{10, 1999 * time.Millisecond, 10, 1},
		{2, 0, 2, 0},
	} {
		if _, err := q.Receive(t.Context(), c.max, c.wait); err != nil {
			t.Fatal(err)
		}
		in := a.received[len(a.received)-1]
		if *in.QueueUrl != ownURL || in.MaxNumberOfMessages != c.wantMax || in.WaitTimeSeconds != c.want || in.VisibilityTimeout != 180 {
			t.Errorf("%+v asks for %d, %d s, hidden for %d s", c, in.MaxNumberOfMessages, in.WaitTimeSeconds, in.VisibilityTimeout)
		}
	}
	if _, err := open(t, a, nil).Receive(t.Context(), 1, 0); err != nil || a.received[len(a.received)-1].VisibilityTimeout != 0 {
		t.Errorf("the queue's own visibility is not left to it, %v", err)
	}
	for hidden, want := range map[time.Duration]int32{0: 1, time.Minute: 60, 90 * time.Millisecond: 1, 24 * time.Hour: 43_200} {
		if _, err := q.DeadLetters().Receive(t.Context(), 5, hidden); err != nil {
			t.Fatal(err)
		}
		in := a.received[len(a.received)-1]
		if *in.QueueUrl != deadURL || in.VisibilityTimeout != want || in.MaxNumberOfMessages != 5 || in.WaitTimeSeconds != 1 {
			t.Errorf("letters are hidden for %d s and not %v: %+v", in.VisibilityTimeout, hidden, in)
		}
	}
}

func TestReleaseStaysWithinSQSLimits(t *testing.T) {
	t.Parallel()
	a := newAPI()
	q := open(t, a, nil)
	for after, want := range map[time.Duration]int32{
		-time.Second: 0, 0: 0, 1: 1, time.Second: 1, 1001 * time.Millisecond: 2, 11 * time.Hour: 39_600, 24 * time.Hour: 39_600,
	} {
		if err := q.Release(t.Context(), "receipt", after); err != nil {
			t.Fatal(err)
		}
		in := a.changed[len(a.changed)-1]
		if in.VisibilityTimeout != want || *in.QueueUrl != ownURL || *in.ReceiptHandle != "receipt" {
			t.Errorf("released after %v: %+v", after, in)
		}
	}
}

func TestDepthAddsUp(t *testing.T) {
	t.Parallel()
	a := newAPI()
	q := open(t, a, nil)
	if got, err := q.Depth(t.Context()); err != nil || got != (queue.Depth{Waiting: 24, InFlight: 300, Dead: 65}) {
		t.Errorf("%+v, %v", got, err)
	}
	delete(a.attributes[deadURL], "ApproximateNumberOfMessagesNotVisible")
	if _, err := q.Depth(t.Context()); err == nil || !strings.Contains(err.Error(), deadName+": ApproximateNumberOfMessagesNotVisible") {
		t.Errorf("a figure is missing: %v", err)
	}
}

// SQS says in several ways that a receipt is stale.
func TestStaleReceipts(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		err   error
		stale bool
	}{
		{&types.ReceiptHandleIsInvalid{}, true},
		{&types.MessageNotInflight{}, true},
		{&smithy.GenericAPIError{Code: "AWS.SimpleQueueService.MessageNotInflight"}, true},
		{&smithy.GenericAPIError{Code: "InvalidParameterValue", Message: "Value AQ for parameter ReceiptHandle is invalid. Reason: Message does not exist."}, true},
		{&smithy.GenericAPIError{Code: "InvalidParameterValue", Message: "Value 50000 for parameter VisibilityTimeout is invalid."}, false},
		{&smithy.GenericAPIError{Code: "AccessDenied", Message: "ReceiptHandle"}, false},
		{&types.QueueDoesNotExist{}, false},
		{errors.New("ReceiptHandle"), false},
	} {
		a := newAPI()
		q := open(t, a, nil)
		a.fails = map[string]error{"DeleteMessage": c.err, "ChangeMessageVisibility": c.err}
		for operation, err := range map[string]error{
			"DeleteMessage on " + ownName: q.Delete(t.Context(), "receipt"), "ChangeMessageVisibility on " + ownName: q.Release(t.Context(), "receipt", 0),
			"DeleteMessage on " + deadName: q.DeadLetters().Delete(t.Context(), "receipt"),
		} {
			if (err == nil) != c.stale || err != nil && !strings.Contains(err.Error(), operation) {
				t.Errorf("%s, %v: %v", operation, c.err, err)
			}
		}
		urls := map[string]bool{}
		for _, in := range a.deleted {
			urls[*in.QueueUrl] = true
		}
		if len(urls) != 2 {
			t.Errorf("deleted on %v", urls)
		}
	}
}

func TestErrorsNameOperationAndQueue(t *testing.T) {
	t.Parallel()
	a := newAPI()
	q := open(t, a, nil)
	trouble := errors.New("trouble")
	for _, operation := range []string{"SendMessage", "ReceiveMessage", "GetQueueAttributes", "GetQueueUrl"} {
		a.fails[operation] = trouble
	}
	_, sent := q.Send(t.Context(), "hej", nil)
	_, received := q.Receive(t.Context(), 1, 0)
	_, read := q.DeadLetters().Receive(t.Context(), 1, 0)
	_, depth := q.Depth(t.Context())
	_, opened := sqsqueue.Open(t.Context(), a, ownURL, nil)
	delete(a.fails, "GetQueueAttributes")
	_, found := sqsqueue.Open(t.Context(), a, ownURL, nil)
	for want, err := range map[string]error{
		"SendMessage on " + ownName: sent, "SendMessage on " + deadName: q.Refuse(t.Context(), nil, nil, "why"),
		"ReceiveMessage on " + ownName: received, "ReceiveMessage on " + deadName: read,
		"GetQueueAttributes on " + ownName: depth, " GetQueueAttributes on " + ownName: opened, "GetQueueUrl on " + deadName: found,
	} {
		if !errors.Is(err, trouble) || !strings.Contains(err.Error(), want+": trouble") {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

func TestReceived(t *testing.T) {
	t.Parallel()
	a := newAPI()
	a.messages = []types.Message{{
		MessageId: aws.String("id-1"), Body: aws.String("hej"), ReceiptHandle: aws.String("receipt"),
		Attributes: map[string]string{"ApproximateReceiveCount": "2", "SentTimestamp": "1775000000123", "MessageGroupId": "-5"},
		MessageAttributes: map[string]types.MessageAttributeValue{
			queue.ChatID: {DataType: aws.String("String"), StringValue: aws.String("-5")},
			"thumbnail":  {DataType: aws.String("Binary"), BinaryValue: []byte{1}}, // somebody else's
		},
	}}
	want := queue.Message{
		ID: "id-1", Body: "hej", Receipt: "receipt", Receives: 2, MaxReceives: 3,
		Attributes: map[string]string{queue.ChatID: "-5"}, SentAt: time.Date(2026, time.March, 31, 23, 33, 20, 123e6, time.UTC),
	}
	q := open(t, a, nil)
	got, err := q.Receive(t.Context(), 1, 0)
	if diff := cmp.Diff([]queue.Message{want}, got); err != nil || diff != "" {
		t.Errorf("%v, (-want +got):\n%s", err, diff)
	}
	want.MaxReceives = 0 // there is no queue behind the letters
	letters, err := q.DeadLetters().Receive(t.Context(), 1, time.Minute)
	if diff := cmp.Diff([]queue.Message{want}, letters); err != nil || diff != "" {
		t.Errorf("%v, (-want +got):\n%s", err, diff)
	}
}

// A message without the attributes that were asked for is an error, not a
// message that was never received.
func TestReceiveWantsWhatItAskedFor(t *testing.T) {
	t.Parallel()
	for _, attributes := range []map[string]string{{"SentTimestamp": "1"}, {"ApproximateReceiveCount": "1"}} {
		a := newAPI()
		a.messages = []types.Message{{Attributes: attributes}}
		if batch, err := open(t, a, nil).Receive(t.Context(), 1, 0); err == nil || len(batch) > 0 {
			t.Errorf("%v: %+v", attributes, batch)
		}
	}
}

// Every request ends, even if its caller sets no limit.
func TestRequestsEnd(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := newAPI()
		q := open(t, a, nil)
		a.blocks = "all"
		ctx := context.WithoutCancel(t.Context())
		for operation, c := range map[string]struct {
			do   func() error
			want time.Duration
		}{
			"Send":    {func() error { _, err := q.Send(ctx, "hej", nil); return err }, 10 * time.Second},
			"Receive": {func() error { _, err := q.Receive(ctx, 1, time.Minute); return err }, 30 * time.Second},
			"Delete":  {func() error { return q.Delete(ctx, "receipt") }, 10 * time.Second},
			"Release": {func() error { return q.Release(ctx, "receipt", 0) }, 10 * time.Second},
			"Refuse":  {func() error { return q.Refuse(ctx, nil, nil, "why") }, 10 * time.Second},
			"Depth":   {func() error { _, err := q.Depth(ctx); return err }, 10 * time.Second},
			"Open": {func() error {
				_, err := sqsqueue.Open(ctx, a, ownURL, &sqsqueue.Config{Timeout: time.Second})
				return err
			}, time.Second},
		} {
			began := time.Now()
			if err := c.do(); !errors.Is(err, context.DeadlineExceeded) || time.Since(began) != c.want {
				t.Errorf("%s ends after %v with %v", operation, time.Since(began), err)
			}
		}
		a.blocks = "GetQueueUrl"
		if _, err := sqsqueue.Open(ctx, a, ownURL, nil); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Open ends with %v", err)
		}
	})
}

// A message is deleted only after its letter was sent.
func TestBurySendsThenDeletes(t *testing.T) {
	t.Parallel()
	m := queue.Message{ID: "d-1", Body: "private", Receipt: "receipt", Receives: 3, Attributes: map[string]string{queue.ChatID: "-5", queue.MessageID: "7"}}
	var log strings.Builder
	a := newAPI()
	q := open(t, a, &sqsqueue.Config{MaxBytes: 200, Log: slog.New(slog.NewTextHandler(&log, nil))})

	a.fails["SendMessage"] = errors.New("trouble")
	if err := q.Bury(t.Context(), m, "why"); err == nil || len(a.deleted) > 0 || log.Len() > 0 {
		t.Errorf("not sent, and %d deleted: %v", len(a.deleted), err)
	}
	delete(a.fails, "SendMessage")
	large := m
	large.Body = strings.Repeat("x", 150) // has no room for a reason
	_, ok := errors.AsType[*queue.TooLargeError](q.Bury(t.Context(), large, "why"))
	if !ok || len(a.sent) != 1 || len(a.deleted) > 0 || log.Len() > 0 {
		t.Errorf("%d sent, %d deleted", len(a.sent), len(a.deleted))
	}
	a.fails["DeleteMessage"] = errors.New("trouble")
	if err := q.Bury(t.Context(), m, "why"); err == nil || !strings.Contains(err.Error(), "DeleteMessage on "+ownName) {
		t.Errorf("not deleted: %v", err)
	}
	delete(a.fails, "DeleteMessage")
	log.Reset()
	if err := q.Bury(t.Context(), m, "why"); err != nil || *a.deleted[1].ReceiptHandle != "receipt" || *a.deleted[1].QueueUrl != ownURL {
		t.Errorf("%v, deleted %+v", err, a.deleted)
	}
	if got := a.sent[len(a.sent)-1].MessageAttributes[queue.Delivery]; aws.ToString(got.StringValue) != "d-1" {
		t.Errorf("the letter is of the delivery %v", got)
	}
	m.Attributes["empty"] = ""
	if err := q.Refuse(t.Context(), []byte("{private"), m.Attributes, "no JSON"); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`msg="dead letter" delivery=d-1 chat_id=-5 message_id=7 receives=3 bytes=7 reason=why`,
		`msg="dead letter" delivery=id-4 chat_id=-5 message_id=7 receives=0 bytes=8 reason="no JSON"`,
	} {
		if !strings.Contains(log.String(), want) || strings.Contains(log.String(), "private") {
			t.Errorf("logged %s, want %s", &log, want)
		}
	}
}

func TestRegion(t *testing.T) {
	t.Parallel()
	for url, want := range map[string]string{
		ownURL: "eu-north-1",
		"https://sqs.us-gov-west-1.amazonaws.com/1/q":      "us-gov-west-1",
		"https://sqs.cn-north-1.amazonaws.com.cn/1/q":      "cn-north-1",
		"http://127.0.0.1:9324/000000000000/q":             "",
		"https://queue.amazonaws.com/1/q":                  "",
		"https://vpce-1.sqs.eu-north-1.vpce.amazonaws.com": "",
	} {
		if got := sqsqueue.Region(url); got != want {
			t.Errorf("%s is in %q, want %q", url, got, want)
		}
	}
}
