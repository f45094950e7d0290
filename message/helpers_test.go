package message_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/ddb"
	"github.com/homeops/ddbpatterns/message"
	"github.com/homeops/ddbpatterns/schema"
)

const (
	chat = "-100123"
	anna = "42"
	bo   = "43"
	cia  = "44"
)

var noon = time.Date(2026, 3, 29, 12, 0, 0, 0, time.UTC)

// env is a store on a table of its own, without TTL: on an endpoint the clock
// of the tests is not that of the server.
type env struct {
	*message.Store
	db    *dynamotest.DB
	table string
	now   time.Time
}

func open(t testing.TB, cfg message.Config) *env {
	t.Helper()
	e := &env{db: dynamotest.Open(t), now: noon}
	e.table = e.db.Name("messages")
	if cfg.Now == nil {
		cfg.Now = func() time.Time { return e.now }
	}
	var err error
	if e.Store, err = message.New(impatient{e.db.Client()}, e.table, &cfg); err != nil {
		t.Fatal(err)
	}
	table := e.Table()
	table.TTL = ""
	if err := schema.Create(t.Context(), e.db.Client(), table); err != nil {
		t.Fatal(err)
	}
	return e
}

// impatient tries again at once.
type impatient struct{ *dynamodb.Client }

func (c impatient) PutItem(ctx context.Context, in *dynamodb.PutItemInput, options ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error) {
	return c.Client.PutItem(ctx, in, append([]func(*dynamodb.Options){atOnce}, options...)...)
}

func atOnce(o *dynamodb.Options) {
	o.Retryer = retry.NewStandard(func(so *retry.StandardOptions) {
		so.MaxAttempts = 10
		so.Backoff = retry.BackoffDelayerFunc(func(int, error) (time.Duration, error) { return 0, nil })
	})
}

// said is a message of the chat, so many seconds before noon.
func said(seq int64, actor string, before float64) message.Message {
	return message.Message{
		Scope: chat, Seq: seq, Actor: actor, Text: fmt.Sprint("message ", seq),
		At: noon.Add(-time.Duration(before * float64(time.Second))),
	}
}

func (e *env) save(t testing.TB, messages ...message.Message) {
	t.Helper()
	for _, m := range messages {
		if out, err := e.Save(t.Context(), m); err != nil || out != event.Created {
			t.Fatalf("Save of %d = %v, %v", m.Seq, out, err)
		}
	}
}

// saveMany saves so many messages of one actor, a second apart, the last at
// noon.
func (e *env) saveMany(t testing.TB, n int64) {
	t.Helper()
	for seq := int64(1); seq <= n; seq++ {
		e.save(t, said(seq, anna, float64(n-seq)))
	}
}

func (e *env) put(t testing.TB, row ddb.Item) {
	t.Helper()
	_, err := e.db.Client().PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String(e.table), Item: row})
	if err != nil {
		t.Fatal(err)
	}
}

func text(s string) types.AttributeValue  { return &types.AttributeValueMemberS{Value: s} }
func number(n int64) types.AttributeValue { return &types.AttributeValueMemberN{Value: fmt.Sprint(n)} }

// seqs drains the messages and returns their sequences.
func seqs(t testing.TB, messages iter.Seq2[message.Message, error]) []int64 {
	t.Helper()
	var got []int64
	for m, err := range messages {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, m.Seq)
	}
	return got
}

func seqsOf(messages []message.Message) []int64 {
	var got []int64
	for _, m := range messages {
		got = append(got, m.Seq)
	}
	return got
}

func wantBad(t testing.TB, err error, field string) {
	t.Helper()
	var bad *event.InputError
	if !errors.As(err, &bad) || bad.Package != "message" || bad.Field != field {
		t.Errorf("got %v, want an InputError of message's %s", err, field)
	}
}

// silent fails the test when anything is sent.
type silent struct{ t testing.TB }

var errSent = errors.New("no request should have been sent")

func (s silent) PutItem(context.Context, *dynamodb.PutItemInput, ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error) {
	s.t.Error(errSent)
	return nil, errSent
}

func (s silent) GetItem(context.Context, *dynamodb.GetItemInput, ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error) {
	s.t.Error(errSent)
	return nil, errSent
}

func (s silent) Query(context.Context, *dynamodb.QueryInput, ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error) {
	s.t.Error(errSent)
	return nil, errSent
}
