package ledger_test

import (
	"errors"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/ddb"
	"github.com/homeops/ddbpatterns/internal/item"
	"github.com/homeops/ddbpatterns/ledger"
)

// The state decides. A lease that stands on what is not claimed, as somebody
// may have put it there, neither opens a key nor keeps it.
func TestALeaseOfWhatIsNotClaimedDecidesNothing(t *testing.T) {
	t.Parallel()
	b, store := opened(t, ledger.Config{MaxAttempts: 2})
	claim := func(state ledger.State, attempts int64, lease time.Duration) (*ledger.Claim, error) {
		b.put(t, ddb.Item{
			"pk": item.S(order.Key), "claim": item.S("x"), "state": item.S(string(state)), "fence": item.N(1), "attempts": item.N(attempts),
			"fingerprint": &types.AttributeValueMemberB{Value: orderHash}, "lastError": item.S("declined"),
			"lease": item.N(b.clock.Now().Add(lease).UnixMilli()), "expiresAt": item.N(b.clock.Now().Add(2 * time.Hour).Unix()),
		})
		return store.Claim(t.Context(), order)
	}
	if _, err := claim(ledger.Done, 1, -time.Hour); !isDone(err) {
		t.Errorf("done, lapsed: %v", err)
	}
	_, err := claim(ledger.Refused, 1, -time.Hour)
	if _, ok := errors.AsType[*ledger.PermanentError](err); !ok {
		t.Errorf("refused, lapsed: %v", err)
	}
	if c, err := claim(ledger.Failed, 1, time.Hour); err != nil || c.Attempt != 2 {
		t.Errorf("failed, held: %v, %v", c, err)
	}
	_, err = claim(ledger.Failed, 2, time.Hour)
	wantErr(t, "failed, held, attempts spent", err, ledger.ErrTooManyAttempts)
}

func isDone(err error) bool {
	_, ok := errors.AsType[*ledger.DoneError](err)
	return ok
}

// A claim takes effect and loses its reply, and before it is sent again
// somebody ends the key by hand: it is not granted, though the nonce is its own.
func TestAnOwnClaimThatWasEndedByHand(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.meanwhile("UpdateItem", func() {
		row := b.row(t, order.Key)
		row["state"] = item.S("done")
		b.put(t, row)
	})
	if c, err := b.store(t, ledger.Config{}).Claim(t.Context(), order); c != nil || !isDone(err) {
		t.Errorf("Claim = %v, %v", c, err)
	}
}

// Fail and Fail for good are not the same, though their texts are.
func TestFailingAndFailingForGoodDiffer(t *testing.T) {
	t.Parallel()
	_, store := opened(t, ledger.Config{})
	declined := errors.New("declined")

	c := mustClaim(t, store, ledger.Request{Key: "first for good"})
	must(t, c.Fail(t.Context(), ledger.Permanent(declined)))
	for name, err := range map[string]error{
		"Fail": c.Fail(t.Context(), declined), "Complete": c.Complete(t.Context(), 1), "Renew": c.Renew(t.Context()),
	} {
		if !isPermanent(err) || err.Error() != "declined" {
			t.Errorf("%s of a key that was refused for good: %v", name, err)
		}
	}

	c = mustClaim(t, store, ledger.Request{Key: "first for now"})
	must(t, c.Fail(t.Context(), declined))
	wantErr(t, "Fail for good of a key given up", c.Fail(t.Context(), ledger.Permanent(declined)), ledger.ErrLeaseLost)
}

// A renewal took effect and was never answered, and then the clock is set back:
// the lease that stands is the one that holds.
func TestRenewalLearnsOfTheLeaseThatStands(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	c := mustClaim(t, b.store(t, ledger.Config{Lease: time.Minute}), order)
	b.clock.Add(30 * time.Second)
	b.deaf(t, func() error { return c.Renew(t.Context()) })
	stands := b.clock.Now().Add(time.Minute)
	b.clock.Add(-10 * time.Second)
	must(t, c.Renew(t.Context()))
	if got := c.LeaseUntil(); !got.Equal(stands) {
		t.Errorf("lease until %v, want %v", got, stands)
	}
}

// A row without expiresAt never expires, for any caller.
func TestARowThatNeverExpires(t *testing.T) {
	t.Parallel()
	b, store := opened(t, ledger.Config{})
	b.put(t, ddb.Item{"pk": item.S(order.Key), "seenAt": item.S("2025-11-05T17:30:00Z")})
	if r := mustGet(t, store, order.Key); r.State != ledger.Done || !r.ExpiresAt.IsZero() {
		t.Errorf("record: %+v", r)
	}
	wantDone(t, store, order, "")
	wantMark(t, store, order.Key, event.Duplicate)
}

// A key that was claimed is claimed again, and refused, by the same rules when
// somebody took its expiresAt away.
func TestAClaimedRowThatNeverExpires(t *testing.T) {
	t.Parallel()
	b, store := opened(t, ledger.Config{})
	bare := func() {
		row := b.row(t, order.Key)
		delete(row, "expiresAt")
		b.put(t, row)
		wantMark(t, store, order.Key, event.Duplicate)
	}
	c := mustClaim(t, store, order)
	bare()
	if _, sent, err := claims(t, store, order); !isBusy(err) || sent != 1 {
		t.Errorf("Claim: %v after %d requests", err, sent)
	}
	must(t, c.Fail(t.Context(), errCut))
	bare()
	if c, sent, err := claims(t, store, order); err != nil || c.Attempt != 2 || sent != 1 {
		t.Errorf("Claim = %+v, %v after %d requests", c, err, sent)
	}
}
