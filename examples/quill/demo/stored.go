package demo

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/examples/quill/fact"
)

// Stored is what is stored in the end.
type Stored struct {
	Marks    int // rows of the ledger that are quill's
	Older    int // rows that the earlier pipeline wrote
	Facts    int
	Pending  int
	Known    int
	Refusals int

	Tables []Table // of Power BI

	facts  digest // of the outbox
	posted digest // of Power BI, each key once
}

// Table is the content of a table of Power BI.
type Table struct {
	Name  string
	Rows  int
	Keys  int // different ones
	Twice int // in a table of facts, rows whose key existed already
}

// isFacts reports whether a table holds facts, each of which should be there once.
func isFacts(table string) bool { return slices.Contains(fact.FactTables, table) }

// read reads all tables, page by page.
func (r *replay) read(ctx context.Context) error {
	s := &r.report.Stored
	err := r.scan(ctx, LedgerTable, "pk, claim, lease", func(row map[string]types.AttributeValue) {
		switch {
		case text(row, "claim") == "":
			s.Older++
		case row["lease"] == nil && !strings.HasPrefix(text(row, "pk"), "QUILL:"): // a lease does not mark a delivery
			s.Marks++
		}
	})
	if err != nil {
		return err
	}
	err = r.scan(ctx, FactsTable, "pk, #type, outbox", func(row map[string]types.AttributeValue) {
		switch text(row, "type") {
		case "FACT":
			s.Facts++
			s.facts.add(text(row, "pk"))
			if strings.HasPrefix(text(row, "outbox"), "PENDING#") {
				s.Pending++
			}
		case "KNOWN":
			s.Known++
		case "REFUSED":
			s.Refusals++
		}
	})
	if err != nil {
		return err
	}
	for _, table := range fact.Tables {
		t := Table{Name: table.Name}
		for key, rows := range r.powerBI.Keys(table.Name) {
			t.Keys++
			t.Rows += rows
			if isFacts(table.Name) {
				t.Twice += rows - 1
				s.posted.add(key)
			}
		}
		s.Tables = append(s.Tables, t)
	}
	return r.compare(ctx)
}

// compare notes the facts whose row differs from the outbox.
func (r *replay) compare(ctx context.Context) error {
	for _, table := range []string{fact.Communications, fact.Changes} {
		for _, row := range r.powerBI.Rows(table) {
			key, _ := row["key"].(string)
			stored, ok, err := r.service.Outbox.Get(ctx, key)
			if err != nil {
				return err
			}
			if ok { // otherwise the sums are wrong
				r.report.row(stored, row)
			}
		}
	}
	return nil
}

func (r *replay) scan(ctx context.Context, table, attributes string, see func(map[string]types.AttributeValue)) error {
	in := &dynamodb.ScanInput{TableName: aws.String(table), ProjectionExpression: aws.String(attributes), ConsistentRead: aws.Bool(true)}
	if strings.Contains(attributes, "#type") {
		in.ExpressionAttributeNames = map[string]string{"#type": "type"}
	}
	pages := dynamodb.NewScanPaginator(r.db.Client, in)
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return fmt.Errorf("reading table %s: %w", table, err)
		}
		for _, row := range page.Items {
			see(row)
		}
	}
	return nil
}

func text(row map[string]types.AttributeValue, name string) string {
	s, _ := row[name].(*types.AttributeValueMemberS)
	if s == nil {
		return ""
	}
	return s.Value
}
