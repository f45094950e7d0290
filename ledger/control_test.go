package ledger_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/internal/ddb"
	"github.com/homeops/ddbpatterns/internal/item"
	"github.com/homeops/ddbpatterns/ledger"
)

// design is a way to handle each event once. The same laws are put to ours and,
// as a control of the laws themselves, to two that are in wide use.
type design interface {
	// begin answers for a delivery: "work", "wait" or "skip".
	begin(t *testing.T, key string) (string, error)
	// end records the work of the nth delivery that began, with its result.
	end(t *testing.T, nth int, result string) error
	// result is what a duplicate is told.
	result(t *testing.T, key string) string
}

const (
	controlLease     = time.Minute
	controlRetention = 24 * time.Hour
)

// laws return what they find wrong, "" when all is well.
var laws = map[string]func(*testing.T, *bench, design) string{
	"a lost reply is no duplicate": func(t *testing.T, b *bench, d design) string {
		b.db.Inject(dynamotest.Fault{Do: dynamotest.LoseReply})
		return want(t, d, "work")
	},
	"a crash does not lose the event": func(t *testing.T, b *bench, d design) string {
		must(t, begin(t, d))
		b.clock.Add(2 * controlLease)
		return want(t, d, "work")
	},
	"what is under way is not done": func(t *testing.T, b *bench, d design) string {
		must(t, begin(t, d))
		return want(t, d, "wait")
	},
	"what is done is done": func(t *testing.T, b *bench, d design) string {
		must(t, begin(t, d))
		must(t, d.end(t, 1, "first"))
		b.clock.Add(controlRetention / 2)
		return want(t, d, "skip")
	},
	"an expired row refuses nothing": func(t *testing.T, b *bench, d design) string {
		must(t, begin(t, d))
		must(t, d.end(t, 1, "first"))
		b.clock.Add(controlRetention)
		return want(t, d, "work")
	},
	"a stale worker changes nothing": func(t *testing.T, b *bench, d design) string {
		must(t, begin(t, d))
		b.clock.Add(2 * controlLease)
		must(t, begin(t, d))
		must(t, d.end(t, 2, "second"))
		_ = d.end(t, 1, "first, and too late")
		if got := d.result(t, "k"); got != "second" {
			return "the result is " + got
		}
		return ""
	},
}

func begin(t *testing.T, d design) error {
	_, err := d.begin(t, "k")
	return err
}

func want(t *testing.T, d design, want string) string {
	got, err := d.begin(t, "k")
	if got != want || err != nil {
		return fmt.Sprintf("%s, %v, want %s", got, err, want)
	}
	return ""
}

func TestLawsHoldHere(t *testing.T) {
	t.Parallel()
	for name, law := range laws {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			store := b.store(t, ledger.Config{Lease: controlLease, Retention: controlRetention, MaxSkew: time.Second})
			if wrong := law(t, b, &ours{store: store}); wrong != "" {
				t.Error(wrong)
			}
		})
	}
}

// The laws can fail: each design breaks those that it is known to break, and
// no other.
func TestLawsFailElsewhere(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		design func(*bench) design
		breaks []string
	}{
		"put if absent": {func(b *bench) design { return seed{b} }, []string{
			"a crash does not lose the event", "a lost reply is no duplicate", "a stale worker changes nothing",
			"an expired row refuses nothing", "what is under way is not done",
		}},
		"claim without an owner": {func(b *bench) design { return ownerless{b} }, []string{
			"a lost reply is no duplicate", "a stale worker changes nothing",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			broken := map[string]bool{}
			for law, holds := range laws {
				b := newBench(t)
				if holds(t, b, tc.design(b)) != "" {
					broken[law] = true
				}
			}
			if got := slices.Sorted(maps.Keys(broken)); !slices.Equal(got, tc.breaks) {
				t.Errorf("breaks %q, want %q", got, tc.breaks)
			}
		})
	}
}

// ours is this package.
type ours struct {
	store  *ledger.Store
	claims []*ledger.Claim
}

func (d *ours) begin(t *testing.T, key string) (string, error) {
	c, err := d.store.Claim(t.Context(), ledger.Request{Key: key})
	var busy *ledger.InProgressError
	var done *ledger.DoneError
	switch {
	case err == nil:
		d.claims = append(d.claims, c)
		return "work", nil
	case errors.As(err, &busy):
		return "wait", nil
	case errors.As(err, &done):
		return "skip", nil
	}
	return "", err
}

func (d *ours) end(t *testing.T, nth int, result string) error {
	return d.claims[nth-1].Complete(t.Context(), result)
}

func (d *ours) result(t *testing.T, key string) string {
	res, err := ledger.Do(t.Context(), d.store, ledger.Request{Key: key}, func(context.Context, *ledger.Claim) (string, error) {
		return "", errors.New("not done")
	})
	must(t, err)
	return res.Value
}

// seed is the older system: one put, if there is no row.
type seed struct{ *bench }

func (d seed) begin(t *testing.T, key string) (string, error) {
	_, err := d.client.PutItem(t.Context(), &dynamodb.PutItemInput{
		TableName:           aws.String(d.table),
		Item:                ddb.Item{"pk": item.S(key), "expiresAt": item.N(d.clock.Now().Add(controlRetention).Unix())},
		ConditionExpression: aws.String("attribute_not_exists(pk)"),
	})
	return workUnless(err)
}

func workUnless(err error) (string, error) {
	if _, refused := ddb.Refused(err); refused {
		return "skip", nil
	}
	if err != nil {
		return "", err
	}
	return "work", nil
}

func (seed) end(*testing.T, int, string) error      { return nil }
func (seed) result(t *testing.T, key string) string { return "none" }

// ownerless has states, a lease and a result, and no word of who holds the
// lease: neither claim nor completion asks.
type ownerless struct{ *bench }

func (d ownerless) begin(t *testing.T, key string) (string, error) {
	now := d.clock.Now()
	_, err := d.client.UpdateItem(t.Context(), &dynamodb.UpdateItemInput{
		TableName: aws.String(d.table), Key: ddb.Item{"pk": item.S(key)},
		UpdateExpression:         aws.String("SET #s = :busy, #l = :lease, #e = :expires"),
		ConditionExpression:      aws.String("attribute_not_exists(pk) OR #e <= :now OR #s = :busy AND #l <= :ms"),
		ExpressionAttributeNames: map[string]string{"#s": "state", "#l": "lease", "#e": "expiresAt"},
		ExpressionAttributeValues: ddb.Item{
			":busy": item.S("busy"), ":lease": item.N(now.Add(controlLease).UnixMilli()), ":expires": item.N(now.Add(controlRetention).Unix()),
			":now": item.N(now.Unix()), ":ms": item.N(now.UnixMilli()),
		},
		ReturnValuesOnConditionCheckFailure: "ALL_OLD",
	})
	if old, refused := ddb.Refused(err); refused && item.Text(old, "state") == "busy" {
		return "wait", nil
	}
	return workUnless(err)
}

func (d ownerless) end(t *testing.T, _ int, result string) error {
	_, err := d.client.UpdateItem(t.Context(), &dynamodb.UpdateItemInput{
		TableName: aws.String(d.table), Key: ddb.Item{"pk": item.S("k")},
		UpdateExpression:          aws.String("SET #s = :done, #r = :result"),
		ExpressionAttributeNames:  map[string]string{"#s": "state", "#r": "result"},
		ExpressionAttributeValues: ddb.Item{":done": item.S("done"), ":result": item.S(result)},
	})
	return err
}

func (d ownerless) result(t *testing.T, key string) string { return item.Text(d.row(t, key), "result") }
