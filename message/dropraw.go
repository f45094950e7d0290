package message

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/homeops/ddbpatterns/internal/check"
	"github.com/homeops/ddbpatterns/internal/ddb"
)

// DropRaw removes Raw from a message and leaves the rest. Use it when an actor is
// erased and the Raw of another actor's message names the erased actor, for
// example in a quotation. DropRaw is safe to repeat. It changes nothing if the
// message has no Raw or does not exist.
//
// Price: 1 request, 1 WCU. A message above 1 KB costs 1 WCU for each KB. With
// [Config].ActorIndex, removing the Raw of a message with an actor costs as
// many WCU again, for its entry in the index.
func (s *Store) DropRaw(ctx context.Context, scope string, seq int64) error {
	if err := check.Positional(checkKey(scope, seq)); err != nil {
		return err
	}

	// A row without Raw refuses it: then nothing is to be removed.
	_, _, err := ddb.Update(ctx, s.api.UpdateItem, &dynamodb.UpdateItemInput{
		TableName:                aws.String(s.table),
		Key:                      s.key(scope, seq),
		UpdateExpression:         aws.String("REMOVE #raw"),
		ConditionExpression:      aws.String("attribute_exists(#raw)"),
		ExpressionAttributeNames: map[string]string{"#raw": attrRaw},
	})
	return s.wrap("DropRaw", err)
}
