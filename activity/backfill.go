package activity

import (
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/internal/backfill"
	"github.com/homeops/ddbpatterns/internal/check"
	"github.com/homeops/ddbpatterns/internal/ddb"
	"github.com/homeops/ddbpatterns/internal/item"
)

// Backfill returns the update that completes a row of an older system. Pass the row as
// a Scan of the table returned it. The update sets timestamp, activity,
// activityTimestamp and chatUser, as far as the row lacks them or has them in another
// form than [Store.Record] writes. The bool is false if the row needs no update,
// because it has them already or because it is retracted or expired.
//
// DynamoDB refuses the update, with a *types.ConditionalCheckFailedException, if what
// it was made from has changed since the Scan. So it is safe to send the update while
// others write, and to send it again. The update sets no ttl: a row without one is kept
// for ever.
//
// Backfill returns an error if the row cannot be read, does not say who did what and
// when, has a value that cannot be in a key, or has no room for the attributes.
//
// For each KB begun of the row, the update costs 1 WCU for the table and 1 WCU
// for each index, or 2 WCU for an index in which the row had another key.
func (s *Store) Backfill(row map[string]types.AttributeValue) (*dynamodb.UpdateItemInput, bool, error) {
	row = s.names.Read(row)
	if retracted(row) || s.expired(row) {
		return nil, false, nil
	}

	a, err := s.decode(row)
	if err != nil {
		return nil, false, s.wrap("Backfill", err)
	}

	a.Name = canonical(a.Name)
	if err := s.checkIndexed(a); err != nil {
		return nil, false, s.wrap("Backfill", fmt.Errorf("the row has a value that cannot be in a key: %v", err)) // not wrapped, as in decode
	}

	ms := a.At.UnixMilli()
	if ms < minMillis || ms > maxMillis {
		return nil, false, s.wrap("Backfill", errors.New("the row has no time between March 1973 and November 2286"))
	}

	in, ok, err := backfill.Update(s.names.Stored, s.table, row, []string{attrScope, attrID}, ddb.Item{
		attrName:       item.S(a.Name),
		attrTimestamp:  item.N(ms),
		attrNameTime:   item.S(nameTime(a.Name, ms)),
		attrScopeActor: item.S(check.Join(a.Scope, a.Actor)),
	}, attrActor)
	return s.names.Update(in), ok, s.wrap("Backfill", err)
}
