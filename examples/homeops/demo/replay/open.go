package replay

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/examples/homeops/config"
	"github.com/homeops/ddbpatterns/examples/internal/database"
	"github.com/homeops/ddbpatterns/schema"
)

// open returns the database: that of DYNAMO_ENDPOINT, or an embedded one. It
// ignores AWS credentials in the environment: a demonstration does not write to
// somebody's account.
func open(cfg config.Config, now func() time.Time) database.DB {
	if cfg.Endpoint != "" {
		return database.Endpoint(cfg.Settings, dynamotest.NewTap().Attach)
	}
	return database.Embedded(now)
}

// ExpiringError names tables on which a replay would lose rows: DynamoDB
// deletes what its own clock, not the updates', finds expired.
type ExpiringError struct{ Tables []string }

// Error says what to do.
func (e *ExpiringError) Error() string {
	return fmt.Sprintf("DynamoDB would delete rows of a replay, because their times are those of the updates: TTL is on for %s; "+
		"switch it off, or set other table names, which are then created without TTL", strings.Join(e.Tables, ", "))
}

// refuseTTL returns an *ExpiringError if TTL is on for any existing table.
func refuseTTL(ctx context.Context, db *dynamodb.Client, tables []schema.Table) error {
	merged, err := schema.Merge(tables...)
	if err != nil {
		return err
	}
	var expiring []string
	for _, table := range merged {
		out, err := db.DescribeTimeToLive(ctx, &dynamodb.DescribeTimeToLiveInput{TableName: aws.String(table.Name)})
		if _, absent := errors.AsType[*types.ResourceNotFoundException](err); absent {
			continue
		}
		if err != nil {
			return fmt.Errorf("asking for the TTL of table %s: %w", table.Name, err)
		}
		switch ttl := out.TimeToLiveDescription; {
		case ttl == nil:
		case ttl.TimeToLiveStatus == types.TimeToLiveStatusEnabled, ttl.TimeToLiveStatus == types.TimeToLiveStatusEnabling:
			expiring = append(expiring, table.Name)
		}
	}
	if len(expiring) > 0 {
		return &ExpiringError{Tables: expiring}
	}
	return nil
}
