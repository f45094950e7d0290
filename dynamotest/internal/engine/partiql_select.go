package engine

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"slices"
	"strings"

	"github.com/homeops/ddbpatterns/dynamotest/internal/api"
	"github.com/homeops/ddbpatterns/dynamotest/internal/attr"
	"github.com/homeops/ddbpatterns/dynamotest/internal/capacity"
	"github.com/homeops/ddbpatterns/dynamotest/internal/expr"
	"github.com/homeops/ddbpatterns/dynamotest/internal/jsonx"
	"github.com/homeops/ddbpatterns/dynamotest/internal/keys"
	"github.com/homeops/ddbpatterns/dynamotest/internal/partiql"
)

// A span is a range of keys that a SELECT reads: from ≤ key < to. An empty to is
// the end.
type span struct {
	from, to string
	hash     []attr.Value // of its partition; nil for the whole table or index
}

// The most values of an IN for a partition key, and the most items of a page of
// it (developer guide, "PartiQL operators"). DynamoDB Local has neither limit.
const (
	maxListed = 50
	listPage  = 10
)

// A selector reads a page of a SELECT: the partitions that WHERE pins, one
// after the other, or the whole table or index.
type selector struct {
	pager
	stmt    *partiql.Bound
	spans   []span
	forward bool
	limit   api.Opt[int64] // of the whole page; the pager's limit is that of one span
	listed  bool           // the partitions are those of an IN
}

// A position is where a page ended: in a span, after a key, or at the beginning
// of a span.
type position struct {
	span int
	key  attr.Map
}

func (e *Engine) selectPage(call *Call, req *api.ExecuteStatement, b *partiql.Bound) (reply, *api.Error) {
	s := &selector{stmt: b, limit: req.Limit}
	s.req = &api.Page{TableName: api.Some(b.Table), ConsistentRead: req.ConsistentRead}
	if b.Index != "" {
		s.req.IndexName = api.Some(b.Index)
	}

	var err error
	if s.Selection, err = b.Selection(); err != nil {
		return nil, api.Wrong(err)
	}

	if b.Where != nil {
		if s.Filter, err = b.Where.Predicate(); err != nil {
			return nil, api.Wrong(err)
		}
	}

	start, refused := readToken(req)
	if refused != nil {
		return nil, refused
	}

	pg, next, refused := s.run(e, start)
	if refused != nil {
		return nil, refused
	}

	call.Cost = capacity.Cost{pg.cost}
	report := capacity.ReportOf(req.ReturnCapacity, call.Cost)
	s.judge()

	return func(w *api.Writer) {
		s.writeItems(w)
		if next != nil {
			w.Text("NextToken", writeToken(req, *next))
		}
		if pg.last != nil {
			w.Item("LastEvaluatedKey", pg.last)
		}
		report.WriteOne(w)
	}, nil
}

// run reads one page.
func (s *selector) run(e *Engine, start position) (page, *position, *api.Error) {
	e.mu.RLock()
	defer e.mu.RUnlock()
	if err := s.openIndex(e); err != nil {
		return page{}, nil, err
	}
	if err := s.arrange(); err != nil {
		return page{}, nil, err
	}
	if start.span >= len(s.spans) {
		return page{}, nil, errToken
	}

	s.req.StartKey = api.Item{Map: start.key, Set: start.key != nil}
	after, err := s.start()
	first := s.spans[start.span]
	if err != nil || after != "" && (after < first.from || first.to != "" && after >= first.to) {
		return page{}, nil, errToken
	}

	pg, next := s.readSpans(start.span, after)
	return pg, next, e.admitPage(&s.pager)
}

// openIndex is open, with PartiQL's texts for errors of an index.
func (s *selector) openIndex(e *Engine) *api.Error {
	if t, err := e.tableNamed(s.stmt.Table); err == nil && s.stmt.Index != "" {
		switch x := t.index(s.stmt.Index); {
		case x == nil:
			return api.Invalid("The table does not have the specified index")
		case !x.Local && s.req.ConsistentRead:
			return api.Invalid("Strongly consistent read is not supported on Global Secondary Indexes")
		}
	}
	return s.open(e)
}

