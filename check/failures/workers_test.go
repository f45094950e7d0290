package failures_test

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/check/failures"
	"github.com/homeops/ddbpatterns/counter"
	"github.com/homeops/ddbpatterns/ledger"
	"github.com/homeops/ddbpatterns/tzclock"
)

// ledger is that of a worker whose clock is ahead.
func (r *run) ledger(worker string, ahead time.Duration) *ledger.Store {
	r.Helper()
	seen, err := ledger.New(r.client(worker), "seen", &ledger.Config{Now: func() time.Time { return r.now().Add(ahead) }})
	if err != nil {
		r.Fatal(err)
	}
	return seen
}

func (r *run) limits(worker string) *counter.Store {
	r.Helper()
	limits, err := counter.New(r.client(worker), "limits", tzclock.Stockholm, &counter.Config{Now: r.now})
	if err != nil {
		r.Fatal(err)
	}
	return limits
}

func (r *run) worker(name string, charge charger) failures.Worker {
	r.Helper()
	return failures.Worker{Seen: r.ledger(name, 0), Charge: charge}
}

type charger func(ctx context.Context, order string, fence int64) (string, error)

// crash is the end of a worker at its work. It sends nothing from then on.
func crash(context.Context, string, int64) (string, error) { panic(crashed{}) }

type crashed struct{}

// charge is an effect outside of DynamoDB.
func (r *run) charge(worker string) charger {
	return func(_ context.Context, order string, _ int64) (string, error) {
		r.Note(worker, "charges the card")
		return "ch-" + order, nil
	}
}

// chargeTable is an effect that refuses a fence lower than it has seen.
func (r *run) chargeTable(worker string) charger {
	db := r.client(worker)
	return func(ctx context.Context, order string, fence int64) (string, error) {
		held := &types.AttributeValueMemberN{Value: strconv.FormatInt(fence, 10)}
		_, err := db.PutItem(ctx, &dynamodb.PutItemInput{
			TableName: aws.String("charges"),
			Item: item{
				"order": &types.AttributeValueMemberS{Value: order}, "fence": held,
				"receipt": &types.AttributeValueMemberS{Value: "ch-" + order},
			},
			ConditionExpression:                 aws.String("attribute_not_exists(fence) OR fence <= :fence"),
			ExpressionAttributeValues:           item{":fence": held},
			ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
		})
		return "ch-" + order, err
	}
}

// deliver sends the order 1001 to the worker, and draws what becomes of it.
func (r *run) deliver(name string, w failures.Worker, label string) {
	r.Helper()
	defer func() {
		if cause := recover(); cause == (crashed{}) {
			r.Crash(name, "crashes")
		} else if cause != nil {
			panic(cause)
		}
	}()
	r.Request(provider, name, label)
	answer, err := w.Deliver(r.Context(), "1001")
	switch {
	case err != nil:
		r.Errorf("%s answers %v", name, err)
	case answer.Wait > 0:
		r.Reply(name, provider, fmt.Sprintf("503, again in %v", answer.Wait))
	default:
		r.Reply(name, provider, "200 "+answer.Receipt)
	}
}
