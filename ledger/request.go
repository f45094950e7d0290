package ledger

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/check"
)

// Request names the event whose work is claimed. All but the Key may be left
// out.
type Request struct {
	// Key is the event's, from [Key].
	Key string

	// Payload is what a redelivery repeats byte for byte: the body, or the
	// parts of it that matter. Its SHA-256 is stored, and the key refused with
	// [ErrFingerprintMismatch] when it comes with another. Empty is a payload
	// like any other.
	Payload []byte

	// Lease is Config.Lease for this claim and its renewals: longer for work
	// that another process completes (see [Claim.Token]), shorter for work that
	// should be taken over soon. Within the bounds of Config. Defaults to
	// Config.Lease.
	Lease time.Duration

	// Retention is Config.Retention for what this claim writes. Within the
	// bounds of Config, beside the Lease. Defaults to Config.Retention.
	Retention time.Duration

	// ReadFirst reads the row before it is claimed, and goes by it when the key
	// has ended with the same payload: a replay then costs an eventually
	// consistent read and no write. For keys that come again often. What an
	// operator reopened, erased or forgot a moment ago may be replayed once more.
	ReadFirst bool

	// WaitUpTo is how long to wait for a key that another holds, before the
	// answer is an [*InProgressError]. It is asked for again after 50 ms, and
	// after twice as long each time, up to 2 s; a last time when the wait is
	// over. A wait ends at once with its context. The time that the requests
	// take comes on top.
	//
	// Each time costs what a refused claim does, 1 request and 1 WCU for each KB
	// of the row: 7 of them within 3.15 s, and from then on 1 for each 2 s, the
	// last begun included: 36 in a minute.
	WaitUpTo time.Duration
}

// terms are how long a claim holds and its row is kept.
type terms struct {
	span time.Duration // of the lease
	life time.Duration // of the row after a write to it
}

// bid is a Request as it is sent, however often: the nonce is the same, so that
// an earlier try that arrives late is known for its own.
type bid struct {
	key, nonce  string
	fingerprint []byte
	terms
}

// termsOf checks the request.
func (s *Store) termsOf(req Request) (terms, error) {
	if err := check.PartitionKey(pkg, "Request.Key", req.Key); err != nil {
		return terms{}, err
	}
	if req.WaitUpTo < 0 {
		return terms{}, event.BadInput(pkg, "Request.WaitUpTo", fmt.Sprintf("must not be negative, is %v", req.WaitUpTo))
	}
	t := terms{s.cfg.Lease, s.cfg.Retention}
	if req.Lease == 0 && req.Retention == 0 {
		return t, nil
	}
	blame := "Request.Lease"
	if req.Lease != 0 {
		t.span = req.Lease
	}
	if req.Retention != 0 {
		t.life, blame = req.Retention, "Request.Retention"
	}
	return t, s.checkTerms(t, "Request.Lease", blame)
}

// checkTerms refuses what Config does. Of a lease and a retention that do not go
// together it names the field to blame.
func (s *Store) checkTerms(t terms, lease, blame string) error {
	switch {
	case t.span < shortestLease:
		return event.BadInput(pkg, lease, fmt.Sprintf("must be at least %v, is %v", shortestLease, t.span))
	case t.life < 0:
		return event.BadInput(pkg, blame, fmt.Sprintf("must not be negative, is %v", t.life))
	case t.life-s.cfg.MaxSkew < t.span:
		return event.BadInput(pkg, blame, fmt.Sprintf(
			"must go with a row that is kept for lease and skew, %v and %v, at least, and it is kept for %v", t.span, s.cfg.MaxSkew, t.life))
	}
	return check.TTL(pkg, blame, s.cfg.Now().Add(t.life).Add(Grace))
}

// readFirst returns the outcome of a key that has one.
func (s *Store) readFirst(ctx context.Context, b bid) error {
	r, live, err := s.get(ctx, b.key, aws.Bool(false))
	if err != nil {
		return s.wrap("Claim", err)
	}
	if !live || !bytes.Equal(r.Fingerprint, b.fingerprint) {
		return nil
	}
	return s.ended(r)
}

// The pauses between two requests for a key that another holds.
const (
	firstPause   = 50 * time.Millisecond
	longestPause = 2 * time.Second
)

// await asks for the key until another does not hold it, or the wait is over.
func (s *Store) await(ctx context.Context, b bid, most time.Duration) (*Claim, error) {
	for pause := firstPause; ; pause = min(2*pause, longestPause) {
		c, err := s.claim(ctx, b)
		if _, busy := errors.AsType[*InProgressError](err); !busy || most <= 0 {
			return c, err
		}
		pause = min(pause, most)
		most -= pause
		select {
		case <-ctx.Done():
			return nil, s.wrap("Claim", ctx.Err())
		case <-time.After(pause):
		}
	}
}
