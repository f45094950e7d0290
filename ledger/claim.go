package ledger

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/ddb"
	"github.com/homeops/ddbpatterns/internal/item"
)

// Claim is a key that this worker holds until [Claim.LeaseUntil]. It is safe
// for concurrent use.
type Claim struct {
	Key string

	// Fence is higher than the fence of every earlier claim of the key. Make what the
	// work writes elsewhere conditional on it: once a later holder has written, late
	// writes of a worker that lost its lease are refused.
	Fence int64

	// Attempt is how often the key was claimed, including this claim: 1 for the first,
	// and for the first after an [Operators.Reopen]. The package comment (Attempts)
	// says what does not count.
	Attempt int64

	// SeenAt is when the key was first seen, by the clock that saw it. It is the same
	// in all attempts, until the key expires or an operator forgets it.
	SeenAt time.Time

	store *Store
	nonce string
	terms // of its renewals and of what ends it

	settled chan struct{} // closed when this claim is known to have completed or failed
	once    sync.Once     // closes it

	released atomic.Bool // by Release

	watched, over time.Time // the lease that watch knows, and when it ends by the timers

	mu    sync.Mutex // guards what follows
	lease time.Time

	reasons []types.CancellationReason // of DoTx's last transaction

	sent []string // DoTx's results, each with a transaction that may arrive late
	own  []string // results with which the work completes the claim itself
}

// Event returns an event for what the work writes elsewhere: that of SeenAt, the Key
// and the parts, as [event.New] makes it. It is the same event in every attempt of the
// key. With time.Now, each attempt would make another one, and a charge could be
// counted twice. Parts tell apart several events of one request.
//
//	ev, err := c.Event()
//	grant, err := limits.Take(ctx, counter.Take{Key: card, Event: ev, Weight: cents, Cap: limit})
//
// If the request has a time of its own, use that instead. The package comment (Events)
// says when a store refuses the event. An empty part is an [*event.InputError].
func (c *Claim) Event(parts ...string) (event.Event, error) {
	return event.New(c.SeenAt, append([]string{c.Key}, parts...)...)
}

// LeaseUntil returns the time at which the lease ends. [Claim.Renew] moves it.
func (c *Claim) LeaseUntil() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.lease
}

// hold keeps the later lease, because renewals may be answered in any order.
func (c *Claim) hold(lease time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if lease.After(c.lease) {
		c.lease = lease
	}
}

func (c *Claim) setSettled() { c.once.Do(func() { close(c.settled) }) }

func (c *Claim) isSettled() bool {
	select {
	case <-c.settled:
		return true
	default:
		return false
	}
}

// claimSet is what every claim sets. The fence goes on rising when the row has
// expired. It is seeded with the time in ms, so it also rises when the row is
// gone.
const claimSet = "#state = :claimed, #claim = :me, #lease = :lease, #expiresAt = :expires," +
	" #fingerprint = :fp, #source = :source, #fence = if_not_exists(#fence, :seed) + :one"

// The first request serves a key without a row, one that failed, and one whose
// holder's lease has lapsed by the skew budget. `claim <> :me` is for a
// duplicate of the request that arrives late: it must not reopen what this
// claim has settled. A row without expiresAt never expires.
const (
	claimUpdate = claimSet + ", #attempts = if_not_exists(#attempts, :zero) + :one," +
		" #seenAt = if_not_exists(#seenAt, :at) REMOVE #errorCode"
	claimCondition = "attribute_not_exists(#pk) OR (attribute_not_exists(#expiresAt) OR #expiresAt > :graced)" +
		" AND #fingerprint = :fp AND #claim <> :me AND #attempts < :max" +
		" AND (#state = :failed OR #state = :claimed AND #lease <= :lapsed)"
)

// The second request serves a row that has expired and is not deleted yet: the
// key begins anew, in any state.
const (
	reclaimUpdate    = claimSet + ", #attempts = :one, #seenAt = :at REMOVE #result, #lastError, #errorCode, #notes"
	reclaimCondition = expiredRow
)

