package api

import (
	"slices"

	"github.com/homeops/ddbpatterns/dynamotest/internal/jsonx"
)

// A Page is the common part of Query and Scan.
type Page struct {
	TableName      Opt[string]
	IndexName      Opt[string]
	Filter         Opt[string]
	Projection     Opt[string]
	Select         Opt[string]
	Limit          Opt[int64]
	StartKey       Item
	ConsistentRead bool
	ReturnCapacity Opt[string]
	Expressions
}

func (p *Page) field(r *jsonx.Reader, member string) {
	switch member {
	case "TableName":
		p.TableName = name(r)
	case "IndexName":
		p.IndexName = name(r)
	case "FilterExpression":
		p.Filter = text(r)
	case "ProjectionExpression":
		p.Projection = text(r)
	case "Select":
		p.Select = name(r)
	case "Limit":
		p.Limit = integer(r)
	case "ExclusiveStartKey":
		p.StartKey = item(r)
	case "ConsistentRead":
		p.ConsistentRead = r.Bool()
	case "ReturnConsumedCapacity":
		p.ReturnCapacity = name(r)
	case "AttributesToGet", "ConditionalOperator":
		p.legacy(r, member)
	default:
		p.Expressions.field(r, member)
	}
}

// checkCommon checks the common members of Query and Scan.
func (p *Page) checkCommon(c *checker) {
	if o := p.Older; o != nil && o.operator.Set && !slices.Contains(conditionalOperators, o.operator.Value) {
		c.fail(Invalid(textOperators))
	}
	c.enum("select", p.Select, "SPECIFIC_ATTRIBUTES", "COUNT", "ALL_ATTRIBUTES", "ALL_PROJECTED_ATTRIBUTES")
	c.indexName(p.IndexName)
	c.returnConsumedCapacity(p.ReturnCapacity)
	c.tableName("tableName", p.TableName)
	c.older(p.Older)
}

// Query reads the items of one partition key.
type Query struct {
	Page
	KeyCondition Opt[string]
	Forward      Opt[bool]
}

func (q *Query) field(r *jsonx.Reader, member string) {
	switch member {
	case "KeyConditionExpression":
		q.KeyCondition = text(r)
	case "ScanIndexForward":
		q.Forward = boolean(r)
	case "KeyConditions", "QueryFilter":
		q.legacy(r, member)
	default:
		q.Page.field(r, member)
	}
}

func (q *Query) check(c *checker) {
	q.checkCommon(c)
	// Only for this member does Query write the name with a capital, and omit the
	// value.
	if q.Limit.Set && q.Limit.Value < 1 {
		c.list("Value at 'Limit' failed to satisfy constraint: Member must have value greater than or equal to 1")
	}
}

// maxSegments is the most segments of a parallel scan.
const maxSegments = 1_000_000

// Scan reads a table or an index from its beginning.
type Scan struct {
	Page
	Segment, TotalSegments Opt[int64]
}

func (s *Scan) field(r *jsonx.Reader, member string) {
	switch member {
	case "Segment":
		s.Segment = integer(r)
	case "TotalSegments":
		s.TotalSegments = integer(r)
	case "ScanFilter":
		s.legacy(r, member)
	default:
		s.Page.field(r, member)
	}
}

func (s *Scan) check(c *checker) {
	s.checkCommon(c)
	c.atLeast("limit", s.Limit, 1)
	c.atLeast("segment", s.Segment, 0)
	c.atMost("segment", s.Segment, maxSegments-1)
	c.atLeast("totalSegments", s.TotalSegments, 1)
	c.atMost("totalSegments", s.TotalSegments, maxSegments)
	if c.ok() {
		s.checkSegments(c)
	}
}

func (s *Scan) checkSegments(c *checker) {
	switch {
	case s.Segment.Set && !s.TotalSegments.Set:
		c.fail(Invalid("The TotalSegments parameter is required but was not present in the request when Segment parameter is present"))
	case s.TotalSegments.Set && !s.Segment.Set:
		c.fail(Invalid("The Segment parameter is required but was not present in the request when parameter TotalSegments is present"))
	case s.Segment.Value >= s.TotalSegments.Value && s.Segment.Set:
		c.fail(Invalid("The Segment parameter is zero-based and must be less than parameter TotalSegments: Segment: %d is not less than TotalSegments: %d",
			s.Segment.Value, s.TotalSegments.Value))
	}
}
