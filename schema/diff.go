package schema

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/internal/check"
	"github.com/homeops/ddbpatterns/internal/ddb"
)

// Reader has the methods of *dynamodb.Client that [Diff] and [Verify] call. None of
// them writes.
type Reader interface {
	DescribeTable(context.Context, *dynamodb.DescribeTableInput, ...func(*dynamodb.Options)) (*dynamodb.DescribeTableOutput, error)
	DescribeTimeToLive(context.Context, *dynamodb.DescribeTimeToLiveInput, ...func(*dynamodb.Options)) (*dynamodb.DescribeTimeToLiveOutput, error)
	DescribeContinuousBackups(context.Context, *dynamodb.DescribeContinuousBackupsInput, ...func(*dynamodb.Options)) (*dynamodb.DescribeContinuousBackupsOutput, error)
}

// Difference is one way in which what is deployed differs from the definition
// of a table.
type Difference struct {
	Table string
	// What differs: "table", "status", "key", "index by-day" (its name),
	// "projection of index by-day", "status of index by-day", "local index by-day",
	// "billing mode", "deletion protection", "KMS key", "TTL" or "point-in-time
	// recovery".
	What string
	// Want is what the definition asks for, and Got is what the table has. Want is
	// "" if the definition asks for nothing, and Got is "" if the table has
	// nothing. A key is written as "(chatId S, messageId N)"; projections, statuses
	// and billing modes are in DynamoDB's words. A TTL is written as the name of
	// its attribute, and a KMS key as its ARN, id or alias. A setting that is on is
	// written as "on", and backups that an endpoint does not know as "not known to
	// this endpoint".
	Want, Got string
	// Tolerated reports whether [Verify] accepts the difference. Verify accepts
	// what the table has in addition to its definition, and another billing mode.
	// It also accepts a table or index that is being updated, because it can be
	// used meanwhile. [Create] waits for the update and accepts the rest.
	Tolerated bool
	// InPlace reports whether the difference can go away while the existing table
	// stays: by a request that changes the table, or by itself. How says which
	// request does that and under which limits, or what to do instead.
	InPlace bool
	How     string
}

// String writes the difference without Table and How, for instance as "its TTL is
// ttl, not expiresAt" or "it has no index by-day".
func (d Difference) String() string {
	switch {
	case d.What == whole:
		return "it does not exist"
	case d.Got == "":
		return "it has no " + d.What
	case d.Want == "":
		return strings.TrimSuffix("beyond its definition it has "+d.What+" "+d.Got, " "+on)
	}

	text := fmt.Sprintf("its %s is %s, not %s", d.What, d.Got, d.Want)
	if d.What == "key" {
		text += " (if only names differ, set Config.Names)"
	}

	return text
}

// MismatchError lists what the definitions ask for and the tables lack. That of
// [Create] lists only what Create met first.
type MismatchError struct {
	Differences []Difference // grouped by table; without the Tolerated differences
}

// Error lists the differences, table by table.
func (e *MismatchError) Error() string {
	var text strings.Builder
	text.WriteString("schema: ")
	for i, d := range e.Differences {
		switch {
		case i == 0:
			fmt.Fprintf(&text, "table %s differs: ", d.Table)
		case d.Table != e.Differences[i-1].Table:
			fmt.Fprintf(&text, "; table %s differs: ", d.Table)
		default:
			text.WriteString("; ")
		}
		text.WriteString(d.String())
	}

	return text.String()
}

// mismatch returns a *MismatchError of the differences that are not tolerated, and
// nil if all are tolerated.
func mismatch(differences []Difference) error {
	lacking := slices.DeleteFunc(slices.Clone(differences), func(d Difference) bool { return d.Tolerated })
	if len(lacking) == 0 {
		return nil
	}
	return &MismatchError{Differences: lacking}
}

// Diff compares the tables with what is deployed, and returns every difference,
// in the order of the tables. It returns nil if it finds no difference. It only
// reads. Definitions of one table are merged first ([Merge]).
//
// Diff does not compare what a definition cannot say, such as items, streams,
// tags, replicas, the table's class, limits of throughput, the number of days for
// which backups are kept, and resource policies. Retain is not compared either:
// only a stack has it. If the definition names a KMS key by an alias, Diff
// accepts any KMS key of the table, because DynamoDB describes a key by its id.
// Then only a table without a KMS key differs.
//
// On an endpoint that does not know backups, such as DynamoDB Local, the backups that a
// definition asks for are a difference.
//
// Price: 3 requests. This is for each table. A table that does not exist takes 1
// request. These requests do not cost capacity units.
func Diff(ctx context.Context, api Reader, tables ...Table) ([]Difference, error) {
	return diff(ctx, api, "Diff", tables, true)
}

// Verify returns a [*MismatchError] that names each [Difference] of the tables
// that is not Tolerated. Like [Create], Verify accepts what the tables have in
// addition. Verify only reads, so a service that may not create tables can call
// Verify at its start.
//
// Price: 1 request. This is for each table. TTL adds 1 request, and point-in-time
// recovery adds 1. These requests do not cost capacity units.
func Verify(ctx context.Context, api Reader, tables ...Table) error {
	differences, err := diff(ctx, api, "Verify", tables, false)
	if err != nil {
		return err
	}
	return mismatch(differences)
}

// diff compares the tables: all that is deployed, or only what the definitions ask for.
func diff(ctx context.Context, api Reader, op string, tables []Table, all bool) ([]Difference, error) {
	merged, err := Merge(tables...)
	if err != nil {
		return nil, err
	}
	if err := check.NotNil(pkg, "api", api); err != nil {
		return nil, err
	}

	var found []Difference
	for _, table := range merged {
		differences, err := table.diff(ctx, api, all)
		switch {
		case ddb.Missing(err):
			differences = []Difference{table.absent()}
		case err != nil:
			return nil, ddb.Wrap(pkg, op, table.Name, err)
		}
		found = append(found, differences...)
	}

	return found, nil
}

func (t Table) diff(ctx context.Context, api Reader, all bool) ([]Difference, error) {
	out, err := api.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: aws.String(t.Name)})
	if err != nil {
		return nil, err
	}

	differences := t.compare(out.Table)
	if all || t.TTL != "" {
		stands, err := api.DescribeTimeToLive(ctx, &dynamodb.DescribeTimeToLiveInput{TableName: aws.String(t.Name)})
		if err != nil {
			return nil, err
		}
		differences = append(differences, t.compareTTL(stands.TimeToLiveDescription)...)
	}

	if all || t.PointInTimeRecovery {
		recovery, err := recoveryOf(ctx, api, t.Name)
		if err != nil {
			return nil, err
		}
		differences = append(differences, t.compareRecovery(recovery)...)
	}
	return differences, nil
}

// recoveryOf returns "on" or "" for the table's point-in-time recovery, and
// unanswered from an endpoint that has no such thing.
func recoveryOf(ctx context.Context, api Reader, table string) (string, error) {
	out, err := api.DescribeContinuousBackups(ctx, &dynamodb.DescribeContinuousBackupsInput{TableName: aws.String(table)})
	if ddb.Unknown(err) {
		return unanswered, nil
	}
	if err != nil {
		return "", err
	}

	backups := out.ContinuousBackupsDescription
	if backups == nil || backups.PointInTimeRecoveryDescription == nil ||
		backups.PointInTimeRecoveryDescription.PointInTimeRecoveryStatus != types.PointInTimeRecoveryStatusEnabled {
		return "", nil
	}

	return on, nil
}
