package moving

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/activity"
	"github.com/homeops/ddbpatterns/schema"
)

// Row is an entry as the old log stores it.
type Row struct {
	Customer string `dynamodbav:"customer"`
	Entry    string `dynamodbav:"entry"` // at#order#step
	At       int64  `dynamodbav:"at"`    // Unix seconds
	Order    string `dynamodbav:"order"`
	Step     string `dynamodbav:"step"`
	Clerk    string `dynamodbav:"clerk"`
}

func rowOf(e Entry) Row {
	at := e.At.Unix()
	return Row{e.Customer, fmt.Sprintf("%d#%s#%s", at, e.Order, e.Step), at, e.Order, e.Step, e.Clerk}
}

// OldTable returns the definition of the old log.
func OldTable(name string) schema.Table {
	return schema.Table{Name: name, Key: schema.Key{Partition: schema.String("customer"), Sort: schema.String("entry")}}
}

func (l Log) putOld(ctx context.Context, r Row) error {
	item, err := attributevalue.MarshalMap(r)
	if err != nil {
		return err
	}
	_, err = l.DB.PutItem(ctx, &dynamodb.PutItemInput{TableName: &l.Old, Item: item})
	return err
}

func (l Log) deleteOld(ctx context.Context, r Row) error {
	key, err := attributevalue.MarshalMap(Mark{r.Customer, r.Entry})
	if err != nil {
		return err
	}
	_, err = l.DB.DeleteItem(ctx, &dynamodb.DeleteItemInput{TableName: &l.Old, Key: key})
	return err
}

// oldTally counts the old log's rows of a customer, as activity's Tally does.
func (l Log) oldTally(ctx context.Context, customer string, until time.Time) ([]activity.Tally, error) {
	counts := map[activity.Tally]int{}
	pages := dynamodb.NewQueryPaginator(l.DB, &dynamodb.QueryInput{
		TableName: &l.Old, ConsistentRead: aws.Bool(true),
		KeyConditionExpression: aws.String("customer = :customer AND entry < :until"),
		ExpressionAttributeValues: map[string]types.AttributeValue{
			":customer": &types.AttributeValueMemberS{Value: customer},
			":until":    &types.AttributeValueMemberS{Value: strconv.FormatInt(until.Unix(), 10)},
		},
	})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, err
		}
		var rows []Row
		if err := attributevalue.UnmarshalListOfMaps(page.Items, &rows); err != nil {
			return nil, err
		}
		for _, r := range rows {
			counts[activity.Tally{Actor: r.Clerk, Name: r.Step, Kind: "order"}]++
		}
	}
	all := slices.SortedFunc(maps.Keys(counts), func(a, b activity.Tally) int {
		return cmp.Or(cmp.Compare(a.Actor, b.Actor), cmp.Compare(a.Name, b.Name))
	})
	for i := range all {
		all[i].Count = counts[all[i]]
	}
	return all, nil
}