// update completes an update that claims with the holder's name. Without one, that of
// the last holder goes.
func (b bid) update(of string) string {
	if b.holder == "" {
		return "SET " + of + ", #holder" // all of them end with a REMOVE
	}
	return "SET #holder = :holder, " + of
}

// claimTries bounds how often a claim is sent again because the row changed
// between its requests: it expired, was deleted or revived, and all of that
// once more.
const claimTries = 5

// Claim takes the key for this worker until the lease ends, and counts an attempt. For
// a key that cannot be claimed, it returns an [*InProgressError], [*DoneError] or
// [*PermanentError], [ErrTooManyAttempts] or [ErrFingerprintMismatch].
//
// Claim recognizes its own row after a lost reply. If the context ends before the
// answer comes, Claim gives the key up again, and the attempt does not count. Giving it
// up takes at most 1 s and needs DynamoDB to be reachable. A request of this Claim that
// arrives later still takes the key until its lease is over, as that of a crashed
// worker does. After a request that failed otherwise, the claim may exist until its
// lease is over, and the caller's own next call may get an InProgressError.
//
// Price: 1 request, 1 WCU. A larger row, granted or refused, costs 1 WCU for each KB. A
// row that has expired and is not deleted yet costs that twice, in 2 requests. If the row
// changes between them, Claim sends another, up to 5 in all.
// Price (ReadFirst): 1 request, 0.5 RCU. This is the price if the read shows that the
// key has ended with the same payload; a larger row costs 0.5 RCU for each 4 KB.
// Otherwise, the claim's price is added.
func (s *Store) Claim(ctx context.Context, req Request) (*Claim, error) {
	return s.claimUpTo(ctx, req, int64(s.cfg.MaxAttempts))
}

// claimUpTo is Claim with another limit of attempts.
func (s *Store) claimUpTo(ctx context.Context, req Request, attempts int64) (*Claim, error) {
	t, err := s.termsOf(req)
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil { // nothing is sent, so nothing need be given up
		return nil, s.wrap("Claim", err)
	}

	nonce, err := s.nonce("Claim")
	if err != nil {
		return nil, err
	}

	fingerprint := sha256.Sum256(req.Payload)
	b := bid{key: req.Key, nonce: nonce, fingerprint: fingerprint[:], holder: req.Holder, attempts: attempts, terms: t}
	if req.ReadFirst {
		if err := s.readFirst(ctx, b); err != nil {
			return nil, err
		}
	}

	return s.await(ctx, b, req.WaitUpTo)
}

// claim asks for the key once: in one request, or more if the row expires or
// changes between them.
func (s *Store) claim(ctx context.Context, b bid) (*Claim, error) {
	build := s.claimInput
	for range claimTries {
		now := s.cfg.Now()
		stands, refused, err := s.change(ctx, "Claim", build(b, now))
		switch {
		case err != nil:
			if ctx.Err() != nil {
				s.abandon(ctx, b.key, b.nonce, b.life, ownAttempt)
			}
			return nil, err
		case !refused || stands.claim == b.nonce && stands.State == Claimed:
			// This request was granted, or an earlier try of it, whose reply was lost.
			if err := ctx.Err(); err != nil { // no work may begin under a context that has ended
				s.abandon(ctx, b.key, b.nonce, b.life, ownAttempt)
				return nil, ddb.Wrap(pkg, "Claim", s.table, err)
			}
			return s.granted(stands, b.terms), nil
		case stands.expired(now):
			build = s.reclaimInput
		default:
			if err := s.verdict(stands, b, now); err != nil {
				return nil, err
			}
			build = s.claimInput // the row that had expired is gone, or is free by now: begin again
		}
	}

	return nil, s.wrap("Claim", errors.New("the row changed with every try"))
}

// granted is the claim of a row that its holder has just written.
func (s *Store) granted(r row, t terms) *Claim {
	return &Claim{
		Key: r.Key, Fence: r.Fence, Attempt: r.Attempts, SeenAt: r.SeenAt,
		store: s, nonce: r.claim, terms: t, settled: make(chan struct{}), lease: r.Lease,
	}
}

