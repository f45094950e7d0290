package comparison

import (
	"context"
	"crypto/rand"
	"errors"
	"slices"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Raw is the store on the SDK alone.
type Raw struct {
	DB           *dynamodb.Client
	Seen, Limits string // tables
	Zone         *time.Location
}

type item = map[string]types.AttributeValue

func (r Raw) Do(ctx context.Context, order string, work func(context.Context) (string, error)) (string, error) {
	owner := rand.Text()
	answer, done, err := r.claim(ctx, order, owner)
	if done || err != nil {
		return answer, err
	}
	if answer, err = work(ctx); err != nil {
		return "", errors.Join(err, r.release(ctx, order, owner))
	}
	return answer, r.complete(ctx, order, owner, answer)
}

// claim makes the row of an order, unless it is done or another delivery holds it.
func (r Raw) claim(ctx context.Context, order, owner string) (answer string, done bool, err error) {
	now := time.Now()
	_, err = r.DB.PutItem(ctx, &dynamodb.PutItemInput{
		TableName: &r.Seen,
		Item: item{
			"pk": text(order), "status": text("working"), "owner": text(owner),
			"lease": number(now.Add(lease).UnixMilli()), "expiresAt": number(now.Add(retention).Unix()),
		},
		ConditionExpression:      aws.String("attribute_not_exists(pk) OR expiresAt < :now OR (#status = :working AND lease < :nowMilli)"),
		ExpressionAttributeNames: map[string]string{"#status": "status"},
		ExpressionAttributeValues: item{
			":working": text("working"), ":now": number(now.Unix()), ":nowMilli": number(now.UnixMilli()),
		},
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	})
	var refused *types.ConditionalCheckFailedException
	if !errors.As(err, &refused) {
		return "", false, err
	}
	if textOf(refused.Item["status"]) != "done" {
		return "", false, ErrInProgress
	}
	return textOf(refused.Item["answer"]), true, nil
}

// complete keeps the answer, unless another delivery took the order over. It may
// be sent twice.
func (r Raw) complete(ctx context.Context, order, owner, answer string) error {
	_, err := r.DB.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName:                &r.Seen,
		Key:                      item{"pk": text(order)},
		UpdateExpression:         aws.String("SET #status = :done, answer = :answer, expiresAt = :expiresAt"),
		ConditionExpression:      aws.String("#owner = :owner"),
		ExpressionAttributeNames: map[string]string{"#status": "status", "#owner": "owner"},
		ExpressionAttributeValues: item{
			":done": text("done"), ":answer": text(answer), ":owner": text(owner),
			":expiresAt": number(time.Now().Add(retention).Unix()),
		},
	})
	return err
}

// release lets the next delivery try at once.
func (r Raw) release(ctx context.Context, order, owner string) error {
	_, err := r.DB.DeleteItem(ctx, &dynamodb.DeleteItemInput{
		TableName:                 &r.Seen,
		Key:                       item{"pk": text(order)},
		ConditionExpression:       aws.String("#owner = :owner"),
		ExpressionAttributeNames:  map[string]string{"#owner": "owner"},
		ExpressionAttributeValues: item{":owner": text(owner)},
	})
	return err
}

func (r Raw) Take(ctx context.Context, o Order, limit int64) (Grant, error) {
	key, expiresAt := r.day(o)
	out, err := r.DB.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName:           &r.Limits,
		Key:                 key,
		UpdateExpression:    aws.String("ADD used :one, taken :orders SET expiresAt = :expiresAt"),
		ConditionExpression: aws.String("(attribute_not_exists(used) OR used < :limit) AND NOT contains(taken, :order)"),
		ExpressionAttributeValues: item{
			":one": number(1), ":limit": number(limit), ":expiresAt": expiresAt,
			":order": text(o.ID), ":orders": &types.AttributeValueMemberSS{Value: []string{o.ID}},
		},
		ReturnValues:                        types.ReturnValueAllNew,
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	})
	var refused *types.ConditionalCheckFailedException
	if errors.As(err, &refused) {
		row := refused.Item
		return Grant{OK: has(row["taken"], o.ID) && !has(row["refunded"], o.ID), Used: numberOf(row["used"])}, nil
	}
	if err != nil {
		return Grant{}, err
	}
	return Grant{OK: true, First: true, Used: numberOf(out.Attributes["used"])}, nil
}

func (r Raw) Refund(ctx context.Context, o Order) error {
	key, expiresAt := r.day(o)
	_, err := r.DB.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName:           &r.Limits,
		Key:                 key,
		UpdateExpression:    aws.String("ADD used :less, refunded :orders SET expiresAt = :expiresAt"),
		ConditionExpression: aws.String("contains(taken, :order) AND NOT contains(refunded, :order)"),
		ExpressionAttributeValues: item{
			":less": number(-1), ":expiresAt": expiresAt,
			":order": text(o.ID), ":orders": &types.AttributeValueMemberSS{Value: []string{o.ID}},
		},
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	})
	var refused *types.ConditionalCheckFailedException
	switch {
	case !errors.As(err, &refused):
		return err
	case has(refused.Item["refunded"], o.ID):
		return nil // given back before
	}
	return ErrNotTaken
}

// day returns the key of the order's own day, and when its row can go.
func (r Raw) day(o Order) (key item, expiresAt types.AttributeValue) {
	at := o.At.In(r.Zone)
	end := time.Date(at.Year(), at.Month(), at.Day()+1, 0, 0, 0, 0, r.Zone)
	return item{"customer": text(o.Customer), "day": text(at.Format(time.DateOnly))}, number(end.Add(dayKept).Unix())
}

func text(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }

func number(n int64) types.AttributeValue {
	return &types.AttributeValueMemberN{Value: strconv.FormatInt(n, 10)}
}

func textOf(v types.AttributeValue) string {
	s, _ := v.(*types.AttributeValueMemberS)
	if s == nil {
		return ""
	}
	return s.Value
}

func numberOf(v types.AttributeValue) int64 {
	n, _ := v.(*types.AttributeValueMemberN)
	if n == nil {
		return 0
	}
	i, _ := strconv.ParseInt(n.Value, 10, 64)
	return i
}

func has(v types.AttributeValue, s string) bool {
	set, ok := v.(*types.AttributeValueMemberSS)
	return ok && slices.Contains(set.Value, s)
}
