package post_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/dynamotest/explore"
	"github.com/homeops/ddbpatterns/examples/internal/pipeline"
	"github.com/homeops/ddbpatterns/examples/internal/sleep"
	"github.com/homeops/ddbpatterns/examples/quill/fact"
	"github.com/homeops/ddbpatterns/examples/quill/outbox"
	"github.com/homeops/ddbpatterns/examples/quill/post"
	"github.com/homeops/ddbpatterns/examples/quill/powerbi/powerbitest"
	"github.com/homeops/ddbpatterns/examples/quill/sink"
	"github.com/homeops/ddbpatterns/ledger"
)

// explored is a sink whose rows are in a table of the explorer's server, so that a post may
// arrive late. It counts how often it got each row.
type explored struct{ *explore.Process }

func once(o *dynamodb.Options) { o.Retryer = aws.NopRetryer{} }

func (explored) Limits() sink.Limits { return sink.Limits{} }

func (s explored) Post(ctx context.Context, table string, rows []fact.Row) error {
	in, batches := &dynamodb.TransactWriteItemsInput{}, map[string]*types.AttributeValueMemberSS{}
	for _, row := range rows {
		key, of := table+" "+row["key"].(string), fmt.Sprint("batch ", row["batch"])
		if row["batch"] == nil {
			of = fmt.Sprint(row["validFrom"], " ", row["stage"])
		}
		if batches[key] != nil { // several rows of a contact, which are not counted
			batches[key].Value = append(batches[key].Value, of)
			continue
		}
		batches[key] = &types.AttributeValueMemberSS{Value: []string{of}}
		in.TransactItems = append(in.TransactItems, types.TransactWriteItem{Update: &types.Update{
			TableName: aws.String("sink"), Key: map[string]types.AttributeValue{"pk": &types.AttributeValueMemberS{Value: key}},
			UpdateExpression:          aws.String("ADD n :one, batches :batch"),
			ExpressionAttributeValues: map[string]types.AttributeValue{":one": &types.AttributeValueMemberN{Value: "1"}, ":batch": batches[key]},
		}})
	}
	if _, err := s.Client().TransactWriteItems(ctx, in, once); err != nil {
		return &sink.UnknownError{Err: err}
	}
	return nil
}

func (s explored) Posted(ctx context.Context, table, batch string) (keys []string, _ error) {
	out, err := s.Client().Scan(ctx, &dynamodb.ScanInput{TableName: aws.String("sink"), ConsistentRead: aws.Bool(true)}, once)
	if err != nil {
		return nil, &sink.WaitError{Err: err}
	}
	for _, row := range out.Items {
		if batches := row["batches"].(*types.AttributeValueMemberSS).Value; slices.Contains(batches, "batch "+batch) {
			keys = append(keys, row["pk"].(*types.AttributeValueMemberS).Value[len(table)+1:])
		}
	}
	return keys, nil
}

// Sleep waits in the bubble.
func (explored) Sleep(ctx context.Context, d time.Duration) error { return sleep.For(ctx, d) }

func newPoster(p *explore.Process) *post.Poster {
	lease, err := post.NewLease(p.Client(), "QuillIdempotencyLedger", &ledger.Config{Now: p.Now, Rand: p.Rand()})
	if err != nil {
		panic(err)
	}
	facts, err := outbox.New(p.Client(), "QuillFacts", &outbox.Config{Now: p.Now})
	if err != nil {
		panic(err)
	}
	return &post.Poster{Lease: lease, Outbox: facts, Sink: explored{p}, Clock: explored{p}}
}

// figures compares the stored figures with what the sink got: each fact once, or with
// doubles more often, if they say so. The last row of the contact is right.
func figures(facts int, doubles bool) func(*explore.View) error {
	return func(v *explore.View) error {
		s, err := outbox.New(v.Client(), "QuillFacts", &outbox.Config{Now: v.Now})
		if err != nil {
			return err
		}
		stored, err := s.LoadPoster(context.Background())
		late, err2 := s.Late(context.Background())
		waiting, err3 := s.Waiting(context.Background(), fact.FactTables...)
		if err := errors.Join(err, err2, err3); err != nil {
			return err
		}
		got, twice := stored.Sums.Plus(late), -facts
		for _, row := range v.Items("sink") {
			n, _ := strconv.Atoi(row["n"].(*types.AttributeValueMemberN).Value)
			if strings.HasPrefix(row["pk"].(*types.AttributeValueMemberS).Value, fact.Communications) {
				twice += n
			} else if rows := row["batches"].(*types.AttributeValueMemberSS).Value; !strings.HasSuffix(slices.Max(rows), "stage 1") {
				return fmt.Errorf("the contact's rows are %q", rows)
			}
		}
		if got.Posted+got.Recovered != facts || got.Doubled != twice || got.Reposted != 0 || waiting > 0 || twice > 0 && !doubles {
			return fmt.Errorf("%+v, %d are pending, and the sink has facts %d times too often", got, waiting, twice)
		}
		return nil
	}
}

// varies are attributes of the ledger, the outbox and the sink that depend on the clock,
// or on which poster did it.
var varies = []string{"seenAt", "expiresAt", "claim", "lease", "fence", "attempts", "state", "batch*", "postedAt", "postAt", "hour", "sums", "written", "changed", "nonce"}

// If posters die at any request, or two are at work, the sink gets a fact once, and the
// figures are right; it may get a contact again. If a poster stands still in a post for
// longer than its lease, the sink may get the fact twice, and the figures say so.
func TestPipeline(t *testing.T) {
	t.Parallel()
	d := explore.Deliveries[struct{}]{Messages: make([]struct{}, 1), Visibility: post.LeaseFor + 30*time.Second, Receives: 20, End: figures(1, false), Ignore: varies}
	start := func(p *explore.Process) func(context.Context, struct{}) error {
		poster := newPoster(p)
		return func(ctx context.Context, _ struct{}) error { return poster.Drain(ctx) }
	}
	t.Run("a fact", func(t *testing.T) { pipeline.Test(t, 80, pending(t, plain(1)[0]), d, start) })
	d.Ignore, d.End = append(d.Ignore, "n", "total"), figures(2, false)
	t.Run("with a contact", func(t *testing.T) { pipeline.Test(t, 80, pending(t, call(0), call(3)), d, start) })
	cfg := pending(t, plain(1)[0])
	cfg.Moves, cfg.Moments, cfg.Faults.LateWithin = 1, []time.Duration{post.LeaseFor + time.Minute}, 10*time.Minute
	d.Twice, d.Ignore, d.End = true, []string{"*"}, figures(1, true) // a row of its own says so
	pipeline.Run(t, "standing still", 80, cfg, d, start)
}

// pending explores an outbox with facts.
func pending(t *testing.T, facts ...fact.Fact) explore.Config {
	t.Helper()
	e := open(t, powerbitest.Config{})
	e.put(facts...)
	_, err := e.db.Client().CreateTable(t.Context(), &dynamodb.CreateTableInput{
		TableName: aws.String("sink"), BillingMode: types.BillingModePayPerRequest,
		KeySchema:            []types.KeySchemaElement{{AttributeName: aws.String("pk"), KeyType: types.KeyTypeHash}},
		AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("pk"), AttributeType: types.ScalarAttributeTypeS}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return explore.Config{Server: e.db.Server(), Start: noon.Add(time.Minute)}
}
