package cookbook

import (
	"context"
	"errors"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/ledger"
	"github.com/homeops/ddbpatterns/record"
	"github.com/homeops/ddbpatterns/tzclock"
)

// Fees is a job that takes the day's fee from the balance of each customer once, however
// often it is started.
type Fees struct {
	DB    *dynamodb.Client
	Table string // of balances and bookmarks; the partition key is pk, a string
	Runs  *ledger.Store
	Zone  tzclock.Zone
	// Next returns the customers that follow one in their order, 99 at most, and
	// none at the end.
	Next func(ctx context.Context, after string) ([]string, error)
}

// ErrUnfinished is returned when the time is up. The next run goes on from there.
var ErrUnfinished = errors.New("cookbook: the time is up, and customers are left")

// Run does the job of the day on which it was scheduled, whatever day it is now. It
// ends 10 s before the deadline of its context.
func (f Fees) Run(ctx context.Context, scheduled time.Time) error {
	day := f.Zone.Date(scheduled).String()
	key, err := ledger.Key("JOB", "fees", day)
	if err != nil {
		return err
	}
	claim, err := f.Runs.Claim(ctx, ledger.Request{Key: key})
	var done *ledger.DoneError
	if errors.As(err, &done) {
		return nil
	}
	if err != nil {
		return err // a *ledger.InProgressError: another run is at it, or has crashed
	}
	err = f.charge(ctx, claim, record.Item{"pk": record.Text("FEES#" + day)})
	end, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	switch {
	case err == nil:
		return claim.Complete(end, day)
	case errors.Is(err, ErrUnfinished):
		return errors.Join(err, claim.Release(end)) // the attempt does not count
	}
	return errors.Join(err, claim.Fail(end, err))
}

// charge puts the claim's fence into the bookmark, so that no earlier run can write a
// page from now on, and charges the customers who follow the bookmark.
func (f Fees) charge(ctx context.Context, claim *ledger.Claim, bookmark record.Item) error {
	out, err := f.DB.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName: &f.Table, Key: bookmark, ReturnValues: types.ReturnValueAllNew,
		UpdateExpression:          aws.String("SET fence = :fence"),
		ConditionExpression:       aws.String("attribute_not_exists(fence) OR fence <= :fence"),
		ExpressionAttributeValues: record.Item{":fence": record.Int(claim.Fence)},
	})
	if err != nil {
		return err
	}
	last := record.Read(out.Attributes).Text("lastCustomer")
	for {
		customers, err := f.Next(ctx, last)
		if err != nil || len(customers) == 0 {
			return err
		}
		if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) < 10*time.Second {
			return ErrUnfinished
		}
		last = customers[len(customers)-1]
		if err := f.page(ctx, claim, bookmark, customers, last); err != nil {
			return err
		}
		if err := claim.Renew(ctx); err != nil {
			return err
		}
	}
}

// page charges the customers and moves the bookmark: all of it, or nothing.
func (f Fees) page(ctx context.Context, claim *ledger.Claim, bookmark record.Item, customers []string, last string) error {
	items := []types.TransactWriteItem{{Update: &types.Update{
		TableName: &f.Table, Key: bookmark,
		UpdateExpression:          aws.String("SET lastCustomer = :last"),
		ConditionExpression:       aws.String("fence = :fence"),
		ExpressionAttributeValues: record.Item{":last": record.Text(last), ":fence": record.Int(claim.Fence)},
	}}}
	for _, customer := range customers {
		items = append(items, types.TransactWriteItem{Update: &types.Update{
			TableName: &f.Table, Key: record.Item{"pk": record.Text("BALANCE#" + customer)},
			UpdateExpression:          aws.String("ADD cents :fee"),
			ExpressionAttributeValues: record.Item{":fee": record.Int(-25)},
		}})
	}
	_, err := f.DB.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{TransactItems: items})
	return err
}
