package bench_test

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

const (
	tableName = "bench"
	items     = 4000
	slice     = 150 * time.Millisecond // of one target, in each round
)

var payload = strings.Repeat("x", 200)

func item(i int) map[string]types.AttributeValue {
	out := key(i)
	out["n"] = &types.AttributeValueMemberN{Value: "0"}
	out["payload"] = &types.AttributeValueMemberS{Value: payload}
	return out
}

func createTable(ctx context.Context, client *dynamodb.Client) error {
	_, err := client.CreateTable(ctx, &dynamodb.CreateTableInput{
		TableName:   aws.String(tableName),
		BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{
			{AttributeName: aws.String("pk"), AttributeType: types.ScalarAttributeTypeS},
			{AttributeName: aws.String("sk"), AttributeType: types.ScalarAttributeTypeN},
		},
		KeySchema: []types.KeySchemaElement{
			{AttributeName: aws.String("pk"), KeyType: types.KeyTypeHash},
			{AttributeName: aws.String("sk"), KeyType: types.KeyTypeRange},
		},
	})
	return err
}

// calls are the measured calls. They check their results as far as a canned
// reply allows.
var calls = []struct {
	name string
	do   func(ctx context.Context, client *dynamodb.Client, i int) error
}{
	{"put", func(ctx context.Context, client *dynamodb.Client, i int) error {
		_, err := client.PutItem(ctx, &dynamodb.PutItemInput{TableName: aws.String(tableName), Item: item(i)})
		return err
	}},
	{"get", func(ctx context.Context, client *dynamodb.Client, i int) error {
		out, err := client.GetItem(ctx, &dynamodb.GetItemInput{TableName: aws.String(tableName), Key: key(i)})
		if err == nil && len(out.Item) != 4 {
			err = fmt.Errorf("got %d attributes", len(out.Item))
		}
		return err
	}},
	{"update", func(ctx context.Context, client *dynamodb.Client, i int) error {
		_, err := client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
			TableName: aws.String(tableName), Key: key(i),
			UpdateExpression:          aws.String("ADD #n :one"),
			ExpressionAttributeNames:  map[string]string{"#n": "n"},
			ExpressionAttributeValues: map[string]types.AttributeValue{":one": &types.AttributeValueMemberN{Value: "1"}},
		})
		return err
	}},
	{"query", func(ctx context.Context, client *dynamodb.Client, i int) error {
		out, err := client.Query(ctx, &dynamodb.QueryInput{
			TableName:                 aws.String(tableName),
			KeyConditionExpression:    aws.String("pk = :p"),
			ExpressionAttributeValues: map[string]types.AttributeValue{":p": key(i)["pk"]},
		})
		if err == nil && len(out.Items) != 20 {
			err = fmt.Errorf("got %d items", len(out.Items))
		}
		return err
	}},
}

// stalled is the least duration of a call over a socket that met a stall of the
// loopback, not a slow server. Some stalls last seconds, with every server and
// with the ceiling.
const stalled = 200 * time.Millisecond

// BenchmarkCalls lets all targets take turns: an iteration is one slice of time for
// each. It reports the median of the calls per second of each target. For servers
// it also reports the median share of their ceiling in the same round. Over a
// socket that is the share in the round's median calls, so that stalls of the
// loopback do not count. It reports the number of stalls. For the server in process
// it also reports how many times as fast as the fastest peer of each round it is.
func BenchmarkCalls(b *testing.B) {
	all := targets(b)
	for _, call := range calls {
		for _, callers := range []int{1, 8} {
			b.Run(call.name+"/callers="+strconv.Itoa(callers), func(b *testing.B) {
				speeds, single := make(map[string][]float64), make(map[string][]float64)
				stalls := 0
				for b.Loop() {
					for _, t := range all {
						got := measure(b, callers, func(i int) error { return call.do(b.Context(), t.client, i) })
						speeds[t.name] = append(speeds[t.name], got.perSecond)
						single[t.name] = append(single[t.name], 1/got.median.Seconds())
						stalls += got.stalls
					}
				}
				b.ReportMetric(0, "ns/op")
				b.ReportMetric(float64(stalls), "stalls")
				for _, t := range all {
					b.ReportMetric(median(speeds[t.name]), t.name+"/s")
					switch t.ceiling {
					case "memory":
						b.ReportMetric(100*median(shares(speeds[t.name], speeds[t.ceiling])), t.name+"-%")
					case "socket":
						b.ReportMetric(100*median(shares(single[t.name], single[t.ceiling])), t.name+"-%")
					}
				}
				if fastest := fastestPeer(speeds); fastest != nil {
					b.ReportMetric(median(shares(speeds["process"], fastest)), "process-x-peer")
				}
			})
		}
	}
}

// A measurement is the result of some callers together in a slice of time.
type measurement struct {
	perSecond float64       // calls by all callers together
	median    time.Duration // of single calls
	stalls    int           // how many calls were stalled
}

func measure(b *testing.B, callers int, do func(i int) error) measurement {
	var next atomic.Int64
	var wg sync.WaitGroup
	took := make([][]time.Duration, callers)
	began := time.Now()
	for caller := range callers {
		wg.Go(func() {
			own := make([]time.Duration, 0, 1<<14)
			for start := began; start.Sub(began) < slice; {
				i := int(next.Add(1)) * 7919 % items
				if err := do(i); err != nil {
					b.Error(err)
					return
				}
				end := time.Now()
				own, start = append(own, end.Sub(start)), end
			}
			took[caller] = own
		})
	}
	wg.Wait()
	whole := time.Since(began)
	all := slices.Concat(took...)
	if len(all) == 0 {
		b.Fatal("no call has succeeded")
	}
	slices.Sort(all)
	fine, _ := slices.BinarySearch(all, stalled)
	return measurement{float64(len(all)) / whole.Seconds(), all[len(all)/2], len(all) - fine}
}

// fastestPeer returns the speed of the fastest peer in each round, nil without
// peers.
func fastestPeer(speeds map[string][]float64) []float64 {
	var fastest []float64
	for _, p := range peers {
		for round, speed := range speeds[p.name] {
			if fastest == nil {
				fastest = make([]float64, len(speeds[p.name]))
			}
			fastest[round] = max(fastest[round], speed)
		}
	}
	return fastest
}

func shares(speeds, ceilings []float64) []float64 {
	out := make([]float64, len(speeds))
	for i := range out {
		out[i] = speeds[i] / ceilings[i]
	}
	return out
}

func median(v []float64) float64 {
	sorted := slices.Sorted(slices.Values(v))
	return sorted[len(sorted)/2]
}
