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

// Adopt moves a scope's rows to normal form: if the sort key of a row is not in
// normal form, Adopt moves the row to the key that [Normalize] returns. Rows
// that are not in normal form come from an older system or an earlier normal
// form. A row moves with all its attributes; only type, updatedAt and the key
// of the index are set anew. Adopt returns how many rows it moved, merged or
// deleted. Call Adopt once, when no program writes such rows any more; a later
// call changes only rows that an earlier one left.
//
// Adopt moves each row by one transaction. The transaction puts the new row and
// deletes the old row, if both rows are still as Adopt read them. So Adopt is
// safe beside live writes. After an error or a lost reply, call Adopt again: it
// goes on with the rest. If a row exists under the normal form already, the two
// rows decide what happens:
//
//   - If both have the same name, the two rows become one. The confirmations
//     are added up, and an event that both rows still remember is counted once.
//     (A row remembers its 8 greatest events: an event that both have counted,
//     and that one no longer remembers, is counted twice.) The teacher is taken from the row with the later [Alias].NamedBy. If
//     neither is later, it is taken from the row in normal form, unless that
//     row is a seed.
//   - If they have different names, Adopt changes neither row and goes on. At its
//     end Adopt returns an [*event.LeftoverError] that names the sort key of each
//     old row that it left. The reason is a [*TakenError] with the name in the
//     row in normal form. To repair this, Correct the phrase to the name in the
//     old row. Then call Adopt, which now merges the two rows. Then Correct the
//     phrase to the name that it should have.
//   - If the row in normal form is forgotten, the later event decides. If the
//     event that forgot the phrase is not earlier than the event that named the
//     old row, the phrase stays forgotten and Adopt deletes the old row.
//     Otherwise, the phrase gets the old row's name.
//
// If the old row is forgotten, the row in normal form keeps its name. A sort key
// that no text matches, for instance a key with control characters, has no normal
// form: its row stays. If the old row or the row in normal form cannot be read,
// the old row is also a leftover. But if [Config].OnUnreadable is nil, one
// unreadable row of the scope makes Adopt fail before it changes anything.
//
// Price (none): 1 request, 1 RCU. Adopt reads the book, as [Store.Refresh]
// does. If it finds nothing to adopt, it sends no other request.
//
// Price: 4 requests, 3 RCU, 6 WCU. This is for one row, in a book of up to 4
// KB. After the read of the book, each row takes 2 reads of 1 RCU each, and 1
// transaction. The transaction costs 4 WCU for the old and the new row, and 2
// WCU for their entries in the index.
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
// The book in memory may be out of date, and a row in normal form may hide the
// spellings by now. So a book that has any is read again, consistently. So is a
// book that has the row in normal form although the write has found it missing.
func (s *Store) look(ctx context.Context, op string, p place, missing bool) (*book, error) {
	b, err := s.cache.lately(ctx, p.scope)
	if err == nil && (len(b.eldersOf(p.phrase)) > 0 || missing && b.known[p.phrase]) {
		b, err = s.cache.refresh(ctx, p.scope)
	}
	return b, s.wrap(op, err)
}

// settle adopts the rows of a phrase that has only older spellings, for a write
// that is to change the phrase. For a write that has found no row in normal
// form, it reports whether one exists now, by this call or another's.
func (s *Store) settle(ctx context.Context, op string, p place, missing bool) (bool, error) {
	b, err := s.look(ctx, op, p, missing)
	if err != nil {
		return false, err
	}
	elders := b.eldersOf(p.phrase)
	return missing && b.known[p.phrase] || len(elders) > 0, s.adoptAll(ctx, op, p, elders)
}

// adoptAll adopts the rows. If they have different names, that of the first is
// kept, which owned the phrase before; [Store.Adopt] reports the others.
func (s *Store) adoptAll(ctx context.Context, op string, p place, elders []row) error {
	for _, elder := range elders {
		_, err := s.adopt(ctx, op, p, elder.Phrase)
		if _, taken := errors.AsType[*TakenError](err); err != nil && !taken {
			return err
		}
	}
	return nil
}

// adoptTries bounds how often an adoption is tried while others change its rows.
const adoptTries = 8

// adopt makes one transaction of the row under an older spelling and the one in
// normal form, and reports whether there was anything to do.
func (s *Store) adopt(ctx context.Context, op string, p place, spelling string) (bool, error) {
	defer s.cache.drop(p.scope)
	older := p
	older.phrase = spelling
	for try := range adoptTries {
		// The row in normal form is read first. Nobody writes an older spelling
		// again, so an older row that is read afterwards existed beside it. In the
		// other order, the row in normal form could already be the result of
		// another adoption and a correction.
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
			s.names.Action(types.TransactWriteItem{Put: s.putIfUnchanged(merged, normal)}),
			s.names.Action(types.TransactWriteItem{Delete: s.deleteIfUnchanged(older.key(), old)}),
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
// has changed a row, or is changing it.
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
