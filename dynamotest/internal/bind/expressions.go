// Package bind converts the expressions of a request to a form that can be
// evaluated. It does the same for legacy parameters and PartiQL statements.
package bind

import (
	"errors"
	"slices"
	"strings"
	"sync"

	"github.com/homeops/ddbpatterns/dynamotest/internal/api"
	"github.com/homeops/ddbpatterns/dynamotest/internal/attr"
	"github.com/homeops/ddbpatterns/dynamotest/internal/expr"
)

// A cache keeps the results of parsing, including errors, because programs send
// the same expressions again and again.
type cache[T any] struct {
	mu      sync.RWMutex // guards entries
	entries map[string]parsed[T]
}

type parsed[T any] struct {
	value T
	err   error
}

// maxCached is the limit of each cache. A full cache is emptied: a program that
// writes values into its expressions gains nothing from a cache anyway.
const maxCached = 1024

func (c *cache[T]) get(src string, parse func(string) (T, error)) (T, error) {
	c.mu.RLock()
	p, ok := c.entries[src]
	c.mu.RUnlock()
	if ok {
		return p.value, p.err
	}

	p.value, p.err = parse(src)
	c.mu.Lock()
	defer c.mu.Unlock()

	if c.entries == nil || len(c.entries) >= maxCached {
		c.entries = make(map[string]parsed[T])
	}

	c.entries[strings.Clone(src)] = p
	return p.value, p.err
}

// A parsed expression depends on its source only, so engines share the caches.
var (
	conditions    cache[*expr.Condition]
	filters       cache[*expr.Condition]
	updates       cache[*expr.Update]
	projections   cache[*expr.Projection]
	keyConditions cache[*expr.KeyCondition]
)

// Sources are the expressions of one request before parsing.
type Sources struct {
	Condition, Filter, Update, Projection, Keys api.Opt[string]
	// Valued is the end of an error text that names the expressions of the
	// operation that may have values, and says that they are null. Writes of one
	// item leave it out.
	Valued string
}

func (s *Sources) any() bool { return s.valued() || s.Projection.Set }

// valued reports whether the request has an expression that may have values.
func (s *Sources) valued() bool {
	return s.Condition.Set || s.Filter.Set || s.Update.Set || s.Keys.Set
}

// Check refuses what DynamoDB refuses before it checks any value: members that
// exclude each other, placeholders without an expression, and expressions that
// are too long.
func (s *Sources) Check(e *api.Expressions) *api.Error {
	if e.Older != nil {
		if err := s.refuseMixed(e.Older.Given); err != nil {
			return err
		}
	}
	switch {
	case e.Names.Set && !s.any():
		return api.Invalid("ExpressionAttributeNames can only be specified when using expressions")
	case e.Values.Set && !s.valued():
		return api.Invalid("ExpressionAttributeValues can only be specified when using expressions%s", s.Valued)
	}
	return s.checkSizes()
}

// Bind parses the expressions and resolves their placeholders. It is called
// after Check found no error.
func (s *Sources) Bind(e *api.Expressions) (expr.Bound, *api.Error) {
	var b expr.Bound
	if o := e.Older; o != nil {
		if b = o.Bound; o.Err != nil {
			return b, o.Err
		}
	}

	if err := checkPlaceholders(e); err != nil {
		return b, err
	}
	if !s.any() {
		return b, nil
	}

	params, err := expr.NewParams(e.Names.Value, e.Values.Map)
	if err != nil {
		return b, api.Wrong(err)
	}

	last, err := s.bind(params, &b)
	if err != nil {
		return b, api.Wrong(err)
	}
	if err := params.Unused(); err != nil {
		return b, api.Wrong(err)
	}
	if last != nil {
		return b, api.Wrong(last)
	}

	return b, nil
}

