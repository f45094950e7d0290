package ledger

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/ddb"
	"github.com/homeops/ddbpatterns/internal/item"
)

// held is true while this claim, and no later one, holds the key and has not
// settled it. The nonce alone is not enough: a duplicate of the claim's request
// that arrives after another worker gave the key up makes a claim with the same
// nonce and a higher fence, which nobody holds.
const held = unheard + " AND #fence = :fence"

// unheard is true of a row that the call with this nonce claimed. It is for a
// call that ends without an answer: that call does not know its fence.
const unheard = "#claim = :me AND #state = :claimed"

const (
	completeUpdate = "SET #state = :done, #result = :result, #expiresAt = :expires REMOVE #lease, #errorCode, #lastError"
	failUpdate     = "SET #state = :failed, #lastError = :error, #expiresAt = :expires, #attempts = #attempts - :back REMOVE #lease, #errorCode"
	refuseUpdate   = "SET #state = :failed, #lastError = :error, #expiresAt = :expires, #attempts = #attempts - :back, #errorCode = :code REMOVE #lease"
	renewUpdate    = "SET #lease = :lease, #expiresAt = :expires"

	// A duplicate of an earlier renewal that arrives late must not shorten the
	// lease.
	renewCondition = held + " AND #lease <= :lease"
)

// Complete stores the result, as JSON, and ends the claim: until the row expires or an
// operator changes it, the key is done and the result is replayed. If [Claim.Check]
// refuses the result, Complete returns its [*event.InputError] and stores nothing; the
// claim is still held.
//
// Complete is safe to repeat. It returns [ErrLeaseLost] if the claim is no longer held,
// a [*PermanentError] if it failed with one, and a [*DoneError] if it was completed
// with another result.
//
// Price: 1 request, 1 WCU. A larger row costs 1 WCU for each KB.
func (c *Claim) Complete(ctx context.Context, result any) error {
	text, err := c.encode(result)
	if err != nil {
		return err
	}
	c.byWork(text)
	return c.complete(ctx, text)
}

func (c *Claim) complete(ctx context.Context, result string) error {
	return c.end(ctx, "Complete", completeUpdate, c.completeValues(result), completedWith(result))
}

// completedWith returns a test of whether a row is done with the result.
func completedWith(result string) func(row) bool {
	return func(stands row) bool { return stands.State == Done && string(stands.Result) == result }
}

// Fail gives the key up: the next delivery may claim it at once, if attempts are left.
// The text of the cause is stored, cut to 512 bytes. If the cause is or wraps a
// [Permanent] error, Fail ends the key instead, and that error is stored and replayed.
//
// Fail is safe to repeat. It returns a [*DoneError] if this claim is completed, for
// example by a transaction whose reply was lost, and [ErrLeaseLost] if it is no longer
// held, as after a Fail with another cause. If that cause was permanent, it returns a
// [*PermanentError].
//
// Price: 1 request, 1 WCU. A larger row costs 1 WCU for each KB.
func (c *Claim) Fail(ctx context.Context, cause error) error {
	if cause == nil {
		return event.BadInput(pkg, "cause", "must not be nil")
	}
	return c.giveUp(ctx, cause, 0)
}

// abandonWithin bounds how long Claim may take after its context has ended.
const abandonWithin = time.Second

// abandon gives a key up again when the context of a Claim or Resume ended before
// its answer came: no work has begun, so the attempt of a Claim does not count,
// and back is 1. It is best effort. A claim that arrives later still takes the key,
// as that of a crashed worker does. A duplicate of a claim that arrived does not,
// because its nonce is in the row.
func (s *Store) abandon(ctx context.Context, key, nonce string, life time.Duration, back int64) {
	text := truncate(context.Cause(ctx).Error(), maxError)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), abandonWithin)
	defer cancel()

	in := s.updateInput(key, failUpdate, unheard)
	in.ExpressionAttributeValues = ddb.Item{
		":me":      item.S(nonce),
		":claimed": item.S(string(Claimed)),
		":failed":  item.S(string(Failed)),
		":error":   item.S(text),
		":expires": item.N(expiresAt(s.cfg.Now(), life)),
		":back":    item.N(back),
	}

	_, _, _ = ddb.Update(ctx, s.api.UpdateItem, in)
}

// outcome is how a claim was given up.
type outcome struct {
	state      State // Failed or Refused
	text, code string
	attempts   int64 // one less than the claim's if the attempt was given back
}

// ownAttempt is how many attempts are given back if the one that ends does not count.
const ownAttempt = 1

