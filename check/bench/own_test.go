package bench_test

import (
	"context"
	"maps"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/schema"
)

// BenchmarkOwnWork measures what each package's main calls cost in CPU beside
// the SDK. An iteration lets four take turns:
//
//   - the call on an API that answers at once, minus the building of its own
//     inputs, byte for byte: that is the package's own work;
//   - the same inputs, ready-made, through the SDK's client and a canned
//     reply: the raw call;
//   - the call itself over that client;
//   - the same requests made with guregu/dynamo, over that client.
//
// It reports medians: own-ns, own-allocs, own-% (own work as a share of the raw
// call), and the wall times of raw-ns, call-% and guregu-% (both of raw). Only
// own-% has a limit, 5 %, and 15 % for ledger.Do, which has a goroutine, a timer and
// JSON: wall ratios of such a short call say more about the machine.
func BenchmarkOwnWork(b *testing.B) {
	for _, call := range ownCalls {
		b.Run(call.name, func(b *testing.B) { benchOwnWork(b, call) })
	}
}

func benchOwnWork(b *testing.B, call ownCall) {
	ctx := b.Context()
	server := dynamotest.NewServer(nil)
	prepare(b, server.Client())
	taped := &tape{replies: canned{}}
	taped.client = dynamotest.Connect("http://recorded.invalid", func(o *dynamodb.Options) {
		o.HTTPClient = recorder{next: server.Transport(), into: taped.replies}
	})
	if err := call.do(ctx, newStores(b, taped)); err != nil {
		b.Fatal(err)
	}

	client := dynamotest.Connect("http://canned.invalid", func(o *dynamodb.Options) {
		o.HTTPClient = &http.Client{Transport: taped.replies}
	})
	idle, wired, other := newStores(b, &null{tape: taped}), newStores(b, client), newGuregu(client)
	turns := map[string]func() error{
		"null":   func() error { return call.do(ctx, idle) },
		"build":  func() error { taped.rebuild(); return nil },
		"raw":    func() error { return taped.resend(ctx, client) },
		"call":   func() error { return call.do(ctx, wired) },
		"guregu": func() error { return call.guregu(other, ctx) },
	}
	ns := map[string][]float64{}
	for b.Loop() {
		for _, name := range slices.Sorted(maps.Keys(turns)) {
			ns[name] = append(ns[name], nanoseconds(b, turns[name]))
		}
	}
	own := make([]float64, len(ns["raw"]))
	for i := range own {
		own[i] = max(0, ns["null"][i]-ns["build"][i])
	}
	allocs := func(name string) float64 {
		return testing.AllocsPerRun(100, func() { _ = turns[name]() })
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(median(own), "own-ns")
	b.ReportMetric(100*median(shares(own, ns["raw"])), "own-%")
	b.ReportMetric(allocs("null")-allocs("build"), "own-allocs")
	b.ReportMetric(median(ns["raw"]), "raw-ns")
	b.ReportMetric(100*median(shares(ns["call"], ns["raw"])), "call-%")
	b.ReportMetric(100*median(shares(ns["guregu"], ns["raw"])), "guregu-%")
}

// nanoseconds returns how long one turn takes, the mean over a slice of time.
func nanoseconds(b *testing.B, turn func() error) float64 {
	n := 0
	began := time.Now()
	for time.Since(began) < slice {
		for range 16 {
			if err := turn(); err != nil {
				b.Fatal(err)
			}
		}
		n += 16
	}
	return float64(time.Since(began).Nanoseconds()) / float64(n)
}

func prepare(b *testing.B, client *dynamodb.Client) {
	b.Helper()
	s := newStores(b, client)
	if err := schema.Create(b.Context(), client, s.tables()...); err != nil {
		b.Fatal(err)
	}
	if err := s.fill(b.Context()); err != nil {
		b.Fatal(err)
	}
}

// api has the methods of the SDK's client that the packages call.
type api interface {
	GetItem(context.Context, *dynamodb.GetItemInput, ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error)
	PutItem(context.Context, *dynamodb.PutItemInput, ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error)
	UpdateItem(context.Context, *dynamodb.UpdateItemInput, ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error)
	DeleteItem(context.Context, *dynamodb.DeleteItemInput, ...func(*dynamodb.Options)) (*dynamodb.DeleteItemOutput, error)
	Query(context.Context, *dynamodb.QueryInput, ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error)
	Scan(context.Context, *dynamodb.ScanInput, ...func(*dynamodb.Options)) (*dynamodb.ScanOutput, error)
	TransactWriteItems(context.Context, *dynamodb.TransactWriteItemsInput, ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error)
	BatchWriteItem(context.Context, *dynamodb.BatchWriteItemInput, ...func(*dynamodb.Options)) (*dynamodb.BatchWriteItemOutput, error)
}

// tape keeps the inputs of a call, and the last output and reply of each
// operation. The embedded API is nil: a call that sends anything else panics.
type tape struct {
	api
	client  *dynamodb.Client
	replies canned
	inputs  []any

	got     *dynamodb.GetItemOutput
	updated *dynamodb.UpdateItemOutput
	queried *dynamodb.QueryOutput
}

func (t *tape) GetItem(ctx context.Context, in *dynamodb.GetItemInput, o ...func(*dynamodb.Options)) (_ *dynamodb.GetItemOutput, err error) {
	t.inputs = append(t.inputs, in)
	t.got, err = t.client.GetItem(ctx, in, o...)
	return t.got, err
}

func (t *tape) PutItem(ctx context.Context, in *dynamodb.PutItemInput, o ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error) {
	t.inputs = append(t.inputs, in)
	return t.client.PutItem(ctx, in, o...)
}

// It keeps the first reply, which is the claim's, because the claim's row is
// read.
func (t *tape) UpdateItem(ctx context.Context, in *dynamodb.UpdateItemInput, o ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error) {
	t.inputs = append(t.inputs, in)
	out, err := t.client.UpdateItem(ctx, in, o...)
	if t.updated == nil {
		t.updated = out
	}
	return out, err
}

func (t *tape) Query(ctx context.Context, in *dynamodb.QueryInput, o ...func(*dynamodb.Options)) (_ *dynamodb.QueryOutput, err error) {
	t.inputs = append(t.inputs, in)
	t.queried, err = t.client.Query(ctx, in, o...)
	return t.queried, err
}

// resend sends the call's requests through the raw client.
func (t *tape) resend(ctx context.Context, client *dynamodb.Client) (err error) {
	for _, in := range t.inputs {
		switch in := in.(type) {
		case *dynamodb.GetItemInput:
			_, err = client.GetItem(ctx, in)
		case *dynamodb.PutItemInput:
			_, err = client.PutItem(ctx, in)
		case *dynamodb.UpdateItemInput:
			_, err = client.UpdateItem(ctx, in)
		case *dynamodb.QueryInput:
			_, err = client.Query(ctx, in)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// built keeps the compiler from leaving out rebuild's results.
var built any

// rebuild builds the call's inputs again from their strings, as every caller of
// the SDK must do.
func (t *tape) rebuild() {
	for _, in := range t.inputs {
		switch in := in.(type) {
		case *dynamodb.GetItemInput:
			again := *in
			again.Key, again.ExpressionAttributeNames = cloneItem(in.Key), maps.Clone(in.ExpressionAttributeNames)
			built = &again
		case *dynamodb.PutItemInput:
			again := *in
			again.Item, again.ExpressionAttributeNames = cloneItem(in.Item), maps.Clone(in.ExpressionAttributeNames)
			again.ExpressionAttributeValues = cloneItem(in.ExpressionAttributeValues)
			built = &again
		case *dynamodb.UpdateItemInput:
			again := *in
			again.Key, again.ExpressionAttributeNames = cloneItem(in.Key), maps.Clone(in.ExpressionAttributeNames)
			again.ExpressionAttributeValues = cloneItem(in.ExpressionAttributeValues)
			built = &again
		case *dynamodb.QueryInput:
			again := *in
			again.ExpressionAttributeNames = maps.Clone(in.ExpressionAttributeNames)
			again.ExpressionAttributeValues = cloneItem(in.ExpressionAttributeValues)
			built = &again
		}
	}
}

func cloneItem(it map[string]types.AttributeValue) map[string]types.AttributeValue {
	out := make(map[string]types.AttributeValue, len(it))
	for name, value := range it {
		switch v := value.(type) {
		case *types.AttributeValueMemberS:
			out[name] = &types.AttributeValueMemberS{Value: v.Value}
		case *types.AttributeValueMemberN:
			out[name] = &types.AttributeValueMemberN{Value: v.Value}
		case *types.AttributeValueMemberB:
			out[name] = &types.AttributeValueMemberB{Value: v.Value}
		case *types.AttributeValueMemberM:
			out[name] = &types.AttributeValueMemberM{Value: cloneItem(v.Value)}
		default:
			out[name] = value
		}
	}
	return out
}

// null answers at once, with the replies on the tape.
type null struct {
	api
	tape *tape
}

func (n *null) GetItem(context.Context, *dynamodb.GetItemInput, ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error) {
	return n.tape.got, nil
}

func (n *null) PutItem(context.Context, *dynamodb.PutItemInput, ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error) {
	return &dynamodb.PutItemOutput{}, nil
}

func (n *null) UpdateItem(context.Context, *dynamodb.UpdateItemInput, ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error) {
	return n.tape.updated, nil
}

func (n *null) Query(context.Context, *dynamodb.QueryInput, ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error) {
	return n.tape.queried, nil
}