func checkPlaceholders(e *api.Expressions) *api.Error {
	switch {
	case e.Names.Set && len(e.Names.Value) == 0:
		return api.Invalid("ExpressionAttributeNames must not be empty")
	case e.Values.Set && e.Values.Err == nil && len(e.Values.Map) == 0:
		return api.Invalid("ExpressionAttributeValues must not be empty")
	}

	if err := e.Values.Err; err != nil {
		var wrong *attr.Error
		if errors.As(err, &wrong) && wrong.Key == "" {
			return api.Invalid("ExpressionAttributeValues contains invalid key: The expression attribute map contains an empty key;")
		}
		return api.Wrong(err)
	}
	return nil
}

func (s *Sources) checkSizes() *api.Error {
	for _, e := range []struct {
		name string
		api.Opt[string]
	}{
		{expr.FilterExpression, s.Filter},
		{expr.UpdateExpression, s.Update},
		{expr.ConditionExpression, s.Condition},
		{expr.KeyConditionExpression, s.Keys},
		{expr.ProjectionExpression, s.Projection},
	} {
		if err := expr.TooLong(e.name, e.Value); err != nil {
			return api.Wrong(err)
		}
	}
	return nil
}

// refuseMixed refuses a request with both expressions and the parameters that they
// replaced. Only KeyConditions are allowed together with a filter expression or a
// projection expression.
func (s *Sources) refuseMixed(older []string) *api.Error {
	if !s.Keys.Set && slices.Equal(older, []string{expr.KeyConditions}) {
		return nil
	}

	var newer []string
	for _, e := range []struct {
		name string
		set  bool
	}{
		{expr.ProjectionExpression, s.Projection.Set},
		{expr.FilterExpression, s.Filter.Set},
		{expr.UpdateExpression, s.Update.Set},
		{expr.ConditionExpression, s.Condition.Set},
		{expr.KeyConditionExpression, s.Keys.Set},
	} {
		if e.set {
			newer = append(newer, e.name)
		}
	}

	if newer == nil {
		return nil
	}
	return Mixed(older, newer)
}

// Mixed returns the error of a request with both expressions and the parameters
// that they replaced.
func Mixed(older, newer []string) *api.Error {
	return api.Invalid("Can not use both expression and non-expression parameters in the same request: Non-expression parameters: {%s} Expression parameters: {%s}",
		strings.Join(older, ", "), strings.Join(newer, ", "))
}

// bind parses each expression and resolves its placeholders before it continues
// with the next one. The order is that of DynamoDB. An error with expr.Error.Last
// is returned separately.
func (s *Sources) bind(params *expr.Params, b *expr.Bound) (last *expr.Error, err error) {
	if s.Update.Set {
		b.Change, err = bound(&updates, s.Update.Value, expr.ParseUpdate, (*expr.Update).Bind, params)
	}

	if s.Condition.Set && err == nil {
		b.Condition, err = bound(&conditions, s.Condition.Value, parseCondition, (*expr.Condition).Bind, params)
	}

	if s.Keys.Set && err == nil {
		b.Keys, err = bound(&keyConditions, s.Keys.Value, expr.ParseKeyCondition, (*expr.KeyCondition).Bind, params)
		if wrong, ok := err.(*expr.Error); ok && wrong.Last {
			last, err = wrong, nil
		}
	}

	if s.Filter.Set && err == nil {
		b.Filter, err = bound(&filters, s.Filter.Value, parseFilter, (*expr.Condition).Bind, params)
	}

	if s.Projection.Set && err == nil {
		b.Selection, err = bound(&projections, s.Projection.Value, expr.ParseProjection, (*expr.Projection).Bind, params)
	}
	return last, err
}

func parseCondition(src string) (*expr.Condition, error) {
	return expr.ParseCondition(expr.ConditionExpression, src)
}

func parseFilter(src string) (*expr.Condition, error) {
	return expr.ParseCondition(expr.FilterExpression, src)
}

// bound parses an expression, unless the cache has it, and resolves its placeholders.
func bound[T, B any](c *cache[T], src string, parse func(string) (T, error), bind func(T, *expr.Params) (B, error), params *expr.Params) (B, error) {
	parsed, err := c.get(src, parse)
	if err != nil {
		var none B
		return none, err
	}
	return bind(parsed, params)
}