// giveUp is [Claim.Fail], and gives back so many attempts: 0 or ownAttempt.
func (c *Claim) giveUp(ctx context.Context, cause error, back int64) error {
	why := outcome{state: Failed, text: truncate(cause.Error(), maxError), attempts: c.Attempt - back}
	if permanent, ok := errors.AsType[*PermanentError](cause); ok {
		why.state, why.text = Refused, truncate(permanent.Message, maxError) // a caller may have built it
		why.code = c.store.errorCode(c.Fence, cause, why.text)
	}

	update, values := failUpdate, c.values()
	values[":failed"], values[":error"], values[":back"] = item.S(string(why.state)), item.S(why.text), item.N(back)
	if why.code != "" {
		values[":code"], update = item.S(why.code), refuseUpdate
	}
	return c.end(ctx, "Fail", update, values, func(stands row) bool {
		return why == outcome{stands.State, stands.LastError, stands.errorCode, stands.Attempts}
	})
}

// end settles a claim with the write that ends it.
func (c *Claim) end(ctx context.Context, op, update string, values ddb.Item, same func(row) bool) error {
	in := c.store.updateInput(c.Key, update, held)
	in.ExpressionAttributeValues = values
	err := c.settle(ctx, op, in, same)
	if err == nil {
		c.setSettled()
	}
	return err
}

// Renew begins the lease anew, with its full length, and extends the life of the row.
// Renew works even after the lease has lapsed, and returns [ErrLeaseLost] if another
// worker took the key over.
//
// Price: 1 request, 1 WCU. A larger row costs 1 WCU for each KB.
func (c *Claim) Renew(ctx context.Context) error {
	lease := time.UnixMilli(c.store.cfg.Now().Add(c.span).UnixMilli())
	in := c.store.updateInput(c.Key, renewUpdate, renewCondition)
	in.ExpressionAttributeValues = c.values()
	in.ExpressionAttributeValues[":lease"] = item.N(lease.UnixMilli())
	err := c.settle(ctx, "Renew", in, func(stands row) bool {
		lease = stands.Lease // a later renewal stands
		return stands.State == Claimed
	})
	if err == nil {
		c.hold(lease)
	}
	return err
}

// settle sends an update whose condition says that the claim is held.
func (c *Claim) settle(ctx context.Context, op string, in *dynamodb.UpdateItemInput, same func(row) bool) error {
	old, refused, err := ddb.Update(ctx, c.store.api.UpdateItem, in)
	if refused {
		return c.judge(op, old, same)
	}
	return c.store.wrap(op, err)
}

// judge returns why a row refused its claim's holder. It is nil if the write
// took effect before: the row is this claim's, and is as the write would leave
// it. If its row is no longer claimed, the claim is settled.
func (c *Claim) judge(op string, old ddb.Item, same func(row) bool) error {
	stands, err := c.store.decode(old)
	switch {
	case err != nil:
		return c.store.wrap(op, err)
	case stands.claim != c.nonce || stands.Fence != c.Fence:
		return ErrLeaseLost
	case stands.State != Claimed:
		c.setSettled() // by its own Complete, Fail or transaction
	}

	if same(stands) {
		return nil
	}
	if err := c.store.ended(stands); err != nil {
		return err
	}

	return errGivenUp // it has failed or was released, by its own call
}

// heldValues are those of held.
func (c *Claim) heldValues() ddb.Item {
	return ddb.Item{
		":me":      item.S(c.nonce),
		":fence":   item.N(c.Fence),
		":claimed": item.S(string(Claimed)),
	}
}

// values are those of held, and a new expiry.
func (c *Claim) values() ddb.Item {
	values := c.heldValues()
	values[":expires"] = item.N(expiresAt(c.store.cfg.Now(), c.life))
	return values
}

func (c *Claim) completeValues(result string) ddb.Item {
	values := c.values()
	values[":done"] = item.S(string(Done))
	values[":result"] = item.S(result)
	return values
}

// Check returns an [*event.InputError] for a result that cannot be stored:
// encoding/json cannot encode it, or its JSON is not valid UTF-8 or over
// Config.MaxResult. Call it before an effect that cannot be undone, with the largest
// result that the work may return. In JSON, each '<', '>', '&' and control character of
// a string may take six bytes, and a []byte four bytes for each three. Check sends
// nothing.
func (c *Claim) Check(result any) error {
	_, err := c.encode(result)
	return err
}

// encode returns the result as it is stored.
func (c *Claim) encode(result any) (string, error) {
	text, err := json.Marshal(result)
	if err != nil {
		return "", event.BadInput(pkg, "result", "must be what encoding/json can encode: "+err.Error())
	}
	if !utf8.Valid(text) { // a json.RawMessage is taken as it is
		return "", event.BadInput(pkg, "result", "must be valid UTF-8")
	}
	if most := c.store.cfg.MaxResult; len(text) > most {
		return "", event.BadInput(pkg, "result", fmt.Sprintf("must be at most %d bytes of JSON (Config.MaxResult), is %d", most, len(text)))
	}
	return string(text), nil
}
