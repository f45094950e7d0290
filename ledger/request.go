package ledger

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/check"
)

// Request names the event whose work is claimed. Only the Key is required.
type Request struct {
	// Key is the event's ledger key, made by [Key].
	Key string

	// Payload is what a redelivery repeats byte for byte: the body, or the relevant
	// parts of it. The row stores its SHA-256. Another payload, even an empty one, is
	// refused with [ErrFingerprintMismatch], until the key expires or is erased or
	// forgotten.
	Payload []byte

	// Lease replaces Config.Lease for this claim and its renewals, within the same
	// bounds: longer for work that another process completes (see [Claim.Token]),
	// shorter for work that should be taken over soon after a crash.
	Lease time.Duration

	// Retention replaces Config.Retention for what this claim writes. It must be at
	// least the claim's lease and Config.MaxSkew together.
	Retention time.Duration

	// ReadFirst reads the row before the key is claimed, eventually consistent. If the
	// key has ended with the same payload, the call answers from the row, without a
	// write. It is for keys that are often redelivered. What an operator changed a
	// moment ago may still be replayed.
	ReadFirst bool

	// WaitUpTo is how long to wait for a key that another worker holds, before the
	// answer is an [*InProgressError]. The row is read, eventually consistent, after
	// pauses of 50 ms, 100 ms and so on, up to 2 s. The claim is tried again when the
	// key seems free, and when the wait is over. The time of the requests is added. The
	// wait ends at once when the context ends.
	//
	// For a row of 1 KB, a wait in vain of a minute costs 36 requests, 17 RCU and 2 WCU.
	// One of 3.15 s costs 7 requests.
	WaitUpTo time.Duration

	// Holder says who claims the key, for people: a worker's name, at most 64 bytes.
	// Others see it in the [Record] and in their [InProgressError]. It decides nothing.
	Holder string
}

// terms are how long a claim holds and its row is kept.
type terms struct {
	span time.Duration // of the lease
	life time.Duration // of the row after a write to it
}

// bid is a Request as it is sent. Its nonce is the same in every try, so that
// an earlier try that arrives late is recognized.
type bid struct {
	key, nonce  string
	fingerprint []byte
	holder      string
	attempts    int64 // up to which the key may be claimed
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
	if len(req.Holder) > maxHolder || !utf8.ValidString(req.Holder) {
		return terms{}, event.BadInput(pkg, "Request.Holder", fmt.Sprintf("must be valid UTF-8 of at most %d bytes, has %d bytes", maxHolder, len(req.Holder)))
	}

	t := terms{cmp.Or(req.Lease, s.cfg.Lease), cmp.Or(req.Retention, s.cfg.Retention)}
	if req.Lease == 0 && req.Retention == 0 {
		return t, nil // as New has checked them
	}

	blame := "Request.Lease"
	if req.Retention != 0 {
		blame = "Request.Retention"
	}

	return t, s.cfg.checkTerms(t, "Request.Lease", blame)
}

// checkTerms refuses a lease and a retention, of the Config, a Request or a token. If
// they do not fit together, it names the field to blame.
func (c *Config) checkTerms(t terms, lease, blame string) error {
	switch {
	case t.span < shortestLease:
		return event.BadInput(pkg, lease, fmt.Sprintf("must be at least %v, is %v", shortestLease, t.span))
	case t.life < 0:
		return event.BadInput(pkg, blame, fmt.Sprintf("must not be negative, is %v", t.life))
	case t.life-c.MaxSkew < t.span:
		return event.BadInput(pkg, blame, fmt.Sprintf(
			"does not fit: the row is kept for %v, and must be kept for the lease of %v and the skew of %v together", t.life, t.span, c.MaxSkew))
	}
	return check.TTL(pkg, blame, c.Now().Add(t.life).Add(grace))
}

// readFirst returns the outcome of a key that has one, as an error, and nil if the key
// must be claimed. The claim itself finds what an old read misses, and another fingerprint.
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

// await asks for the key until no other worker holds it, or the wait is over. While
// one does, a read costs a tenth of a claim.
func (s *Store) await(ctx context.Context, b bid, most time.Duration) (*Claim, error) {
	free := true
	for pause := firstPause; ; pause = min(2*pause, longestPause) {
		if free || most <= 0 {
			c, err := s.claim(ctx, b)
			if _, busy := errors.AsType[*InProgressError](err); !busy || most <= 0 {
				return c, err
			}
		}

		pause = min(pause, most)
		most -= pause
		select {
		case <-ctx.Done():
			return nil, s.wrap("Claim", ctx.Err())
		case <-time.After(pause):
		}

		if most <= 0 {
			continue
		}

		var err error
		if free, err = s.isFree(ctx, b); err != nil {
			return nil, s.wrap("Claim", err)
		}
	}
}

// isFree reports whether a claim seems to be worth its price: no other worker holds
// the key, or its lease has lapsed. An earlier try of this claim may have arrived late,
// and holds the key for it.
func (s *Store) isFree(ctx context.Context, b bid) (bool, error) {
	stands, _, err := s.get(ctx, b.key, aws.Bool(false))
	return stands.claim == b.nonce || !stands.Lease.Add(s.cfg.MaxSkew).After(s.cfg.Now()), err // no lease, no holder
}
