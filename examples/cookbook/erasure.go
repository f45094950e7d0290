package cookbook

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/http"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/ledger"
	"github.com/homeops/ddbpatterns/record"
	"github.com/homeops/ddbpatterns/verdict"
)

// Personal erases what a service stores about its customers. A customer has an opaque id,
// such as a random number. Names and addresses are in the customer's profile, and not
// part of any key.
type Personal struct {
	Requests *ledger.Operators // keys of RequestKey
	// Stores erase by the customer's id: a counter whose key it is, a log whose scope it is,
	// records of your own, such as what a queue has kept for people.
	Stores []func(ctx context.Context, customer string) (int, error)
	// Gone has the ids of who was erased. Its Retention is as long as events may come.
	Gone *ledger.Store

	// Wait is how long a request that Refuse let through may go on: the longest lease and
	// the skew budget together, such as two minutes.
	Wait time.Duration
	// Ask, if set, asks the provider what became of a request that has failed or died, and
	// does what is left to do, such as a refund. It may be called again for the same request.
	// Erased rows no longer show which these are.
	Ask func(context.Context, ledger.Record) error
}

var (
	// ErrGone refuses what comes for a customer who was erased.
	ErrGone = errors.New("cookbook: the customer was erased")
	// ErrUnderWay means that Erase must be called again, after Personal.Wait.
	ErrUnderWay = errors.New("cookbook: a request may be under way")
)

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

// Guard answers 410 to a customer who was erased, before anything is stored. Wrap the
// handlers in it, httpkey's too, and authenticate before it: an empty id gets 400.
func (p Personal) Guard(customer func(*http.Request) string, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		err := p.Refuse(r.Context(), customer(r))
		switch {
		case errors.Is(err, ErrGone):
			w.WriteHeader(http.StatusGone)
		case err != nil:
			w.WriteHeader(verdict.Of(err).Status)
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// RequestKey is the ledger key of a customer's request. The customer's id comes first.
// What the customer has chosen is hashed, for it may be an address. For an event that
// somebody else reports, it is the event's text.
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

// Erase marks the customer as gone, and erases what is stored about the customer when Wait
// has passed since then. Call it again until it returns nil: after ErrUnderWay, and after
// any other error; if Stores reads an index, again a day later. Then delete the profile,
// and what else leads to the customer's rows.
func (p Personal) Erase(ctx context.Context, customer string) error {
	part, err := ledger.Key(customer) // which escapes it
	if err != nil {
		return err
	}
	if _, err := p.Gone.MarkSeen(ctx, part); err != nil {
		return err
	}
	gone, _, err := p.Gone.Get(ctx, part)
	if err != nil {
		return err
	}
	if time.Since(gone.SeenAt) < p.Wait {
		return ErrUnderWay
	}
	var failed []error
	for r, err := range p.Requests.List(ctx, ledger.Filter{Prefix: part}) {
		if r.Key == "" { // the listing has failed
			return errors.Join(append(failed, err)...)
		}
		if err == nil {
			err = p.ended(ctx, r.Key)
		} else {
			err = nil // a row that cannot be read is erased, too
		}
		if err == nil {
			if err = p.Requests.Erase(ctx, r.Key); errors.Is(err, ledger.ErrNotFound) {
				err = nil // it has expired meanwhile
			}
		}
		failed = append(failed, err)
	}
	if err := errors.Join(failed...); err != nil {
		return err // Ask, and what is under way, may need what the stores have
	}
	for _, erase := range p.Stores {
		n, err := erase(ctx, customer)
		for n > 0 && err == nil { // until nothing is left
			n, err = erase(ctx, customer)
		}
		failed = append(failed, err)
	}
	return errors.Join(failed...)
}

// ended returns an error unless the request may be erased. It reads the row, because List
// has read it a while ago.
func (p Personal) ended(ctx context.Context, key string) error {
	r, _, err := p.Requests.Get(ctx, key)
	switch {
	case err != nil:
		return err
	case r.State == ledger.Claimed && time.Since(r.Lease) < p.Wait:
		return ErrUnderWay
	case p.Ask != nil && (r.State == ledger.Claimed || r.State == ledger.Failed):
		return p.Ask(ctx, r)
	}
	return nil
}
