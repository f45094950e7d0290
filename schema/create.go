package schema

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/internal/check"
	"github.com/homeops/ddbpatterns/internal/ddb"
)

// API has the methods of *dynamodb.Client that [Create] calls.
type API interface {
	Reader
	CreateTable(context.Context, *dynamodb.CreateTableInput, ...func(*dynamodb.Options)) (*dynamodb.CreateTableOutput, error)
	UpdateTimeToLive(context.Context, *dynamodb.UpdateTimeToLiveInput, ...func(*dynamodb.Options)) (*dynamodb.UpdateTimeToLiveOutput, error)
	UpdateContinuousBackups(context.Context, *dynamodb.UpdateContinuousBackupsInput, ...func(*dynamodb.Options)) (*dynamodb.UpdateContinuousBackupsOutput, error)
}

var _ API = (*dynamodb.Client)(nil)

// Create creates the tables that do not exist. It waits until each table is
// active, and switches on the TTL and the backups that its definition asks for.
// Create waits as long as the context allows. But if a table has a status that
// waiting does not mend, such as ARCHIVED, Create returns a [*MismatchError] at once.
//
// Price: 2 requests. This is for each table. TTL adds 2 requests, or 1 if it is
// on already. Point-in-time recovery adds as many. Each look or attempt while
// Create waits adds 1. These requests do not cost capacity units.
func Create(ctx context.Context, api API, tables ...Table) error {
	merged, err := Merge(tables...)
	if err != nil {
		return err
	}
	if err := check.NotNil(pkg, "api", api); err != nil {
		return err
	}

	for _, table := range merged {
		if err := create(ctx, api, table); err != nil {
			return err
		}
	}
	return nil
}

func create(ctx context.Context, api API, table Table) error {
	stands, err := stand(ctx, api, table)
	if err != nil {
		return err
	}
	if err := mismatch(table.compare(stands)); err != nil {
		return err
	}
	if err := switchOnTTL(ctx, api, table); err != nil {
		return err
	}
	return switchOnBackups(ctx, api, table)
}

func failed(table Table, err error) error { return ddb.Wrap(pkg, "Create", table.Name, err) }

// stand creates the table unless it exists, and waits until it and all its
// indexes are active. A table that is being deleted is created anew afterwards.
func stand(ctx context.Context, api API, table Table) (*types.TableDescription, error) {
	_, err := api.CreateTable(ctx, table.Input())
	if err != nil && !ddb.InUse(err) {
		return nil, failed(table, err)
	}

	for try := 0; ; try++ {
		out, err := api.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: aws.String(table.Name)})
		switch {
		case ddb.Missing(err):
			// DescribeTable is eventually consistent and may not see it yet, or
			// it was deleted: creating it again shows which.
			if _, err := api.CreateTable(ctx, table.Input()); err != nil && !ddb.InUse(err) {
				return nil, failed(table, err)
			}
		case err != nil:
			return nil, failed(table, err)
		case active(out.Table):
			return out.Table, nil
		case !passing(out.Table.TableStatus):
			return nil, mismatch(table.compare(out.Table)[:1]) // its status comes first
		}

		if err := pause(ctx, try); err != nil {
			return nil, failed(table, fmt.Errorf("it is not active yet: %w", err))
		}
	}
}

// pause waits before the next look at a table that is not active yet: up to 50
// milliseconds, and up to 1.6 seconds from the sixth look on.
func pause(ctx context.Context, try int) error {
	return ddb.Pause(ctx, 50*time.Millisecond, min(try, 5))
}

// passing reports whether the status will change by itself.
func passing(status types.TableStatus) bool {
	switch status {
	case types.TableStatusActive, types.TableStatusCreating, types.TableStatusUpdating, types.TableStatusDeleting:
		return true
	}
	return false
}

func active(table *types.TableDescription) bool {
	if table.TableStatus != types.TableStatusActive {
		return false
	}
	return !slices.ContainsFunc(table.GlobalSecondaryIndexes, func(i types.GlobalSecondaryIndexDescription) bool {
		return i.IndexStatus != "" && i.IndexStatus != types.IndexStatusActive
	})
}

// switchOnTTL switches on the table's TTL, if it has one. It looks first: DynamoDB
// refuses to switch on a TTL that is on, and takes one change an hour. A TTL that is
// on with another attribute is left alone, and is a mismatch.
func switchOnTTL(ctx context.Context, api API, table Table) error {
	if table.TTL == "" {
		return nil
	}

	out, err := api.DescribeTimeToLive(ctx, &dynamodb.DescribeTimeToLiveInput{TableName: aws.String(table.Name)})
	if err != nil {
		return failed(table, err)
	}
	if lacks := table.compareTTL(out.TimeToLiveDescription); len(lacks) == 0 || lacks[0].Got != "" {
		return mismatch(lacks)
	}

	_, err = api.UpdateTimeToLive(ctx, table.TTLInput())
	if err == nil {
		return nil
	}

	// Another process may have switched it on between the two requests.
	again, lookErr := api.DescribeTimeToLive(ctx, &dynamodb.DescribeTimeToLiveInput{TableName: aws.String(table.Name)})
	if lookErr == nil {
		if lacks := table.compareTTL(again.TimeToLiveDescription); len(lacks) == 0 || lacks[0].Got != "" {
			return mismatch(lacks)
		}
	}

	return failed(table, errors.Join(err, lookErr))
}

func switchOnBackups(ctx context.Context, api API, table Table) error {
	if !table.PointInTimeRecovery {
		return nil
	}
	// An endpoint that knows no backups is left as it is: it stands in for DynamoDB
	// where nothing will be restored.
	if recovery, err := recoveryOf(ctx, api, table.Name); err != nil || recovery == on || recovery == unanswered {
		return failed(table, err)
	}

	for try := 0; ; try++ {
		_, err := api.UpdateContinuousBackups(ctx, &dynamodb.UpdateContinuousBackupsInput{
			TableName:                        aws.String(table.Name),
			PointInTimeRecoverySpecification: &types.PointInTimeRecoverySpecification{PointInTimeRecoveryEnabled: aws.Bool(true)},
		})
		// A new table's backups are being enabled for some seconds, and until
		// then cannot be changed.
		if err == nil || !ddb.BackupsUnavailable(err) {
			return failed(table, err)
		}
		if stopped := pause(ctx, try); stopped != nil {
			return failed(table, errors.Join(stopped, err))
		}
	}
}
