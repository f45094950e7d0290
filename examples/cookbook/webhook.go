package cookbook

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/ledger"
	"github.com/homeops/ddbpatterns/verdict"
)

// ChargeSucceeded is what the payment provider delivers when a charge has succeeded.
type ChargeSucceeded struct {
	ID        string // of the event, the same in every delivery
	Order     string
	CreatedAt time.Time
}

// Webhook has each paid order shipped once, however often its charge is delivered.
type Webhook struct {
	Seen *ledger.Store
	// Oldest is how old a charge may be without a result in the ledger: a day less
	// than the ledger's Retention, for the row of an older one may have expired.
	Oldest time.Duration
	// Ship may be called again for the same key, after a crash. The warehouse must
	// send one parcel for each key.
	Ship func(ctx context.Context, key, order string) (parcel string, err error)
	// Dead keeps a body that no further delivery can help, for people to look at.
	Dead func(ctx context.Context, body []byte, why error) error
}

// mostBody is the most of a body that is read, and given to Dead: DynamoDB takes rows of
// 400 KB.
const mostBody = 256 << 10

// ServeHTTP answers 200 when the provider need not deliver the charge again.
func (h Webhook) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, mostBody))
	_, large := errors.AsType[*http.MaxBytesError](err)
	switch {
	case large:
		err = ledger.Permanent(err) // its beginning is kept for people
	case err == nil:
		err = h.handle(r.Context(), body)
	}
	v := verdict.Of(err)
	if v.Kind == verdict.Poison && h.Dead(r.Context(), body, err) != nil {
		v.Kind = verdict.Retry
	}
	if v.Wait > 0 { // another delivery is at it, or has crashed
		w.Header().Set("Retry-After", strconv.Itoa(int(v.Wait/time.Second)+1))
	}
	if v.Kind == verdict.Retry {
		http.Error(w, "deliver it again", http.StatusServiceUnavailable)
	}
}

// handle is one delivery.
func (h Webhook) handle(ctx context.Context, body []byte) error {
	var charge ChargeSucceeded
	if err := json.Unmarshal(body, &charge); err != nil {
		return ledger.Permanent(err)
	}
	key, err := ledger.Key("CHARGE", charge.ID)
	if err != nil {
		return ledger.Permanent(err)
	}
	_, err = ledger.Do(ctx, h.Seen, ledger.Request{Key: key}, func(ctx context.Context, _ *ledger.Claim) (string, error) {
		if time.Since(charge.CreatedAt) > h.Oldest { // it may have been shipped long ago
			return "", ledger.Permanent(event.ErrTooOld)
		}
		return h.Ship(ctx, key, charge.Order)
	})
	return err
}
