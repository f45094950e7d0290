package alias

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/internal/backfill"
	"github.com/homeops/ddbpatterns/internal/item"
)

// Backfill returns the transaction that moves an older spelling, a row whose phrase
// is not in normal form, to that form. Pass the row as a Scan of the table returned
// it. The bool is false if the row is in normal form already, or is not of this
// Store's book ([Config].Prefix). The row moves with all its attributes.
//
// DynamoDB cancels the transaction, with a *types.TransactionCanceledException, if
// a row in normal form exists (the first reason) or if the older row has changed
// since the Scan (the second). So it is safe to send the transaction while other
// callers write, and to send it again. If two rows have one phrase, neither is
// lost, and somebody must decide: Correct the phrase, if the older row has the
// right name, and then delete the older row.
//
// Backfill returns an error for a phrase that has no normal form, for instance
// with a control character. No text matches such a phrase: delete its row.
//
// The transaction costs 6 WCU for each KB begun of the row: 4 for the table and 2
// for the index.
func (s *Store) Backfill(row map[string]types.AttributeValue) (*dynamodb.TransactWriteItemsInput, bool, error) {
	row = s.names.Read(row)
	if !strings.HasPrefix(item.Text(row, attrPK), s.cfg.Prefix+"#") {
		return nil, false, nil
	}

	phrase := item.Text(row, attrSK)
	normal, err := normalize(phrase)
	if err != nil {
		return nil, false, s.wrap("Backfill", fmt.Errorf("the row's phrase has no normal form: %v", err)) // not wrapped: what is stored is nobody's bad input
	}
	if normal == phrase {
		return nil, false, nil
	}

	moved := maps.Clone(row)
	moved[attrSK] = item.S(normal)
	all := slices.AppendSeq(slices.Clone(attributes), maps.Keys(row))
	slices.Sort(all)

	condition, names, values := backfill.Unchanged(row, slices.Compact(all))
	return &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{
		s.names.Action(types.TransactWriteItem{Put: &types.Put{
			TableName: aws.String(s.table), Item: moved,
			ConditionExpression: aws.String("attribute_not_exists(#pk)"), ExpressionAttributeNames: item.Names(attrPK),
		}}),
		s.names.Action(types.TransactWriteItem{Delete: &types.Delete{
			TableName: aws.String(s.table), Key: map[string]types.AttributeValue{attrPK: row[attrPK], attrSK: row[attrSK]},
			ConditionExpression: aws.String(condition), ExpressionAttributeNames: names, ExpressionAttributeValues: values,
		}}),
	}}, true, nil
}
