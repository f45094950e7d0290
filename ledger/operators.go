package ledger

import (
	"context"
	"errors"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/internal/check"
	"github.com/homeops/ddbpatterns/internal/ddb"
	"github.com/homeops/ddbpatterns/internal/item"
)

// asSeen is true of the row that an operator has seen: of the same claim, and not
// written anew since.
const asSeen = "#claim = :seen AND #fence = :fence"

const (
	reopenUpdate    = "SET #state = :failed, #attempts = :zero, #claim = :me, #expiresAt = :expires REMOVE #lease, #lastError, #errorCode"
	reopenCondition = asSeen + " AND (#state = :failed OR #state = :refused)" +
		" AND (attribute_not_exists(#expiresAt) OR #expiresAt > :graced)"
)

var reopenNames = item.Names(attrState, attrAttempts, attrClaim, attrExpiresAt, attrLease, attrLastError, attrErrorCode, attrFence)

// Reopen lets a key be claimed again that has failed too often, or was refused
// for good: its attempts begin anew, and why it ended is no longer stored. The
// next delivery with the same payload does the work; Reopen itself delivers
// nothing. The record is one of [Store.Get] or [Store.List], and says what the
// operator has seen.
//
// It is never for a key that is done, a [*DoneError], nor for one that is
// claimed, an [*InProgressError], though its lease has lapsed: the next delivery
// takes that over while attempts are left, and then [Store.Forget] frees it. A row that was claimed or reopened since is
// [ErrChanged]: read it again, and decide again. One that has expired, or was
// deleted, is [ErrNotFound]: the next delivery does the work anyway.
//
// It is safe to repeat. A lost reply is told from another's change, unless the key
// was claimed in between: then it is ErrChanged.
//
// Price: 1 request, 1 WCU. A larger row costs 1 WCU for each KB.
func (s *Store) Reopen(ctx context.Context, seen Record) error {
	if err := check.PartitionKey(pkg, "Record.Key", seen.Key); err != nil {
		return err
	}
	nonce, err := s.nonce("Reopen")
	if err != nil {
		return err
	}
	now := s.cfg.Now()
	in := s.updateInput(seen.Key, reopenUpdate, reopenCondition, s.names.reopen)
	in.ExpressionAttributeValues = ddb.Item{
		":seen":    item.S(seen.Nonce),
		":fence":   item.N(seen.Fence),
		":failed":  item.S(string(Failed)),
		":refused": item.S(string(Refused)),
		":zero":    item.N(0),
		":me":      item.S(nonce),
		":expires": item.N(expiresAt(now, s.cfg.Retention)),
		":graced":  item.N(now.Add(Grace).Unix()),
	}
	stands, refused, err := s.change(ctx, "Reopen", in)
	switch {
	case err != nil || !refused || stands.claim == nonce:
		return err
	case stands.Key == "" || stands.expired(now):
		return ErrNotFound
	}
	return s.refusal(stands, seen, now)
}

// change sends an update and returns what stands when it is refused.
func (s *Store) change(ctx context.Context, op string, in *dynamodb.UpdateItemInput) (stands row, refused bool, err error) {
	err = ddb.Retry(ctx, func() error {
		_, err := s.api.UpdateItem(ctx, in)
		return err
	})
	return s.refusedBy(op, err)
}

// refusedBy reads an error for the row that refused.
func (s *Store) refusedBy(op string, err error) (stands row, refused bool, _ error) {
	old, refused := ddb.Refused(err)
	if refused {
		if len(old) == 0 {
			return row{}, true, nil
		}
		stands, err = s.decode(old)
	}
	return stands, refused, s.wrap(op, err)
}

// refusal says why what stands is not what an operator may change.
func (s *Store) refusal(stands row, seen Record, now time.Time) error {
	switch {
	case stands.claim != seen.Nonce || stands.Fence != seen.Fence:
		return ErrChanged
	case stands.State == Done:
		return &DoneError{Record: stands.Record}
	case stands.State == Claimed:
		return &InProgressError{Wait: max(0, stands.Lease.Add(s.cfg.MaxSkew).Sub(now))}
	}
	return ErrChanged
}

// An erasure leaves a row alone but for what it says: when it expires, its
// fence, and of an older system's row that it has no claim. A duplicate of it that
// arrives late must not erase what was first seen after it.
const (
	eraseUpdate       = "SET #state = :done, #claim = :me REMOVE #lease, #result, #lastError, #errorCode, #fingerprint, #notes"
	eraseCondition    = "attribute_exists(#claim) AND (attribute_not_exists(#seenAt) OR #seenAt <= :at)"
	eraseOldUpdate    = "REMOVE #notes"
	eraseOldCondition = "attribute_exists(#pk) AND attribute_not_exists(#claim)"
)

var (
	eraseNames    = item.Names(attrState, attrClaim, attrLease, attrResult, attrLastError, attrErrorCode, attrFingerprint, attrNotes, attrSeenAt)
	eraseOldNames = item.Names(attrKey, attrClaim, attrNotes)
)

