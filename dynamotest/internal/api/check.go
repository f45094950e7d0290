package api

import (
	"fmt"
	"slices"
	"strings"
)

// maxViolations is the most violations that DynamoDB lists.
const maxViolations = 10

// A checker collects the constraints that a request violates.
type checker struct {
	found []string
	// alone is an error that is reported instead of the list.
	alone *Error
	deep  bool // the request is nested more deeply than newerDepth
	newer bool // DynamoDB's newer code reads the request, if it is not deep
}

// newerDepth is the most containers that DynamoDB's newer code reads inside one
// another. A deeper request is read by its older code.
const newerDepth = 128

func (c *checker) err() *Error {
	switch {
	case c.alone != nil:
		return c.alone
	case len(c.found) == 0:
		return nil
	}

	if c.newer && !c.deep && !slices.ContainsFunc(c.found, isMissing) {
		c.inNewer()
	}

	plural := "s"
	if len(c.found) == 1 {
		plural = ""
	}

	err := Invalid("%d validation error%s detected: %s", len(c.found), plural, strings.Join(c.found, "; "))
	err.Layer = OfModel
	if !slices.ContainsFunc(c.found, isMissing) {
		err.First = c.found[0]
	}

	return err
}

// newerTexts are the constraints that the newer code checks on its own, before
// the others: the places of their members in the older texts, and its own texts.
var newerTexts = []struct{ at, text string }{
	{"Value '' at 'tableName'", "Value at 'TableName' failed to satisfy constraint: Member must have length greater than or equal to 1"},
	{"at 'returnValues'", "Failed to satisfy constraint: Member must satisfy enum value set: [ALL_OLD, UPDATED_OLD, ALL_NEW, UPDATE_NEW, NONE]"},
	{"at 'conditionalOperator'", textOperators},
}

// textOperators is AWS's own: AND is meant.
const textOperators = "Failed to satisfy constraint: Member must satisfy enum value set: [ALL, OR]"

// inNewer changes the list to that of the newer code. An empty name of a table is
// reported alone.
func (c *checker) inNewer() {
	var first []string
	for i, newer := range newerTexts {
		at := slices.IndexFunc(c.found, func(text string) bool { return strings.Contains(text, newer.at) })
		switch {
		case at < 0:
		case i == 0:
			c.found = []string{newer.text}
			return
		default:
			first = append(first, newer.text)
			c.found = slices.Delete(c.found, at, at+1)
		}
	}

	c.found = append(first, c.found...)
}

// ok reports whether nothing has been found so far.
func (c *checker) ok() bool { return c.alone == nil && len(c.found) == 0 }

func (c *checker) fail(err *Error) {
	if c.alone == nil {
		c.alone = err
	}
}

func (c *checker) violated(value, member, constraint string) {
	c.list("Value %s at '%s' failed to satisfy constraint: Member must %s", value, member, constraint)
}

// list adds a violation to the list, unless the list is full.
func (c *checker) list(format string, args ...any) {
	if len(c.found) < maxViolations {
		c.found = append(c.found, fmt.Sprintf(format, args...))
	}
}

// require reports a missing member.
func (c *checker) require(member string, present bool) {
	if !present {
		c.violated("null", member, "not be null")
	}
}

// isMissing reports whether a violation comes from require.
func isMissing(violation string) bool { return strings.HasPrefix(violation, "Value null at ") }

// enum checks a member that may be absent.
func (c *checker) enum(member string, value Opt[string], allowed ...string) {
	if value.Set && !slices.Contains(allowed, value.Value) {
		c.violated("'"+value.Value+"'", member, "satisfy enum value set: ["+strings.Join(allowed, ", ")+"]")
	}
}

func (c *checker) atLeast(member string, value Opt[int64], least int64) {
	if value.Set && value.Value < least {
		c.violated(fmt.Sprintf("'%d'", value.Value), member, fmt.Sprintf("have value greater than or equal to %d", least))
	}
}

func (c *checker) atMost(member string, value Opt[int64], most int64) {
	if value.Set && value.Value > most {
		c.violated(fmt.Sprintf("'%d'", value.Value), member, fmt.Sprintf("have value less than or equal to %d", most))
	}
}

// length checks the length of a text or a list, which the caller has rendered.
func (c *checker) length(member, rendered string, n, least, most int) {
	switch {
	case n < least:
		c.violated("'"+rendered+"'", member, fmt.Sprintf("have length greater than or equal to %d", least))
	case n > most:
		c.violated("'"+rendered+"'", member, fmt.Sprintf("have length less than or equal to %d", most))
	}
}

// count checks the number of elements of a list.
func (c *checker) count(member, element string, n, most int) {
	if n < 1 || n > most {
		c.length(member, sketch(element, n), n, 1, most)
	}
}

// shownList returns a list of names as messages show it.
func shownList(names []string) string { return "[" + strings.Join(names, ", ") + "]" }

const namePattern = "[a-zA-Z0-9_.-]+"

func matchesName(s string) bool {
	for i := range len(s) {
		switch c := s[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '_', c == '.', c == '-':
		default:
			return false
		}
	}
	return s != ""
}

const (
	minNameLength = 3
	maxNameLength = 255
)

// name checks the name of a table or an index.
func (c *checker) name(member, value string, least int) {
	if value != "" && !matchesName(value) {
		c.violated("'"+value+"'", member, "satisfy regular expression pattern: "+namePattern)
	}
	c.length(member, value, len(value), least, maxNameLength)
}

// tableName checks a table's name for an operation on existing tables.
func (c *checker) tableName(member string, value Opt[string]) {
	if c.require(member, value.Set); value.Set {
		c.name(member, TableNameOf(value.Value), 1)
	}
}

// isTableName reports whether s is a table's name or its ARN.
func isTableName(s string) bool {
	s = TableNameOf(s)
	return minNameLength <= len(s) && len(s) <= maxNameLength && matchesName(s)
}

// mapKeys reports an invalid table name in requestItems. shown is requestItems
// as messages show it.
func (c *checker) mapKeys(shown string) {
	c.list("Value '%s' at 'requestItems' failed to satisfy constraint: Map keys must satisfy constraint: "+
		"[Member must have length less than or equal to %d, Member must have length greater than or equal to %d, Member must satisfy regular expression pattern: %s]",
		shown, maxNameLength, minNameLength, namePattern)
}

// indexName checks the name of an index that may be absent.
func (c *checker) indexName(value Opt[string]) {
	if value.Set {
		c.name("indexName", value.Value, minNameLength)
	}
}

// TableNameOf returns the name of the table in s: s itself or, if s is the
// table's ARN, its last part.
func TableNameOf(s string) string {
	if strings.HasPrefix(s, "arn:") {
		if _, name, ok := strings.Cut(s, ":table/"); ok {
			return name
		}
	}
	return s
}

func (c *checker) returnConsumedCapacity(v Opt[string]) {
	c.enum("returnConsumedCapacity", v, "INDEXES", "TOTAL", "NONE")
}

func (c *checker) returnItemCollectionMetrics(v Opt[string]) {
	c.enum("returnItemCollectionMetrics", v, "SIZE", "NONE")
}

func (c *checker) returnValuesOnFailure(member string, v Opt[string]) {
	c.enum(member, v, "ALL_OLD", "NONE")
}