// arrange finds the spans to read, in the order in which to read them.
func (s *selector) arrange() *api.Error {
	schema := s.schema()
	// Statements cannot read an index with several attributes in either part.
	hash, sort := schema.Hash[0].Name, ""
	if len(schema.Range) > 0 {
		sort = schema.Range[0].Name
	}

	listed := s.stmt.Where.Listed(hash)
	if listed > maxListed {
		return api.Invalid("The IN operator is provided with too many operands; number of operands: %d", listed)
	}

	found, err := s.stmt.Where.Partitions(hash, sort)
	if err != nil {
		return api.Wrong(err)
	}

	parts := found.List
	s.listed = listed > 1 && parts != nil
	order, err := s.stmt.Order(hash, sort, len(parts))
	if err != nil {
		return api.Wrong(err)
	}

	s.forward = !order.SortDescending
	if parts == nil {
		s.spans = []span{{}}
		return nil
	}

	if found.Exact {
		s.Filter = nil
	}

	// An OR is not checked: it finds nothing by an attribute that the index
	// lacks.
	if err := s.checkProjects(); err != nil && !found.ByOr {
		return err
	}

	if order.ByHash {
		slices.SortStableFunc(parts, func(a, b expr.KeyTerms) int {
			if order.HashDescending {
				a, b = b, a
			}
			c, _ := attr.Compare(a[0].Value, b[0].Value)
			return c
		})
	}

	for _, terms := range parts {
		query, err := terms.Resolve(keys.Names(schema.Hash), keys.Names(schema.Range))
		if err != nil {
			return api.Wrong(err)
		}
		if err := checkOperands(schema, query); err != nil {
			return err
		}
		from, to := bounds(query)
		s.spans = append(s.spans, span{from, to, query.Hash})
	}
	return nil
}

// checkProjects refuses a filter on attributes that the queried index lacks.
// Unlike a Query, a SELECT may filter by the key.
func (s *selector) checkProjects() *api.Error {
	if s.Filter == nil || s.index == nil {
		return nil
	}
	lacks := slices.DeleteFunc(s.Filter.Heads(), s.index.Holds)
	if len(lacks) == 0 {
		return nil
	}
	return api.InvalidParameter("Secondary index %s does not project one or more filter attributes: [%s]", s.index.Name, strings.Join(lacks, ", "))
}

// readSpans reads until the page is full. It begins in the i-th span, after a
// key. Each span costs the same as a separate query.
func (s *selector) readSpans(i int, after string) (page, *position) {
	var out page
	var cost capacity.Cost
	full := float64(capacity.RateOf(s.req.ConsistentRead)) * pageBytes / capacity.ReadUnit
	limit := s.limit
	short := s.listed && limit.Or(listPage+1) > listPage // the page ends before its Limit
	if short {
		limit = api.Some[int64](listPage)
	}

	for ; ; i++ {
		if limit.Set {
			s.req.Limit = api.Some(limit.Value - int64(out.scanned))
		}

		if s.tally != nil {
			s.tally.hash = s.spans[i].hash
		}

		pg := s.read(s.within(s.spans[i].from, s.spans[i].to, after, s.forward))
		out.scanned += pg.scanned
		cost.Add(pg.cost)
		out.cost, out.last, after = cost[0], pg.last, ""
		switch {
		case pg.last != nil && short && out.scanned == listPage && !s.more(i, pg.last):
			out.last = nil
			if i+1 < len(s.spans) {
				return out, &position{span: i + 1}
			}
			return out, nil
		case pg.last != nil:
			return out, &position{i, pg.last}
		case i+1 == len(s.spans):
			return out, nil
		case cost[0].Sum().Read >= full:
			return out, &position{span: i + 1}
		}
	}
}

// more reports whether a span has anything after an item.
func (s *selector) more(i int, last attr.Map) bool {
	s.req.StartKey = api.Item{Map: last, Set: true}
	after, _ := s.start()
	for range s.within(s.spans[i].from, s.spans[i].to, after, s.forward) {
		return true
	}
	return false
}

// A NextToken has a fingerprint of its statement, the span, and the key in
// DynamoDB's JSON.
const (
	tokenStatement = 8
	tokenSpan      = 4
)

var errToken = api.Invalid("NextToken does not match request")

func writeToken(req *api.ExecuteStatement, at position) string {
	fingerprint := req.Fingerprint()
	b := binary.BigEndian.AppendUint32(slices.Clone(fingerprint[:tokenStatement]), uint32(at.span))
	if at.key != nil {
		b = at.key.AppendJSON(b)
	}
	return base64.StdEncoding.EncodeToString(b)
}

// readToken returns where a page begins.
func readToken(req *api.ExecuteStatement) (position, *api.Error) {
	if !req.NextToken.Set {
		return position{}, nil
	}

	b, err := base64.StdEncoding.DecodeString(req.NextToken.Value)
	if err != nil || len(b) < tokenStatement+tokenSpan {
		return position{}, api.Invalid("Given NextToken is invalid")
	}

	fingerprint := req.Fingerprint()
	if !bytes.Equal(b[:tokenStatement], fingerprint[:tokenStatement]) {
		return position{}, errToken
	}

	at := position{span: int(binary.BigEndian.Uint32(b[tokenStatement:]))}
	if b = b[tokenStatement+tokenSpan:]; len(b) == 0 {
		return at, nil
	}

	r := jsonx.NewReader(b)
	at.key, err = attr.DecodeMap(r)
	if r.End(); r.Err() != nil || err != nil {
		return position{}, errToken
	}

	return at, nil
}
