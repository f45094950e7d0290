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
// settled it. The nonce alone would not do: a duplicate of the claim's request
// that arrives after another worker gave the key up is a claim of the same
// nonce and a higher fence, which nobody holds.
const held = unheard + " AND #fence = :fence"

// unheard is true of a row that the call of this nonce claimed. Alone it serves
// a call that ends without an answer: it knows no fence, and nobody has the
// claim in hand.
const unheard = "#claim = :me AND #state = :claimed"

const (
	completeUpdate = "SET #state = :done, #result = :result, #expiresAt = :expires REMOVE #lease, #errorCode, #lastError"
	failUpdate     = "SET #state = :failed, #lastError = :error, #expiresAt = :expires REMOVE #lease, #errorCode"
	refuseUpdate   = "SET #state = :failed, #lastError = :error, #errorCode = :code, #expiresAt = :expires REMOVE #lease"
	withdrawUpdate = "SET #state = :failed, #lastError = :error, #expiresAt = :expires, #attempts = #attempts - :one REMOVE #lease, #errorCode"
	renewUpdate    = "SET #lease = :lease, #expiresAt = :expires"

	// A duplicate of an earlier renewal that arrives late must not shorten the
	// lease under its holder.
	renewCondition = held + " AND #lease <= :lease"
)

var (
	completeNames = item.Names(attrClaim, attrFence, attrState, attrResult, attrExpiresAt, attrLease, attrLastError, attrErrorCode)
	failNames     = item.Names(attrClaim, attrFence, attrState, attrExpiresAt, attrLease, attrLastError, attrErrorCode)
	withdrawNames = item.Names(attrClaim, attrFence, attrState, attrExpiresAt, attrLease, attrLastError, attrErrorCode, attrAttempts)
	abandonNames  = item.Names(attrClaim, attrState, attrExpiresAt, attrLease, attrLastError, attrErrorCode, attrAttempts)
	renewNames    = item.Names(attrClaim, attrFence, attrState, attrExpiresAt, attrLease)
)

// Complete stores the result, as JSON, and ends the claim: from now on, until
// the row expires, the key is done and the result is replayed. A result that
// cannot be JSON, is not valid UTF-8 or is over Config.MaxResult is an
// [*event.InputError] and nothing is stored; the claim is still held.
//
// It is safe to repeat. When another worker took the key over it is
// [ErrLeaseLost]; when this claim completed with another result before, a
// [*DoneError] with that.
//
// Price: 1 request, 1 WCU. A larger row costs 1 WCU for each KB.
func (c *Claim) Complete(ctx context.Context, result any) error {
	text, err := c.encode(result)
	if err != nil {
		return err
	}
	return c.complete(ctx, text)
}

func (c *Claim) complete(ctx context.Context, result string) error {
	in := c.store.updateInput(c.Key, completeUpdate, held, c.store.names.complete)
	in.ExpressionAttributeValues = c.completeValues(result)
	err := c.settle(ctx, "Complete", in, completedWith(result))
	if err == nil {
		c.setSettled()
	}
	return err
}

// completedWith reports of a row whether it is done with the result.
func completedWith(result string) func(row) bool {
	return func(stands row) bool { return stands.State == Done && string(stands.Result) == result }
}

// Fail gives the key up: the next delivery may claim it at once, up to
// Config.MaxAttempts. The text of the cause is stored, cut to 512 bytes. When
// the cause is a [Permanent] error the key has ended instead, and the error is
// replayed.
//
// It is safe to repeat. It is [ErrLeaseLost] when another worker claimed the
// key: before this call, or after it gave the key up and its reply was lost. It
// is a [*DoneError] when this claim is completed, as by a transaction whose
// reply was lost.
//
// Price: 1 request, 1 WCU. A larger row costs 1 WCU for each KB.
func (c *Claim) Fail(ctx context.Context, cause error) error {
	if cause == nil {
		return event.BadInput(pkg, "cause", "must not be nil")
	}
	why := outcome{state: Failed, text: truncate(cause.Error(), maxError)}
	if permanent, ok := errors.AsType[*PermanentError](cause); ok {
		why = outcome{state: Refused, text: truncate(permanent.Message, maxError)} // a caller may have built it
		why.code = c.store.errorCode(c.Fence, cause, why.text)
	}
	values, update := c.values(), failUpdate
	if why.code != "" {
		values[":code"], update = item.S(why.code), refuseUpdate
	}
	return c.giveUp(ctx, c.store.updateInput(c.Key, update, held, c.store.names.fail), values, why)
}

