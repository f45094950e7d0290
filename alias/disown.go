package alias

import (
	"cmp"
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/homeops/ddbpatterns/internal/check"
	"github.com/homeops/ddbpatterns/internal/ddb"
	"github.com/homeops/ddbpatterns/internal/item"
)

var disown = expression{"REMOVE #learnedFrom", "#learnedFrom = :actor"}

// Disown removes the actor from [Alias].LearnedFrom in all phrases of a scope, and
// returns in how many, or fewer after a lost reply. The phrases stay: they belong to
// the scope. After an error, call Disown again: it goes on. A phrase that the actor
// teaches while Disown runs may keep the actor.
//
// Price: 2 requests, 1 RCU, 2 WCU. This is for one phrase. Disown reads the scope
// consistently: 1 RCU for each 4 KB, and 1 request for each MB. Then each phrase
// of the actor takes 1 request and costs 2 WCU: one for the item and one for its
// entry in the index.
func (s *Store) Disown(ctx context.Context, scope, actor string) (disowned int, _ error) {
	partition, _, err := s.partitions(scope)
	if err := cmp.Or(err, check.PartitionKey(pkg, "actor", actor)); err != nil {
		return 0, check.Positional(err)
	}

	err = s.items(ctx, &dynamodb.QueryInput{
		TableName:                 aws.String(s.table),
		ConsistentRead:            aws.Bool(true),
		KeyConditionExpression:    aws.String("#pk = :pk"),
		ProjectionExpression:      aws.String("#pk, #sk, #learnedFrom"),
		ExpressionAttributeNames:  item.Names(attrPK, attrSK, attrLearnedFrom),
		ExpressionAttributeValues: ddb.Item{":pk": item.S(partition)},
	}, func(row ddb.Item) error {
		if item.Text(row, attrLearnedFrom) != actor {
			return nil
		}
		// A row that somebody else has taught meanwhile is refused.
		at := place{scope: scope, pk: partition, phrase: item.Text(row, attrSK)}
		_, refused, err := s.update(ctx, at, disown, ddb.Item{":actor": row[attrLearnedFrom]})
		if err == nil && !refused {
			disowned++
		}
		return err
	})
	return disowned, s.wrap("Disown", err)
}
