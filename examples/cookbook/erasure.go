package cookbook

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/homeops/ddbpatterns/activity"
	"github.com/homeops/ddbpatterns/counter"
	"github.com/homeops/ddbpatterns/ledger"
)

// Personal is what a service stores about its customers. A customer has an opaque id,
// such as a random number. Names and addresses are in the customer's profile and nowhere
// else in a key.
type Personal struct {
	Requests *ledger.Operators // keys of RequestKey
	Days     *counter.Store    // the key is the customer's id
	Log      *activity.Store   // the scope is the customer's id
}

// RequestKey is the ledger key of a customer's request. The customer's id comes first.
// What the customer has chosen is hashed, for it may be an address.
func RequestKey(customer, chosen string) (string, error) {
	sum := sha256.Sum256([]byte(chosen))
	return ledger.Key(customer, hex.EncodeToString(sum[:16]))
}

// Erase erases what is stored about the customer, who makes no more requests. Call it
// again after an error, and once more when what was under way has ended: after the lease
// and the skew budget. Then delete the profile.
func (p Personal) Erase(ctx context.Context, customer string) error {
	part, err := ledger.Key(customer) // which escapes it
	if err != nil {
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
	for name, erase := range map[string]func(context.Context, string) (int, error){"days": p.Days.Erase, "log": p.Log.Erase} {
		for n := 1; n > 0 && err == nil; { // until nothing is left
			n, err = erase(ctx, customer)
		}
		if err != nil {
			failed = append(failed, fmt.Errorf("%s: %w", name, err))
		}
		err = nil
	}
	return errors.Join(failed...)
}