// Erase removes what is stored with a key (its result, why it failed, the
// fingerprint of its payload) and leaves a row as [Store.MarkSeen] writes it: a
// delivery that comes again is a duplicate, without a result to replay, until the
// row expires as it would have. The key itself stays, and so does its Source:
// when they must not, [Store.Forget].
//
// Keys name events, not persons: to erase all of a person, keep the keys beside
// the person, as with the orders or messages that they came from.
//
// Whoever holds the key loses it: it is told [ErrLeaseLost], and nothing that it
// has in hand is stored. A row that has expired and is not deleted yet is erased
// as well; a key without a row is [ErrNotFound]. It is safe to repeat. What is
// claimed for the first time while Erase runs may stay.
//
// Price: 1 request, 1 WCU. A larger row costs 1 WCU for each KB. An older
// system's row costs that twice, in 2 requests.
func (s *Store) Erase(ctx context.Context, key string) error {
	if err := check.PartitionKey(pkg, "key", key); err != nil {
		return err
	}
	nonce, err := s.nonce("Erase")
	if err != nil {
		return err
	}
	own := s.updateInput(key, eraseUpdate, eraseCondition, s.names.erase)
	own.ExpressionAttributeValues = ddb.Item{
		":done": item.S(string(Done)), ":me": item.S(nonce), ":at": item.Time(s.cfg.Now().Add(s.cfg.MaxSkew)),
	}
	old := s.updateInput(key, eraseOldUpdate, eraseOldCondition, s.names.eraseOld)
	for range claimTries {
		for _, in := range []*dynamodb.UpdateItemInput{own, old} {
			stands, refused, err := s.erase(ctx, in)
			if err != nil || !refused {
				return err
			}
			if len(stands) == 0 {
				return ErrNotFound
			}
		}
	}
	return s.wrap("Erase", errors.New("the row changed with every try"))
}

// erase returns what refused as it is stored: it may be unreadable, and is erased
// all the same.
func (s *Store) erase(ctx context.Context, in *dynamodb.UpdateItemInput) (stands ddb.Item, refused bool, err error) {
	err = ddb.Retry(ctx, func() error {
		_, err := s.api.UpdateItem(ctx, in)
		return err
	})
	if stands, refused = ddb.Refused(err); refused {
		return stands, true, nil
	}
	return nil, false, s.wrap("Erase", err)
}

// A row is deleted when every fence that a clock of the ledger can give from now
// on is higher than its own. Marked rows have none, and rows of an older system no
// claim either.
const (
	forgetCondition       = asSeen + " AND #fence <= :lapsed AND (#state <> :claimed OR #lease <= :lapsed)"
	forgetMarkedCondition = "#claim = :seen AND attribute_not_exists(#fence)"
	forgetOldCondition    = "attribute_not_exists(#claim)"
)

var (
	forgetNames       = item.Names(attrClaim, attrFence, attrState, attrLease)
	forgetMarkedNames = item.Names(attrClaim, attrFence)
	forgetOldNames    = item.Names(attrClaim)
)

// Forget deletes the row of a key, whatever its state: the next delivery does the
// work again, as if the key had never been seen. The record is one of
// [Store.Get] or [Store.List], and says what the operator has seen.
//
// A key whose claim still holds is an [*InProgressError], and so is one that was
// claimed a moment ago, within twice Config.MaxSkew: the next claim must have a
// higher fence. A row that was written by another since is [ErrChanged]: read it
// again, and decide again.
//
// What Forget cannot see is left to the operator. A Claim that was sent before, and
// arrives after, may get a lower fence than the one that was forgotten. And an
// erased key has no lease: whoever held it when [Store.Erase] took effect may still
// be at work. So forget a key while nobody delivers it, and an erased one not before
// Config.Lease and Config.MaxSkew are over.
//
// It is safe to repeat: what is gone is forgotten. When the reply was lost, and
// the key comes again before the SDK repeats the request, it is ErrChanged.
//
// Price: 1 request, 1 WCU. A larger row costs 1 WCU for each KB.
func (s *Store) Forget(ctx context.Context, seen Record) error {
	if err := check.PartitionKey(pkg, "Record.Key", seen.Key); err != nil {
		return err
	}
	now := s.cfg.Now()
	in := s.forgetInput(seen, now)
	err := ddb.Retry(ctx, func() error {
		_, err := s.api.DeleteItem(ctx, in)
		return err
	})
	stands, refused, err := s.refusedBy("Forget", err)
	switch {
	case err != nil || !refused || stands.Key == "": // gone, by this call or another
		return err
	case stands.claim != seen.Nonce || stands.Fence != seen.Fence:
		return ErrChanged
	}
	free := time.UnixMilli(stands.Fence)
	if stands.State == Claimed && stands.Lease.After(free) {
		free = stands.Lease
	}
	return &InProgressError{Wait: max(0, free.Add(s.cfg.MaxSkew).Sub(now))}
}

func (s *Store) forgetInput(seen Record, now time.Time) *dynamodb.DeleteItemInput {
	in := &dynamodb.DeleteItemInput{
		TableName:                           aws.String(s.table),
		Key:                                 ddb.Item{s.cfg.KeyAttr: item.S(seen.Key)},
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	}
	switch {
	case seen.Nonce == "":
		in.ConditionExpression, in.ExpressionAttributeNames = aws.String(forgetOldCondition), s.names.forgetOld
		return in
	case seen.Fence == 0:
		in.ConditionExpression, in.ExpressionAttributeNames = aws.String(forgetMarkedCondition), s.names.forgetMarked
		in.ExpressionAttributeValues = ddb.Item{":seen": item.S(seen.Nonce)}
		return in
	}
	in.ConditionExpression, in.ExpressionAttributeNames = aws.String(forgetCondition), s.names.forget
	in.ExpressionAttributeValues = ddb.Item{
		":seen":    item.S(seen.Nonce),
		":fence":   item.N(seen.Fence),
		":claimed": item.S(string(Claimed)),
		":lapsed":  item.N(now.Add(-s.cfg.MaxSkew).UnixMilli()),
	}
	return in
}
