package expr_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/homeops/ddbpatterns/dynamotest/internal/attr"
	"github.com/homeops/ddbpatterns/dynamotest/internal/expr"
)

// fuzzParams has a value of every kind under a short name.
func fuzzParams(t testing.TB) *expr.Params {
	return params(t, "#a=s #b=n #c=l #d=m #e=and", `{":s":{"S":"S"},":t":{"S":"he"},":n":{"N":"1"},":m":{"N":"-2.5"},":b":{"B":"aGk="},`+
		`":y":{"BOOL":true},":z":{"NULL":true},":l":{"L":[{"N":"1"}]},":d":{"M":{"k":{"S":"v"}}},":ss":{"SS":["a","b"]},":ns":{"NS":["1"]}}`)
}

// Every error must be a ValidationException with a text.
func checkError(t *testing.T, src string, err error) {
	t.Helper()
	var bad *expr.Error
	if !errors.As(err, &bad) || bad.Reason == "" {
		t.Errorf("%q: error is %v", src, err)
	}
}

func FuzzCondition(f *testing.F) {
	for _, src := range []string{
		"s = :s AND NOT (n < :n OR size(#c[0].x) BETWEEN :m AND :n)", "attribute_type(m.k, :s) or contains(ss, :t)",
		"a IN (:n, #b, size(l))", "((a))", "NOT NOT begins_with(b,:b)", "a <> \x00", "#e.#e[1][2]=:d", "if_not_exists(a,b)=c",
	} {
		f.Add(src)
	}
	it := item(f, sample)
	f.Fuzz(func(t *testing.T, src string) {
		c, err := bindCondition(t, src, fuzzParams(t))
		if err != nil {
			checkError(t, src, err)
			return
		}
		got := c.Match(it)
		c.Match(nil)
		c.Heads()
		negated, err := bindCondition(t, "NOT ("+src+")", fuzzParams(t))
		if err != nil { // it was in parentheses already, or as large as possible
			checkError(t, src, err)
			return
		}
		if negated.Match(it) == got {
			t.Errorf("%q and its negation are both %v", src, got)
		}
	})
}

func FuzzUpdate(f *testing.F) {
	for _, src := range []string{
		"SET n = n + :n, m.k = list_append(l, :l) REMOVE s, l[1] ADD ss :ss DELETE ns :ns", "SET l[9] = :d, l[0] = if_not_exists(l[7], :n) - :m",
		"REMOVE l[2].deep[0], m.#e", "SET #a = (#b - :n)", "ADD fresh.x :n", "SET s=:s SET n=:n", "delete ss :ss remove l[0],l[1],l[2]",
	} {
		f.Add(src)
	}
	f.Fuzz(func(t *testing.T, src string) {
		c, err := bindUpdate(t, src, fuzzParams(t))
		if err != nil {
			checkError(t, src, err)
			return
		}
		for _, doc := range []string{sample, ""} {
			before := item(t, doc)
			after, err := c.Apply(before)
			if err != nil {
				checkError(t, src, err)
				continue
			}
			checkChange(t, src, c, before, after, item(t, doc))
		}
	})
}

// checkChange checks that an update only changes what it names, and leaves a
// well-formed item.
func checkChange(t *testing.T, src string, c *expr.Change, before, after, original attr.Map) {
	t.Helper()
	if !before.Equal(original) {
		t.Errorf("%q changed the item before", src)
	}
	if again := item(t, string(after.AppendJSON(nil))); !again.Equal(after) {
		t.Errorf("%q leaves an item that is not what its JSON says: %s", src, after.AppendJSON(nil))
	}
	restBefore, restAfter := before, after
	for _, head := range c.Heads() {
		restBefore, restAfter = restBefore.Without(head), restAfter.Without(head)
	}
	if !restBefore.Equal(restAfter) {
		t.Errorf("%q changed more than %v", src, c.Heads())
	}
	for name, part := range map[string][2]attr.Map{"old": {c.Old(before), before}, "new": {c.New(after), after}} {
		for _, field := range part[0] {
			if !part[1].Has(field.Name) {
				t.Errorf("%q: %s shows %s, which is not there", src, name, field.Name)
			}
		}
	}
}

