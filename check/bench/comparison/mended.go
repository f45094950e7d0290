package comparison

import (
	"context"
	"crypto/rand"
	"errors"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Mended is Raw with what can be mended in it within a few lines each.
type Mended struct{ Raw }

var (
	ErrLeaseLost = errors.New("another delivery may have taken the order over")
	ErrTooOld    = errors.New("the rows of the order's day may be deleted")
)

// NewMended returns the store with a client that sends again what met a
// transaction.
func NewMended(r Raw) Mended {
	r.DB = dynamodb.New(r.DB.Options(), func(o *dynamodb.Options) {
		o.Retryer = retry.AddWithErrorCodes(o.Retryer, "TransactionConflictException")
	})
	return Mended{r}
}

func (m Mended) Do(ctx context.Context, order string, work func(context.Context) (string, error)) (string, error) {
	owner := rand.Text()
	answer, done, err := m.claim(ctx, order, owner)
	if done || err != nil {
		return answer, err
	}
	if answer, err = m.renewed(ctx, order, owner, work); err != nil {
		return "", errors.Join(err, m.release(ctx, order, owner))
	}
	return answer, m.complete(ctx, order, owner, answer)
}

// claim makes the row of an order, unless it is done or another delivery holds it.
// A row of this very call is its own, whose reply was lost.
func (m Mended) claim(ctx context.Context, order, owner string) (answer string, done bool, err error) {
	now := time.Now()
	_, err = m.DB.PutItem(ctx, &dynamodb.PutItemInput{
		TableName: &m.Seen,
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
	if textOf(refused.Item["owner"]) == owner {
		return "", false, nil
	}
	if textOf(refused.Item["status"]) != "done" {
		return "", false, ErrInProgress
	}
	return textOf(refused.Item["answer"]), true, nil
}

// renewed does the work and renews the claim meanwhile. The work's context ends
// when the claim cannot be counted on.
func (m Mended) renewed(ctx context.Context, order, owner string, work func(context.Context) (string, error)) (string, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	var renewing sync.WaitGroup
	renewing.Go(func() {
		until := time.Now().Add(lease)
		for {
			select {
			case <-ctx.Done():
				return
			case <-time.After(min(lease/3, time.Until(until))):
			}
			next := time.Now().Add(lease)
			call, stop := context.WithDeadline(ctx, until)
			err := m.renew(call, order, owner, next)
			stop()
			var lost *types.ConditionalCheckFailedException
			switch {
			case err == nil:
				until = next
			case errors.As(err, &lost) || !time.Now().Before(until):
				cancel(ErrLeaseLost)
			}
		}
	})
	answer, err := work(ctx)
	cancel(nil)
	renewing.Wait()
	return answer, err
}

func (m Mended) renew(ctx context.Context, order, owner string, until time.Time) error {
	_, err := m.DB.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName:                 &m.Seen,
		Key:                       item{"pk": text(order)},
		UpdateExpression:          aws.String("SET lease = :until"),
		ConditionExpression:       aws.String("#owner = :owner"),
		ExpressionAttributeNames:  map[string]string{"#owner": "owner"},
		ExpressionAttributeValues: item{":owner": text(owner), ":until": number(until.UnixMilli())},
	})
	return err
}

// Take keeps a nonce of each call that took, by which a call knows that it is its
// own predecessor, whose reply was lost.
func (m Mended) Take(ctx context.Context, o Order, limit int64) (Grant, error) {
	key, expiresAt := m.day(o)
	if time.Now().Unix() > numberOf(expiresAt) {
		return Grant{}, ErrTooOld
	}
	nonce := rand.Text()
	out, err := m.DB.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName:           &m.Limits,
		Key:                 key,
		UpdateExpression:    aws.String("ADD used :one, taken :orders, nonces :nonces SET expiresAt = :expiresAt"),
		ConditionExpression: aws.String("(attribute_not_exists(used) OR used < :limit) AND NOT contains(taken, :order)"),
		ExpressionAttributeValues: item{
			":one": number(1), ":limit": number(limit), ":expiresAt": expiresAt,
			":order": text(o.ID), ":orders": &types.AttributeValueMemberSS{Value: []string{o.ID}},
			":nonces": &types.AttributeValueMemberSS{Value: []string{nonce}},
		},
		ReturnValues:                        types.ReturnValueAllNew,
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	})
	var refused *types.ConditionalCheckFailedException
	if errors.As(err, &refused) {
		row := refused.Item
		ok := has(row["taken"], o.ID) && !has(row["refunded"], o.ID)
		return Grant{OK: ok, First: ok && has(row["nonces"], nonce), Used: numberOf(row["used"])}, nil
	}
	if err != nil {
		return Grant{}, err
	}
	return Grant{OK: true, First: true, Used: numberOf(out.Attributes["used"])}, nil
}
