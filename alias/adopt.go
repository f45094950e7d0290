package alias

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/check"
	"github.com/homeops/ddbpatterns/internal/ddb"
)

// Adopt rewrites the rows of a scope whose sort key is not what [Normalize]
// makes of it, an older system's or those of an earlier normal form, under
// their normal form, and returns how many it rewrote or merged. All that they
// hold comes along. Call it once, when no older writer is left; more often it
// changes nothing.
//
// Each row is one transaction, which puts the new row and deletes the old one
// if both are as they were read: it is safe beside live writes, and after an
// error or a lost reply calling again goes on with the rest. Where a row stands
// under the normal form already,
//
//   - with the same name, the two become one: the confirmations are added, an
//     event that both counted once, and the later event's teacher stays;
//   - with another name, neither is touched. Adopt goes on and returns an
//     [*event.LeftoverError] that names the sort key of each such row, its reason
//     a [*TakenError] with the name that Resolve answers. To settle it, Correct
//     the phrase to the leftover's name, call Adopt, which merges the two, and
//     Correct it to the name it should have;
//   - forgotten by a later event, it stays so, and the old row goes; if an
//     earlier event forgot it, the old row's name stands again.
//
// A row that was forgotten takes no name away. A row that no text can say, for
// instance one of control characters, has no normal form and stays. One that
// cannot be read is a leftover too, if [Config].OnUnreadable lets the rest be read.
//
// Price (none): 1 request, 1 RCU. The book is read as by [Store.Refresh]; that is
// all if there is nothing to adopt.
//
// Price: 4 requests, 3 RCU, 6 WCU. Of one row, the book being up to 4 KB: each
// row takes 2 reads, of 1 RCU each, and 1 transaction, which costs 4 WCU for the
// two rows and 2 for their entries in the index.
func (s *Store) Adopt(ctx context.Context, scope string) (int, error) {
	if _, err := s.partition(scope); err != nil {
		return 0, check.Positional(err)
	}
	b, err := s.cache.refresh(ctx, scope)
	if err != nil {
		return 0, s.wrap("Adopt", err)
	}
	adopted := 0
	var left []event.Leftover
	for _, phrase := range slices.Sorted(maps.Keys(b.elders)) {
		p, err := s.place(scope, phrase)
		if err != nil {
			return adopted, err
		}
		for _, elder := range b.elders[phrase] {
			done, err := s.adopt(ctx, "Adopt", p, elder.Phrase)
			_, taken := errors.AsType[*TakenError](err)
			switch {
			case taken, errors.Is(err, errUnreadable):
				left = append(left, event.Leftover{Key: elder.Phrase, Err: err})
			case err != nil:
				return adopted, err
			case done:
				adopted++
			}
		}
	}
	if left != nil {
		return adopted, &event.LeftoverError{Leftovers: left}
	}
	return adopted, nil
}

// look returns the book for a write that asks for older spellings of the phrase.
// The book may be behind, and a row in normal form may hide them by now, so one
// that shows any is read again consistently; so is one that shows the row in
// normal form which the write has found missing.
func (s *Store) look(ctx context.Context, op string, p place, missing bool) (*book, error) {
	b, err := s.cache.lately(ctx, p.scope)
	if err == nil && (len(b.eldersOf(p.phrase)) > 0 || missing && b.known[p.phrase]) {
		b, err = s.cache.refresh(ctx, p.scope)
	}
	return b, s.wrap(op, err)
}

// settle adopts what stands under older spellings of the phrase alone, for a
// write that is to change it. To one that has found no row in normal form it
// reports whether there is one now, by this call or another's.
func (s *Store) settle(ctx context.Context, op string, p place, missing bool) (bool, error) {
	b, err := s.look(ctx, op, p, missing)
	if err != nil {
		return false, err
	}
	elders := b.eldersOf(p.phrase)
	return missing && b.known[p.phrase] || len(elders) > 0, s.adoptAll(ctx, op, p, elders)
}

// adoptAll adopts the rows. Of several with different names the first one's
// stands, which had the phrase before; [Store.Adopt] reports the others.
func (s *Store) adoptAll(ctx context.Context, op string, p place, elders []row) error {
	for _, elder := range elders {
		_, err := s.adopt(ctx, op, p, elder.Phrase)
		if _, taken := errors.AsType[*TakenError](err); err != nil && !taken {
			return err
		}
	}
	return nil
}

// adoptTries bounds how often an adoption meets rows that others change under it.
const adoptTries = 8

// adopt makes one transaction of the row under an older spelling and the one in
// normal form, and reports whether there was anything to do.
func (s *Store) adopt(ctx context.Context, op string, p place, spelling string) (bool, error) {
	defer s.cache.drop(p.scope)
	older := p
	older.phrase = spelling
	for try := range adoptTries {
		// Nobody brings an older spelling back, so one that is there after the row in
		// normal form was read was beside it. The other way round, the one read here
		// may be what another adoption and a correction have made of it.
		normal, err := s.item(ctx, p)
		if err != nil {
			return false, s.wrap(op, err)
		}
		old, err := s.item(ctx, older)
		if err != nil || len(old) == 0 { // another has adopted it, or this one, and its reply was lost
			return false, s.wrap(op, err)
		}
		merged, err := s.merge(op, p, old, normal)
		if err != nil {
			return false, err
		}
		_, err = s.api.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{
			{Put: s.putIfUnchanged(merged, normal)},
			{Delete: s.deleteIfUnchanged(older.key(), old)},
		}})
		if !changed(err) {
			return err == nil, s.wrap(op, err)
		}
		if err := pause(ctx, try); err != nil {
			return false, s.wrap(op, err)
		}
	}
	return false, s.wrap(op, errors.New("the rows kept changing"))
}

// changed reports whether the transaction was cancelled because another writer
// has changed a row, or is about to.
func changed(err error) bool {
	reasons, _ := ddb.Cancelled(err)
	return slices.ContainsFunc(reasons, ddb.ConditionFailed) || ddb.Conflict(err)
}

func (s *Store) putIfUnchanged(it, stood ddb.Item) *types.Put {
	condition, names, values := unchanged(stood)
	return &types.Put{
		TableName: aws.String(s.table), Item: it, ConditionExpression: aws.String(condition),
		ExpressionAttributeNames: names, ExpressionAttributeValues: values,
	}
}

func (s *Store) deleteIfUnchanged(key, stood ddb.Item) *types.Delete {
	condition, names, values := unchanged(stood)
	return &types.Delete{
		TableName: aws.String(s.table), Key: key, ConditionExpression: aws.String(condition),
		ExpressionAttributeNames: names, ExpressionAttributeValues: values,
	}
}
