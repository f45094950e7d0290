package cookbook

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/activity"
	"github.com/homeops/ddbpatterns/counter"
	"github.com/homeops/ddbpatterns/ledger"
	"github.com/homeops/ddbpatterns/record"
)

// Personal is what a service stores about its customers. A customer has an opaque id,
// such as a random number. Names and addresses are in the customer's profile, and not
// part of any key.
type Personal struct {
	Requests *ledger.Operators // keys of RequestKey
	Days     *counter.Store    // the key is the customer's id
	Log      *activity.Store   // the scope is the customer's id
	// Gone has the ids of who was erased. Its Retention is as long as events may come.
	Gone *ledger.Store
}

// ErrGone refuses what comes for a customer who was erased.
var ErrGone = errors.New("cookbook: the customer was erased")

// Refuse returns ErrGone if the customer was erased. Call it first for each request and each
// event: also for one that is delivered after years, if Gone remembers that long.
func (p Personal) Refuse(ctx context.Context, customer string) error {
	key, err := ledger.Key(customer)
	if err != nil {
		return err
	}
	_, gone, err := p.Gone.Get(ctx, key)
	if gone {
		return ErrGone
	}
	return err
}

// RequestKey is the ledger key of a customer's request. The customer's id comes first.
// What the customer has chosen is hashed, for it may be an address.
func RequestKey(customer, chosen string) (string, error) {
	sum := sha256.Sum256([]byte(chosen))
	return ledger.Key(customer, hex.EncodeToString(sum[:16]))
}

// NotGone is the condition that the customer was not erased, for a transaction such as one of
// ledger.DoTx. A refusal has the code ConditionalCheckFailed at its place in Claim.Reasons:
// return ErrGone as ledger.Permanent, or answer 410 if it was an httpkey.Add.
func (p Personal) NotGone(customer string) (types.TransactWriteItem, error) {
	key, err := ledger.Key(customer)
	return types.TransactWriteItem{ConditionCheck: &types.ConditionCheck{
		TableName: aws.String(p.Gone.Table().Name), Key: record.Item{"pk": record.Text(key)},
		ConditionExpression: aws.String("attribute_not_exists(pk)"),
	}}, err
}

// Erase erases what is stored about the customer. Call it again after an error, and once
// more when what was under way has ended: after the lease and the skew budget. Then delete
// the profile, and what else leads to the customer's rows.
func (p Personal) Erase(ctx context.Context, customer string) error {
	part, err := ledger.Key(customer) // which escapes it
	if err != nil {
		return err
	}
	if _, err := p.Gone.MarkSeen(ctx, part); err != nil {
		return err
	}
	var failed []error
	for r, err := range p.Requests.List(ctx, ledger.Filter{Prefix: part}) {
		if r.Key != "" { // also if it cannot be read
			if err = p.Requests.Erase(ctx, r.Key); errors.Is(err, ledger.ErrNotFound) {
				err = nil // it has expired meanwhile
			}
		}
		failed = append(failed, err)
	}
	for _, erase := range []func(context.Context, string) (int, error){p.Days.Erase, p.Log.Erase} {
		n, err := erase(ctx, customer)
		for n > 0 && err == nil { // until nothing is left
			n, err = erase(ctx, customer)
		}
		failed = append(failed, err)
	}
	return errors.Join(failed...)
}
