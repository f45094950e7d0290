package pattern

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/homeops/ddbpatterns/internal/ddb"
	"github.com/homeops/ddbpatterns/internal/item"
)

// ofActor selects the rows of a partition.
const ofActor = "#pk = :pk"

// Get returns the habit, and false if no event of it was ever observed.
//
// Price: 1 request, 0.5 RCU. 1 RCU with Config.ConsistentReads; rows above 4
// KB as much again for each 4 KB.
func (s *Store) Get(ctx context.Context, scope, actor, name string) (Habit, bool, error) {
	if err := checkRow(scope, actor, name); err != nil {
		return Habit{}, false, err
	}
	out, err := s.api.GetItem(ctx, &dynamodb.GetItemInput{
		TableName:      aws.String(s.rows.Table),
		Key:            ddb.Item{attrPK: item.S(partition(scope, actor)), attrSK: item.S(name)},
		ConsistentRead: aws.Bool(s.cfg.ConsistentReads),
	})
	if err != nil {
		return Habit{}, false, ddb.Wrap("pattern", "Get", s.rows.Table, err)
	}
	if len(out.Item) == 0 {
		return Habit{}, false, nil
	}
	habit, err := decode(scope, actor, out.Item)
	if err != nil {
		return Habit{}, false, ddb.Wrap("pattern", "Get", s.rows.Table, err)
	}
	return habit, true, nil
}

// All returns every habit of the actor in the scope, by name; none is an empty
// slice.
//
// Price: 1 request, 0.5 RCU. 0.5 RCU for each 4 KB of all rows together, of
// which a full one has 1; twice that with Config.ConsistentReads; 1 request
// for each MB.
func (s *Store) All(ctx context.Context, scope, actor string) ([]Habit, error) {
	if err := checkActor(scope, actor); err != nil {
		return nil, err
	}
	in := &dynamodb.QueryInput{
		TableName:                 aws.String(s.rows.Table),
		KeyConditionExpression:    aws.String(ofActor),
		ExpressionAttributeNames:  map[string]string{"#pk": attrPK},
		ExpressionAttributeValues: ddb.Item{":pk": item.S(partition(scope, actor))},
		ConsistentRead:            aws.Bool(s.cfg.ConsistentReads),
	}
	habits := []Habit{}
	for {
		page, err := s.api.Query(ctx, in)
		if err != nil {
			return nil, ddb.Wrap("pattern", "All", s.rows.Table, err)
		}
		for _, row := range page.Items {
			habit, err := decode(scope, actor, row)
			if err != nil {
				return nil, ddb.Wrap("pattern", "All", s.rows.Table, err)
			}
			habits = append(habits, habit)
		}
		if len(page.LastEvaluatedKey) == 0 {
			return habits, nil
		}
		in.ExclusiveStartKey = page.LastEvaluatedKey
	}
}
