package alias

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/homeops/ddbpatterns/internal/check"
	"github.com/homeops/ddbpatterns/internal/ddb"
	"github.com/homeops/ddbpatterns/internal/item"
)

// Disown removes the actor from those phrases of a scope whose [Alias].LearnedFrom
// is the actor, and returns their number. The phrases stay: they belong to the
// scope. After an error, call Disown again: it goes on. A phrase that the actor
// teaches while Disown runs may keep the actor.
//
// Price: 2 requests, 1 RCU, 2 WCU. This is for one phrase. Disown reads the scope
// consistently: 1 RCU for each 4 KB, and 1 request for each MB. Then each phrase
// of the actor takes 1 request and costs 2 WCU: one for the item and one for its
// entry in the index.
func (s *Store) Disown(ctx context.Context, scope, actor string) (disowned int, _ error) {
	partition, err := s.partition(scope)
	if err != nil {
		return 0, check.Positional(err)
	}
	if err := check.PartitionKey(pkg, "actor", actor); err != nil {
		return 0, err
	}
	defer s.cache.drop(scope)
	in := &dynamodb.QueryInput{
		TableName: aws.String(s.table), ConsistentRead: aws.Bool(true),
		KeyConditionExpression:    aws.String("#pk = :pk"),
		ProjectionExpression:      aws.String("#pk, #sk, #learnedFrom"),
		ExpressionAttributeNames:  item.Names(attrPK, attrSK, attrLearnedFrom),
		ExpressionAttributeValues: ddb.Item{":pk": item.S(partition)},
	}
	for {
		page, err := s.api.Query(ctx, in)
		if err != nil {
			return disowned, s.wrap("Disown", err)
		}
		for _, row := range page.Items {
			if item.Text(row, attrLearnedFrom) != actor {
				continue
			}
			if err := s.disown(ctx, row); err != nil {
				return disowned, s.wrap("Disown", err)
			}
			disowned++
		}
		if len(page.LastEvaluatedKey) == 0 {
			return disowned, nil
		}
		in.ExclusiveStartKey = page.LastEvaluatedKey
	}
}

// disown changes a row unless somebody else has taught it since.
func (s *Store) disown(ctx context.Context, row ddb.Item) error {
	err := ddb.Retry(ctx, func() error {
		_, err := s.api.UpdateItem(ctx, &dynamodb.UpdateItemInput{
			TableName: aws.String(s.table), Key: ddb.Item{attrPK: row[attrPK], attrSK: row[attrSK]},
			UpdateExpression: aws.String("REMOVE #learnedFrom"), ConditionExpression: aws.String("#learnedFrom = :actor"),
			ExpressionAttributeNames:  item.Names(attrLearnedFrom),
			ExpressionAttributeValues: ddb.Item{":actor": row[attrLearnedFrom]},
		})
		return err
	})
	if _, refused := ddb.Refused(err); refused {
		return nil
	}
	return err
}
