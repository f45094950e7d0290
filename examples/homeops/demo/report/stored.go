package report

import (
	"cmp"
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
	"github.com/homeops/ddbpatterns/examples/homeops/promise"
	"github.com/homeops/ddbpatterns/examples/homeops/week"
	"github.com/homeops/ddbpatterns/schema"
)

// Stored is what the tables hold.
type Stored struct {
	Tables     []Table
	Activities map[string]map[Done]int // by the scope of their chat
	People     map[string]string       // actor → what they are called, as of their latest activity
	Summaries  []week.Summary          // by week
	Balances   []week.Balance          // by week
	Promises   []promise.Promise       // by deadline
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
	return s, s.readHouseholds(ctx, a)
}

// readHouseholds reads what is known of the members of each household.
func (s *Stored) readHouseholds(ctx context.Context, a *app.App) error {
	households, err := a.Profiles.Households(ctx)
	if err != nil {
		return err
	}
	for _, h := range households {
		members, err := a.Profiles.Members(ctx, h.Scope)
		if err != nil {
			return err
		}
		var balances []week.Balance // each member's view has all
		for _, p := range members {
			view, err := a.Planner.Read(ctx, h.Scope, p.User)
			if err != nil {
				return err
			}
			s.People[p.User] = cmp.Or(s.People[p.User], p.Name)
			s.Summaries, s.Promises, balances = append(s.Summaries, view.Summaries...), append(s.Promises, view.Promises...), view.Balances
		}
		s.Balances = append(s.Balances, balances...)
	}
	slices.SortStableFunc(s.Summaries, func(x, y week.Summary) int { return cmp.Compare(x.Period, y.Period) })
	slices.SortStableFunc(s.Balances, func(x, y week.Balance) int { return cmp.Compare(x.Period, y.Period) })
	slices.SortStableFunc(s.Promises, func(x, y promise.Promise) int { return x.Deadline.Compare(y.Deadline) })
	return nil
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
