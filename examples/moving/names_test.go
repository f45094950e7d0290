package moving_test

import (
	"context"
	"errors"
	"strconv"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/counter"
	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/examples/moving"
	"github.com/homeops/ddbpatterns/ledger"
	"github.com/homeops/ddbpatterns/tzclock"
)

type item = map[string]types.AttributeValue

func text(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }

func number(n int64) types.AttributeValue {
	return &types.AttributeValueMemberN{Value: strconv.FormatInt(n, 10)}
}

func openProcessed(t *testing.T) (*dynamotest.DB, *ledger.Store) {
	t.Helper()
	db := dynamotest.Open(t)
	seen, err := moving.Processed(db.Client(), db.Name("processed"))
	if err != nil {
		t.Fatal(err)
	}
	db.Create(seen.Table())
	return db, seen
}

// process is what the old code does before its work: it marks the event, and
// continues if it was the first.
func process(ctx context.Context, db *dynamodb.Client, table, id string, expires time.Time) (first bool, err error) {
	_, err = db.PutItem(ctx, &dynamodb.PutItemInput{
		TableName: &table, Item: item{"eventId": text(id), "expires": number(expires.Unix())},
		ConditionExpression: aws.String("attribute_not_exists(eventId)"),
	})
	if _, refused := errors.AsType[*types.ConditionalCheckFailedException](err); refused {
		return false, nil
	}
	return err == nil, err
}

// An event that the old code has marked is done. It is a duplicate without a
// result.
func TestRowsOfYoursAreDone(t *testing.T) {
	db, seen := openProcessed(t)
	old := func(id string, expires time.Time) {
		if first, err := process(t.Context(), db.Client(), db.Name("processed"), id, expires); !first || err != nil {
			t.Fatal(first, err)
		}
	}
	old("evt_1", time.Now().Add(time.Hour))
	old("evt_2", time.Now().Add(-time.Minute)) // has expired, but is not deleted yet
	for id, want := range map[string]event.Outcome{"evt_1": event.Duplicate, "evt_2": event.Created, "evt_3": event.Created} {
		if out, err := seen.MarkSeen(t.Context(), id); out != want || err != nil {
			t.Errorf("MarkSeen(%s) = %v, %v, want %v", id, out, err, want)
		}
	}
	_, err := ledger.Do(t.Context(), seen, ledger.Request{Key: "evt_1"}, func(context.Context, *ledger.Claim) (string, error) {
		t.Error("the work is done again")
		return "", nil
	})
	if !errors.Is(err, ledger.ErrNoResult) {
		t.Errorf("Do: %v", err)
	}
}

// The old code runs beside the new. With MarkSeen both agree. Work at which a Do
// has failed, and which it would repeat, counts as done for the old code.
func TestOldCodeBesideTheLedger(t *testing.T) {
	db, seen := openProcessed(t)
	if out, err := seen.MarkSeen(t.Context(), "evt_1"); out != event.Created || err != nil {
		t.Fatal(out, err)
	}
	down := errors.New("the bank is down")
	_, err := ledger.Do(t.Context(), seen, ledger.Request{Key: "evt_2"}, func(context.Context, *ledger.Claim) (string, error) { return "", down })
	if !errors.Is(err, down) {
		t.Fatal(err)
	}
	for _, id := range []string{"evt_1", "evt_2"} {
		if first, err := process(t.Context(), db.Client(), db.Name("processed"), id, time.Now().Add(time.Hour)); first || err != nil {
			t.Errorf("the old code on %s: first %v, %v", id, first, err)
		}
	}
}

// A customer has used 4,900 of today's 5,000 before the counter comes.
func TestUsageIsCountedOn(t *testing.T) {
	db := dynamotest.Open(t)
	usage, err := moving.Usage(db.Client(), db.Name("usage"))
	if err != nil {
		t.Fatal(err)
	}
	db.Create(usage.Table())
	at := time.Now()
	add := func(n int64) { // the old code's write
		_, err := db.Client().UpdateItem(t.Context(), &dynamodb.UpdateItemInput{
			TableName: aws.String(db.Name("usage")), UpdateExpression: aws.String("ADD used :n"),
			Key:                       item{"customer": text("ann"), "day": text(tzclock.UTC.Date(at).String())},
			ExpressionAttributeValues: item{":n": number(n)},
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	take := func(limits *counter.Store, id string, weight int64) counter.Grant {
		ev, err := event.New(at, "shop", id)
		if err != nil {
			t.Fatal(err)
		}
		grant, err := limits.Take(t.Context(), counter.Take{Key: "ann", Event: ev, Cap: 5000, Weight: weight})
		if err != nil {
			t.Error(err)
		}
		return grant
	}
	add(4900)
	if grant := take(usage, "1001", 60); !grant.OK || grant.Used != 4960 {
		t.Errorf("60 more: %+v", grant)
	}
	add(30) // the old code still runs
	if grant := take(usage, "1002", 20); !grant.Refused() || grant.Used != 4990 {
		t.Errorf("20 more: %+v", grant)
	}
	if grant := take(usage, "1003", 10); !grant.OK || grant.Used != 5000 {
		t.Errorf("10 more: %+v", grant)
	}
	// A counter with another name for the count counts separately.
	other, err := counter.New(db.Client(), db.Name("usage"), tzclock.UTC, &counter.Config{Names: map[string]string{"chatId": "customer", "date": "day", "ttl": "expires"}})
	if err != nil {
		t.Fatal(err)
	}
	if grant := take(other, "1004", 20); !grant.OK || grant.Used != 20 {
		t.Errorf("another name: %+v", grant)
	}
}
