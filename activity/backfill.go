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

// Backfill returns the update that gives a row of an older system, as a Scan of the
// table returned it, what [Store.Record] would have written of the time, in
// milliseconds, of the name, in NFC, and of activityTimestamp and chatUser. It is
// false for a row that lacks nothing, and for one that is retracted or expired.
//
// The update is refused, with a *types.ConditionalCheckFailedException, when one of
// these attributes has changed or the row is gone, so that it is safe beside live
// writes, and to repeat. It sets no ttl: what an older system kept for good stays.
//
// Errors: a row that cannot be read, that does not say who did what and when, or that
// has no room for it.
//
// The update costs 1 WCU for each KB of the row, for the table and for each index:
// twice that for an index in which the row had another key.
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