// verdict says why a live row refuses the claim. It is nil for a row that the
// first request would be granted, and for no row.
func (s *Store) verdict(stands row, b bid, now time.Time) error {
	if stands.Fingerprint != nil && !bytes.Equal(stands.Fingerprint, b.fingerprint) {
		return ErrFingerprintMismatch
	}
	if err := s.ended(stands); err != nil {
		return err
	}
	if wait := stands.Lease.Add(s.cfg.MaxSkew).Sub(now); stands.State == Claimed && wait > 0 {
		return &InProgressError{Wait: wait, Holder: stands.Holder}
	}
	if stands.Attempts < b.attempts {
		return nil
	}
	if stands.LastError != "" {
		return fmt.Errorf("%w; the last failure: %s", ErrTooManyAttempts, stands.LastError)
	}

	return ErrTooManyAttempts
}

// ended returns the outcome of a key that has one.
func (s *Store) ended(r row) error {
	switch r.State {
	case Done:
		return &DoneError{Record: r.Record}
	case Refused:
		return &PermanentError{Message: r.LastError, cause: s.kept(r)}
	}
	return nil
}

func (s *Store) claimInput(b bid, now time.Time) *dynamodb.UpdateItemInput {
	in := s.updateInput(b.key, b.update(claimUpdate), claimCondition)
	in.ExpressionAttributeValues = s.claimValues(b, now)
	in.ExpressionAttributeValues[":zero"] = item.N(0)
	in.ExpressionAttributeValues[":max"] = item.N(b.attempts)
	in.ExpressionAttributeValues[":failed"] = item.S(string(Failed))
	in.ExpressionAttributeValues[":lapsed"] = item.N(now.Add(-s.cfg.MaxSkew).UnixMilli())
	in.ReturnValues = types.ReturnValueAllNew
	return in
}

func (s *Store) reclaimInput(b bid, now time.Time) *dynamodb.UpdateItemInput {
	in := s.updateInput(b.key, b.update(reclaimUpdate), reclaimCondition)
	in.ExpressionAttributeValues = s.claimValues(b, now)
	in.ExpressionAttributeValues[":now"] = item.N(now.Unix())
	in.ReturnValues = types.ReturnValueAllNew
	return in
}

// claimValues are those that both requests use.
func (s *Store) claimValues(b bid, now time.Time) ddb.Item {
	values := ddb.Item{
		":claimed": item.S(string(Claimed)),
		":me":      item.S(b.nonce),
		":lease":   item.N(now.Add(b.span).UnixMilli()),
		":expires": item.N(expiresAt(now, b.life)),
		":fp":      item.B(b.fingerprint),
		":source":  item.S(sourceOf(b.key)),
		":seed":    item.N(now.UnixMilli()),
		":one":     item.N(1),
		":at":      item.Time(now),
		":graced":  item.N(now.Add(grace).Unix()),
	}
	if b.holder != "" {
		values[":holder"] = item.S(b.holder)
	}

	return values
}

// updateInput is an update that returns the existing row when it is refused.
func (s *Store) updateInput(key, update, condition string) *dynamodb.UpdateItemInput {
	return &dynamodb.UpdateItemInput{
		TableName:                           aws.String(s.table),
		Key:                                 ddb.Item{attrKey: item.S(key)},
		UpdateExpression:                    aws.String(update),
		ConditionExpression:                 aws.String(condition),
		ExpressionAttributeNames:            item.NamesIn(update, condition),
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	}
}

// change sends an update. It returns the row that refused it, empty if there is
// none, or the new row, if the request asks for that.
func (s *Store) change(ctx context.Context, op string, in *dynamodb.UpdateItemInput) (stands row, refused bool, err error) {
	it, refused, err := ddb.Update(ctx, s.api.UpdateItem, in)
	return s.read(op, it, refused, err)
}

// read reads the row that a write returned, if any.
func (s *Store) read(op string, it ddb.Item, refused bool, err error) (stands row, _ bool, _ error) {
	if err == nil && len(it) > 0 {
		stands, err = s.decode(it)
	}
	return stands, refused, s.wrap(op, err)
}