func FuzzProjection(f *testing.F) {
	for _, src := range []string{"s, n", "m.k, m.#e, l[0], l[2].deep[0]", "#a.#b[1]", "a,,b", "a[", "l[2147483647]"} {
		f.Add(src)
	}
	it := item(f, sample)
	f.Fuzz(func(t *testing.T, src string) {
		s, err := bindProjection(t, src, fuzzParams(t))
		if err != nil {
			checkError(t, src, err)
			return
		}
		part := s.Apply(it)
		if whole := it.Pick(s.Heads()...); part.Size() > whole.Size() {
			t.Errorf("%q selects %s of %s", src, part.AppendJSON(nil), whole.AppendJSON(nil))
		}
		if again := item(t, string(part.AppendJSON(nil))); !again.Equal(part) {
			t.Errorf("%q selects what is not what its JSON says: %s", src, part.AppendJSON(nil))
		}
	})
}

func FuzzKeyCondition(f *testing.F) {
	for _, src := range []string{"pk = :s AND sk BETWEEN :m AND :n", ":s = pk and begins_with(sk,:t)", "pk=:s AND (sk=:n AND tk>:b)", "pk <> :s", "size(pk)=:n"} {
		f.Add(src)
	}
	f.Fuzz(func(t *testing.T, src string) {
		k, err := expr.ParseKeyCondition(src)
		if err != nil {
			checkError(t, src, err)
			return
		}
		terms, err := k.Bind(fuzzParams(t))
		if err != nil {
			checkError(t, src, err)
			return
		}
		if q, err := terms.Resolve([]string{"pk"}, []string{"sk"}); err != nil {
			checkError(t, src, err)
		} else if len(q.Hash) != 1 || len(q.Equal) > 1 || len(q.Equal) == 1 && q.Range != nil {
			t.Errorf("%q fits a key in an impossible way: %s", src, show(q))
		}
		checkAgainstCondition(t, src, terms)
	})
}

// checkAgainstCondition checks that the terms are true for the same items as
// the condition of the same source.
func checkAgainstCondition(t *testing.T, src string, terms expr.KeyTerms) {
	t.Helper()
	c, err := bindCondition(t, src, fuzzParams(t))
	if err != nil {
		t.Errorf("%q is a key condition but no condition: %v", src, err)
		return
	}
	for _, v := range []attr.Value{attr.String("S"), attr.String("hello"), attr.Int(1), attr.Int(0), attr.Bytes("hi")} {
		var it attr.Map
		all := true
		for _, term := range terms {
			it = it.With(term.Name, v)
			all = all && term.Match(v)
		}
		if c.Match(it) != all {
			t.Errorf("%q is %v of %s, its terms are %v", src, !all, it.AppendJSON(nil), all)
		}
	}
}

// Hostile sources of every shape quickly end in an error.
func TestHostileSources(t *testing.T) {
	t.Parallel()
	for _, unit := range []string{"(", ")", "NOT ", "size(", "a.", "a[0]", "a[", "[", "#", ":", ":n,", "a AND ", "a=:n AND ", "SET ", "SET a=(", "REMOVE a,", "if_not_exists(a,", "\x00", "\xff", "å", "🧹", "1", "-", "IN (", "BETWEEN "} {
		for _, n := range []int{1, 10, 1000, 1_000_000} {
			src := strings.Repeat(unit, n)
			for _, lead := range []string{"", "SET a = ", "a = "} {
				if _, err := bindCondition(t, lead+src, fuzzParams(t)); err != nil {
					checkError(t, lead+unit, err)
				}
				if _, err := bindUpdate(t, lead+src, fuzzParams(t)); err != nil {
					checkError(t, lead+unit, err)
				}
				if _, err := bindProjection(t, lead+src, fuzzParams(t)); err != nil {
					checkError(t, lead+unit, err)
				}
			}
		}
	}
}
