package ledger

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/internal/check"
	"github.com/homeops/ddbpatterns/internal/ddb"
	"github.com/homeops/ddbpatterns/internal/item"
	"github.com/homeops/ddbpatterns/internal/names"
)

// OperatorsAPI has the methods of *dynamodb.Client that [Operators] calls in addition to
// those of [API].
type OperatorsAPI interface {
	DeleteItem(context.Context, *dynamodb.DeleteItemInput, ...func(*dynamodb.Options)) (*dynamodb.DeleteItemOutput, error)
	Scan(context.Context, *dynamodb.ScanInput, ...func(*dynamodb.Options)) (*dynamodb.ScanOutput, error)
}

var _ OperatorsAPI = (*dynamodb.Client)(nil)

// Operators is a [Store] with calls for operators. [Store.Operators] makes it.
type Operators struct {
	*Store

	api OperatorsAPI
}

// Operators returns the Store with calls for operators. Usually the api is the Store's
// own client.
func (s *Store) Operators(api OperatorsAPI) (*Operators, error) {
	if err := check.NotNil(pkg, "api", api); err != nil {
		return nil, err
	}
	return &Operators{s, names.Client(s.names, api)}, nil
}

// asSeen is true of a row that nobody has claimed, resumed, reopened, erased or
// marked since the operator saw it.
const asSeen = "#claim = :seen AND #fence = :fence"

const (
	reopenUpdate    = "SET #state = :failed, #attempts = :zero, #claim = :me, #expiresAt = :expires REMOVE #lease, #lastError, #errorCode"
	reopenCondition = asSeen + " AND (#state = :failed OR #state = :refused)" +
		" AND (attribute_not_exists(#expiresAt) OR #expiresAt > :graced)"
)

// Reopen lets a key be claimed again after it failed too often or was refused: its
// attempts begin anew, and the stored reason of its failure is removed. The next
// delivery with the same payload does the work. Pass the record that the operator has
// seen, from [Store.Get] or [Operators.List], or at least its Key, Nonce and Fence.
// Reopen is safe to repeat.
//
// Reopen returns [ErrChanged] if the row is not the one that was seen, and a [*DoneError]
// for a key that is done. It returns [ErrNotFound] if the row has expired or was deleted:
// the next delivery does the work anyway. It returns an [*InProgressError] for a key that
// is claimed, even if the lease has lapsed: then the next delivery takes it over if
// attempts are left, and otherwise [Operators.Forget] frees it.
//
// Price: 1 request, 1 WCU. A larger row costs 1 WCU for each KB.
func (s *Operators) Reopen(ctx context.Context, seen Record) error {
	nonce, err := s.nonceFor("Reopen", "Record.Key", seen.Key)
	if err != nil {
		return err
	}

	now := s.cfg.Now()
	in := s.updateInput(seen.Key, reopenUpdate, reopenCondition)
	in.ExpressionAttributeValues = ddb.Item{
		":seen":    item.S(seen.Nonce),
		":fence":   item.N(seen.Fence),
		":failed":  item.S(string(Failed)),
		":refused": item.S(string(Refused)),
		":zero":    item.N(0),
		":me":      item.S(nonce),
		":expires": item.N(expiresAt(now, s.cfg.Retention)),
		":graced":  item.N(now.Add(grace).Unix()),
	}

	stands, refused, err := s.change(ctx, "Reopen", in)
	changed := s.changed("Reopen", stands, seen)
	switch {
	case err != nil || !refused || stands.claim == nonce:
		return err
	case stands.Key == "" || stands.expired(now):
		return ErrNotFound
	case changed != nil:
		return changed
	case stands.State == Done:
		return &DoneError{Record: stands.Record}
	case stands.State == Claimed:
		return &InProgressError{Wait: max(0, stands.Lease.Add(s.cfg.MaxSkew).Sub(now)), Holder: stands.Holder}
	}

	return ErrChanged
}

// changed is ErrChanged for an existing row that is not the one that was seen, and says
// more of a record that may not be a whole one.
func (s *Store) changed(op string, stands row, seen Record) error {
	switch {
	case stands.claim == seen.Nonce && stands.Fence == seen.Fence:
		return nil
	case seen.Nonce == "" || seen.Fence == 0:
		return s.wrap(op, fmt.Errorf("%w, or the Record lacks its Nonce or Fence: pass it as Get or List returned it", ErrChanged))
	}
	return ErrChanged
}

// A duplicate of an erasure that arrives late must not erase what was first seen after
// it. So an erasure is of a row that was first seen before it, or of the claim that the
// refusing row had; and of an older system's row, which has no claim.
const (
	eraseUpdate       = "SET #state = :done, #claim = :me REMOVE #lease, #result, #lastError, #errorCode, #fingerprint, #notes, #holder"
	eraseCondition    = "attribute_exists(#claim) AND (attribute_not_exists(#seenAt) OR #seenAt <= :at OR #claim = :stood)"
	eraseOldUpdate    = "REMOVE #notes"
	eraseOldCondition = "attribute_exists(#pk) AND attribute_not_exists(#claim)"
)