// outcome is how a claim was given up.
type outcome struct {
	state      State // Failed or Refused
	text, code string
}

// withdraw is [Claim.Fail] for an attempt that shall not count.
func (c *Claim) withdraw(ctx context.Context, cause error) error {
	values := c.values()
	values[":one"] = item.N(1)
	in := c.store.updateInput(c.Key, withdrawUpdate, held, c.store.names.withdraw)
	return c.giveUp(ctx, in, values, outcome{state: Failed, text: truncate(cause.Error(), maxError)})
}

// abandonWithin bounds how long Claim stays after its context has ended.
const abandonWithin = time.Second

// abandon gives up what a claim may have taken whose context ended before the
// answer came: no work has begun, so the attempt shall not count. It is best
// effort. A request that arrives later still takes the key, as one of a worker
// that crashed does; a duplicate of one that arrived does not: its nonce stands.
func (s *Store) abandon(ctx context.Context, b bid) {
	text := truncate(context.Cause(ctx).Error(), maxError)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), abandonWithin)
	defer cancel()
	in := s.updateInput(b.key, withdrawUpdate, unheard, s.names.abandon)
	in.ExpressionAttributeValues = ddb.Item{
		":me":      item.S(b.nonce),
		":claimed": item.S(string(Claimed)),
		":failed":  item.S(string(Failed)),
		":error":   item.S(text),
		":expires": item.N(expiresAt(s.cfg.Now(), b.life)),
		":one":     item.N(1),
	}
	_ = ddb.Retry(ctx, func() error {
		_, err := s.api.UpdateItem(ctx, in)
		return err
	})
}

func (c *Claim) giveUp(ctx context.Context, in *dynamodb.UpdateItemInput, values ddb.Item, why outcome) error {
	values[":failed"], values[":error"] = item.S(string(why.state)), item.S(why.text)
	in.ExpressionAttributeValues = values
	err := c.settle(ctx, "Fail", in, func(stands row) bool {
		return why == outcome{stands.State, stands.LastError, stands.errorCode}
	})
	if err == nil {
		c.setSettled()
	}
	return err
}

// Renew extends the lease to Config.Lease, or [Request.Lease], from now, and the life of the row
// with it. [Do] renews by itself. It works also after the lease has lapsed, as
// long as nobody took the key over; when somebody did it is [ErrLeaseLost].
//
// Price: 1 request, 1 WCU. A larger row costs 1 WCU for each KB.
func (c *Claim) Renew(ctx context.Context) error {
	lease := time.UnixMilli(c.store.cfg.Now().Add(c.span).UnixMilli())
	in := c.store.updateInput(c.Key, renewUpdate, renewCondition, c.store.names.renew)
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
	err := ddb.Retry(ctx, func() error {
		_, err := c.store.api.UpdateItem(ctx, in)
		return err
	})
	if old, refused := ddb.Refused(err); refused {
		return c.judge(op, old, same)
	}
	return c.store.wrap(op, err)
}

// judge says why a row refused what only the claim's holder may do. It is nil
// when that has taken effect before: the row is this claim's, and as the write
// would leave it.
func (c *Claim) judge(op string, old ddb.Item, same func(row) bool) error {
	stands, err := c.store.decode(old)
	switch {
	case err != nil:
		return c.store.wrap(op, err)
	case stands.claim != c.nonce || stands.Fence != c.Fence:
		return ErrLeaseLost
	case same(stands):
		return nil
	}
	c.setSettled() // by its own Complete, Fail or transaction
	if err := c.store.ended(stands); err != nil {
		return err
	}
	return errGivenUp
}

// values are those of held, and a new expiry.
func (c *Claim) values() ddb.Item {
	return ddb.Item{
		":me":      item.S(c.nonce),
		":fence":   item.N(c.Fence),
		":claimed": item.S(string(Claimed)),
		":expires": item.N(expiresAt(c.store.cfg.Now(), c.life)),
	}
}

func (c *Claim) completeValues(result string) ddb.Item {
	values := c.values()
	values[":done"] = item.S(string(Done))
	values[":result"] = item.S(result)
	return values
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
		return "", event.BadInput(pkg, "result", fmt.Sprintf("is %d bytes of JSON, Config.MaxResult is %d", len(text), most))
	}
	return string(text), nil
}
