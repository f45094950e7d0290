package activity

import (
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/internal/backfill"
	"github.com/homeops/ddbpatterns/internal/ddb"
	"github.com/homeops/ddbpatterns/internal/item"
)

// Backfill returns the update that completes a row of an older system. Pass the row
// as a Scan of the table returned it. The update sets the time in milliseconds, the
// name in NFC, activityTimestamp and chatUser as [Store.Record] would have written
// them. The bool is false if the row lacks nothing, or is retracted or expired.
//
// DynamoDB refuses the update, with a *types.ConditionalCheckFailedException, if
// one of these attributes has changed or the row is gone. So you may send the
// update while others write, and may send it again. It sets no ttl: a row that an
// older system kept for good stays.
//
// Backfill returns an error if the row cannot be read, does not say who did
// what and when, or has no room for the attributes.
//
// Each KB of the row costs 1 WCU for the table and 1 WCU for each index. An index
// in which the row had another key costs 2 WCU for each KB.
func (s *Store) Backfill(row map[string]types.AttributeValue) (*dynamodb.UpdateItemInput, bool, error) {
	if retracted(row) || s.expired(row) {
		return nil, false, nil
	}
	a, err := s.decode(row)
	if err != nil {
		return nil, false, s.wrap("Backfill", err)
	}
	a.Name = canonical(a.Name)
	if err := s.checkIndexed(a); err != nil {
		return nil, false, s.wrap("Backfill", fmt.Errorf("the row: %v", err)) // not wrapped, as in decode
	}
	ms := a.At.UnixMilli()
	if ms < minMillis || ms > maxMillis {
		return nil, false, s.wrap("Backfill", errors.New("the row has no time that can be recorded"))
	}
	in, ok, err := backfill.Update(s.table, row, []string{s.cfg.ScopeAttr, attrID}, ddb.Item{
		attrName:       item.S(a.Name),
		attrTimestamp:  item.N(ms),
		attrNameTime:   item.S(nameTime(a.Name, ms)),
		attrScopeActor: item.S(scopeActor(a.Scope, a.Actor)),
	}, s.cfg.ActorAttr)
	return in, ok, s.wrap("Backfill", err)
}
