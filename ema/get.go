package ema

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/homeops/ddbpatterns/internal/ddb"
	"github.com/homeops/ddbpatterns/internal/item"
)

// ofSubject selects the rows of a partition.
const ofSubject = "#pk = :pk"

// Get returns the average, and false if no value of it was ever observed.
//
// Price: 1 request, 0.5 RCU. 1 RCU with Config.ConsistentReads; rows above 4
// KB as much again for each 4 KB.
func (s *Store) Get(ctx context.Context, subject, metric string) (Average, bool, error) {
	if err := s.checkRow(subject, metric); err != nil {
		return Average{}, false, err
	}
	out, err := s.api.GetItem(ctx, &dynamodb.GetItemInput{
		TableName:      aws.String(s.rows.Table),
		Key:            ddb.Item{attrPK: item.S(s.partition(subject)), attrSK: item.S(metric)},
		ConsistentRead: aws.Bool(s.cfg.ConsistentReads),
	})
	if err != nil {
		return Average{}, false, ddb.Wrap("ema", "Get", s.rows.Table, err)
	}
	if len(out.Item) == 0 {
		return Average{}, false, nil
	}
	average, err := s.decode(subject, out.Item)
	if err != nil {
		return Average{}, false, ddb.Wrap("ema", "Get", s.rows.Table, err)
	}
	return average, true, nil
}

// All returns every average of the subject, by metric; none is an empty slice.
//
// Price: 1 request, 0.5 RCU. 0.5 RCU for each 4 KB of all rows together, of
// which a full one has some 0.65; twice that with Config.ConsistentReads; 1 request
// for each MB.
func (s *Store) All(ctx context.Context, subject string) ([]Average, error) {
	if err := s.checkSubject(subject); err != nil {
		return nil, err
	}
	in := &dynamodb.QueryInput{
		TableName:                 aws.String(s.rows.Table),
		KeyConditionExpression:    aws.String(ofSubject),
		ExpressionAttributeNames:  map[string]string{"#pk": attrPK},
		ExpressionAttributeValues: ddb.Item{":pk": item.S(s.partition(subject))},
		ConsistentRead:            aws.Bool(s.cfg.ConsistentReads),
	}
	averages := []Average{}
	for {
		page, err := s.api.Query(ctx, in)
		if err != nil {
			return nil, ddb.Wrap("ema", "All", s.rows.Table, err)
		}
		for _, row := range page.Items {
			average, err := s.decode(subject, row)
			if err != nil {
				return nil, ddb.Wrap("ema", "All", s.rows.Table, err)
			}
			averages = append(averages, average)
		}
		if len(page.LastEvaluatedKey) == 0 {
			return averages, nil
		}
		in.ExclusiveStartKey = page.LastEvaluatedKey
	}
}