// Erase removes what is stored with a key: its result, why it failed, the fingerprint
// of its payload, its holder's name, an older system's notes. The row stays until it
// expires, like one of [Store.MarkSeen]: a redelivery is a duplicate without a result.
// The key and its Source stay; [Operators.Forget] removes the whole row. Erase is safe
// to repeat.
//
// A worker that holds the key gets [ErrLeaseLost], and its result is not stored. If a
// key is claimed for the first time during Erase, its data may stay: erase it again. For
// a key without a row, Erase returns [ErrNotFound]. Erase also erases a row that cannot
// be read.
//
// Price: 1 request, 1 WCU. A larger row costs 1 WCU for each KB. An older system's row
// costs that twice, in 2 requests; so does a row that was first seen by a clock further
// ahead than Config.MaxSkew.
func (s *Store) Erase(ctx context.Context, key string) error {
	nonce, err := s.nonceFor("Erase", "key", key)
	if err != nil {
		return err
	}

	own := s.updateInput(key, eraseUpdate, eraseCondition)
	own.ExpressionAttributeValues = ddb.Item{
		":done": item.S(string(Done)), ":me": item.S(nonce),
		":at":    item.Time(s.cfg.Now().Add(s.cfg.MaxSkew)),
		":stood": item.S(nonce), // until a row refuses
	}

	in, old := own, s.updateInput(key, eraseOldUpdate, eraseOldCondition)
	for range 2 * claimTries {
		stands, refused, err := ddb.Update(ctx, s.api.UpdateItem, in) // as it is stored: a row that cannot be read is erased, too
		switch {
		case !refused:
			return s.wrap("Erase", err)
		case len(stands) == 0:
			return ErrNotFound
		case stands[attrClaim] == nil:
			in = old
		default:
			in, own.ExpressionAttributeValues[":stood"] = own, stands[attrClaim]
		}
	}

	return s.wrap("Erase", errors.New("the row changed with every try"))
}

// A row is deleted when every fence that a clock of the ledger can give from now
// on is higher than its own. Marked rows have no fence, and rows of an older
// system have no claim either.
const (
	forgetCondition       = asSeen + " AND #fence <= :lapsed AND (#state <> :claimed OR #lease <= :lapsed)"
	forgetMarkedCondition = "#claim = :seen AND attribute_not_exists(#fence)"
	forgetOldCondition    = "attribute_not_exists(#claim)"
)

// Forget deletes the row of a key that no worker holds, in any state: the next delivery
// does the work again, as if the key had never been seen, with another [Claim.Event].
// Pass the record that the operator has seen, as to [Operators.Reopen]. Forget is safe
// to repeat: a missing row counts as forgotten.
//
// Forget returns [ErrChanged] if the row is not the one that was seen, and an
// [*InProgressError] for a key whose claim still holds. It can also return one while the
// last claim is younger than twice Config.MaxSkew: the next fence must be higher.
//
// Forget only a key that is not being delivered: a Claim that is on its way may get a
// lower fence. The worker of an erased key may still be at work: wait until the lease
// of its claim and Config.MaxSkew have passed since the [Store.Erase].
//
// Price: 1 request, 1 WCU. A larger row costs 1 WCU for each KB.
func (s *Operators) Forget(ctx context.Context, seen Record) error {
	if err := check.PartitionKey(pkg, "Record.Key", seen.Key); err != nil {
		return err
	}

	now := s.cfg.Now()
	in := s.forgetInput(seen, now)
	_, old, refused, err := ddb.Write(ctx, s.api.DeleteItem, in)
	stands, refused, err := s.read("Forget", old, refused, err)
	if err != nil || !refused || stands.Key == "" { // gone, by this call or another
		return err
	}
	if err := s.changed("Forget", stands, seen); err != nil {
		return err
	}

	free := time.UnixMilli(stands.Fence)
	if stands.State == Claimed && stands.Lease.After(free) {
		free = stands.Lease
	}

	return &InProgressError{Wait: max(0, free.Add(s.cfg.MaxSkew).Sub(now)), Holder: stands.Holder, ended: stands.State != Claimed}
}

func (s *Store) forgetInput(seen Record, now time.Time) *dynamodb.DeleteItemInput {
	in := &dynamodb.DeleteItemInput{
		TableName:                           aws.String(s.table),
		Key:                                 ddb.Item{attrKey: item.S(seen.Key)},
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	}

	condition := forgetCondition
	switch {
	case seen.Nonce == "":
		condition = forgetOldCondition
	case seen.Fence == 0:
		condition = forgetMarkedCondition
		in.ExpressionAttributeValues = ddb.Item{":seen": item.S(seen.Nonce)}
	default:
		in.ExpressionAttributeValues = ddb.Item{
			":seen":    item.S(seen.Nonce),
			":fence":   item.N(seen.Fence),
			":claimed": item.S(string(Claimed)),
			":lapsed":  item.N(now.Add(-s.cfg.MaxSkew).UnixMilli()),
		}
	}

	in.ConditionExpression, in.ExpressionAttributeNames = aws.String(condition), item.NamesIn("", condition)
	return in
}
