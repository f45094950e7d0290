package schema

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/internal/ddb"
)

// Reader is what [Diff] and [Verify] call of *dynamodb.Client: nothing that writes.
type Reader interface {
	DescribeTable(context.Context, *dynamodb.DescribeTableInput, ...func(*dynamodb.Options)) (*dynamodb.DescribeTableOutput, error)
	DescribeTimeToLive(context.Context, *dynamodb.DescribeTimeToLiveInput, ...func(*dynamodb.Options)) (*dynamodb.DescribeTimeToLiveOutput, error)
	DescribeContinuousBackups(context.Context, *dynamodb.DescribeContinuousBackupsInput, ...func(*dynamodb.Options)) (*dynamodb.DescribeContinuousBackupsOutput, error)
}

// Difference is one thing in which an existing table is not as it is defined.
type Difference struct {
	Table string
	// What differs: "table", "status", "key", "index by-day", "projection of index
	// by-day", "status of index by-day", "local index by-day", "billing mode",
	// "deletion protection", "KMS key", "TTL" or "point-in-time recovery".
	What string
	// Want is what the definition asks for, "" if nothing, and Got what the table has,
	// "" if nothing: keys as "(chatId S, messageId N)", projections, statuses and
	// billing modes in DynamoDB's words, the attribute of TTL, the key's ARN or name,
	// and "on".
	Want, Got string
	// Tolerated is what [Create] and [Verify] let pass: what the table has beyond its
	// definition, another billing mode, and a table or an index that is being updated,
	// which serves meanwhile.
	Tolerated bool
	// InPlace reports whether this can be changed in the existing table, and How says
	// by which request and under which limits, or what to do instead.
	InPlace bool
	How     string
}

// String writes the difference without its table and without how to change it: "its
// key is (id S), not (id N)", "it has no index by-day".
func (d Difference) String() string {
	switch {
	case d.What == whole:
		return "it does not exist"
	case d.Got == "":
		return "it has no " + d.What
	case d.Want == "":
		return strings.TrimSuffix("beyond its definition it has "+d.What+" "+d.Got, " "+on)
	}
	return fmt.Sprintf("its %s is %s, not %s", d.What, d.Got, d.Want)
}

// MismatchError says how existing tables lack what their definitions ask for.
type MismatchError struct {
	Differences []Difference // those of a table follow one another; none is Tolerated
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

// mismatch returns a *MismatchError if the table lacks anything.
func mismatch(differences []Difference) error {
	lacking := slices.DeleteFunc(slices.Clone(differences), func(d Difference) bool { return d.Tolerated })
	if len(lacking) == 0 {
		return nil
	}
	return &MismatchError{Differences: lacking}
}

// Diff compares the tables with what stands, and returns every difference in order
// of the tables: nil if there is none. It only reads. Definitions of one table are
// merged first ([Merge]).
//
// Not compared is what a definition does not speak of: items, streams, tags, replicas,
// the table's class, limits of throughput, for how many days backups reach back,
// resource policies and Retain, which is the stack's alone. Of a KMS key named by an
// alias only its absence is seen, for DynamoDB tells a key's id.
//
// What an endpoint cannot answer, as DynamoDB Local knows no backups, is a difference
// where the definition asks for it.
//
// Price: 3 requests. That is for each table; one that does not exist takes 1. None
// costs capacity units.
func Diff(ctx context.Context, api Reader, tables ...Table) ([]Difference, error) {
	return diff(ctx, api, "Diff", tables, func(Table) (ttl, backups bool) { return true, true })
}

// Verify returns a [*MismatchError] that names all that the tables lack of what their
// definitions ask for. What they have beyond that is not an error, as for [Create]. It only
// reads: a service that may not create tables calls it at its start.
//
// Price: 1 request. That is for each table; TTL adds 1, point-in-time recovery 1. None
// costs capacity units.
func Verify(ctx context.Context, api Reader, tables ...Table) error {
	differences, err := diff(ctx, api, "Verify", tables, func(t Table) (ttl, backups bool) { return t.TTL != "", t.PointInTimeRecovery })
	if err != nil {
		return err
	}
	return mismatch(differences)
}

// diff compares, with TTL and backups of those tables of which ask says so.
func diff(ctx context.Context, api Reader, op string, tables []Table, ask func(Table) (ttl, backups bool)) ([]Difference, error) {
	merged, err := Merge(tables...)
	if err != nil {
		return nil, err
	}
	var all []Difference
	for _, table := range merged {
		ttl, backups := ask(table)
		differences, err := table.diff(ctx, api, ttl, backups)
		switch {
		case ddb.Missing(err):
			differences = []Difference{table.absent()}
		case err != nil:
			return nil, ddb.Wrap(pkg, op, table.Name, err)
		}
		all = append(all, differences...)
	}
	return all, nil
}

func (t Table) diff(ctx context.Context, api Reader, ttl, backups bool) ([]Difference, error) {
	out, err := api.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: aws.String(t.Name)})
	if err != nil {
		return nil, err
	}
	differences := t.compare(out.Table)
	if ttl {
		stands, err := api.DescribeTimeToLive(ctx, &dynamodb.DescribeTimeToLiveInput{TableName: aws.String(t.Name)})
		if err != nil {
			return nil, err
		}
		differences = append(differences, t.compareTTL(stands.TimeToLiveDescription)...)
	}
	if backups {
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
