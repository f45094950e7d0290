package report

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/activity"
	"github.com/homeops/ddbpatterns/examples/homeops/app"
	"github.com/homeops/ddbpatterns/schema"
)

// Stored is what the tables hold.
type Stored struct {
	Tables     []Table
	Activities map[string]map[Done]int // by the scope of their chat
	People     map[string]string       // actor → what they are called, as of their latest activity
}

// Table is what one table holds.
type Table struct {
	Name    string
	Rows    int
	Types   map[string]int // by the attribute "type", in a table shared by several
	Expired int            // past their time to live, on the updates' clock
}

// Done is who did what.
type Done struct{ Actor, Name string }

// Read reads the tables. The activities are those of the chats in the tally.
func Read(ctx context.Context, a *app.App, db *dynamodb.Client, t *Tally, now time.Time) (Stored, error) {
	definitions, err := schema.Merge(a.Tables(true)...)
	if err != nil {
		return Stored{}, err
	}
	s := Stored{Activities: map[string]map[Done]int{}, People: map[string]string{}}
	for _, definition := range definitions {
		table, err := readTable(ctx, db, definition, now)
		if err != nil {
			return Stored{}, fmt.Errorf("reading table %s: %w", definition.Name, err)
		}
		s.Tables = append(s.Tables, table)
	}
	for _, chat := range slices.Sorted(maps.Keys(t.chats)) {
		for done, err := range a.Activities.InScope(ctx, chat, activity.Range{}) {
			if err != nil {
				return Stored{}, err
			}
			if s.Activities[chat] == nil {
				s.Activities[chat] = map[Done]int{}
			}
			s.Activities[chat][Done{done.Actor, done.Name}]++
			s.People[done.Actor] = done.ActorName
		}
	}
	return s, nil
}

func readTable(ctx context.Context, db *dynamodb.Client, definition schema.Table, now time.Time) (Table, error) {
	table := Table{Name: definition.Name, Types: map[string]int{}}
	pages := dynamodb.NewScanPaginator(db, &dynamodb.ScanInput{TableName: aws.String(definition.Name)})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return Table{}, err
		}
		for _, item := range page.Items {
			table.Rows++
			if kind, ok := item["type"].(*types.AttributeValueMemberS); ok && definition.Key.Partition.Name == "pk" {
				table.Types[kind.Value]++
			}
			if ttl, ok := item[definition.TTL].(*types.AttributeValueMemberN); ok {
				if at, err := strconv.ParseInt(ttl.Value, 10, 64); err == nil && at <= now.Unix() {
					table.Expired++
				}
			}
		}
	}
	return table, nil
}
