package expr

import (
	"cmp"
	"slices"

	"github.com/homeops/ddbpatterns/dynamotest/internal/attr"
)

// The parameters from before expressions are JSON: comparisons of attributes
// with values, and actions on attributes. They have neither paths nor
// placeholders, so the conversions are bound at once. Only the size of the
// request limits their number, so the code below must take fewer than n² steps.

// A Comparison compares a top-level attribute with values.
type Comparison struct {
	Name     string
	Operator string // one of ComparisonOperators
	Operands []attr.Value
}

// ComparisonOperators are the operators, in the order that messages list them.
var ComparisonOperators = []string{
	"IN", "NULL", "BETWEEN", "LT", "NOT_CONTAINS", "EQ", "GT", "NOT_NULL", "NE", "LE", "BEGINS_WITH", "GE", "CONTAINS",
}

// A comparator is the meaning of an operator, and the operands that it takes.
type comparator struct {
	op       op // for NOT_CONTAINS the denied op
	operands int
	allowed  func(attr.Kind) bool
}

const some = -1 // for operands: at least one

var comparators = map[string]comparator{
	"EQ":           {opEQ, 1, anyKind},
	"NE":           {opNE, 1, anyKind},
	"LT":           {opLT, 1, attr.Kind.Scalar},
	"LE":           {opLE, 1, attr.Kind.Scalar},
	"GT":           {opGT, 1, attr.Kind.Scalar},
	"GE":           {opGE, 1, attr.Kind.Scalar},
	"NULL":         {opNotExists, 0, anyKind},
	"NOT_NULL":     {opExists, 0, anyKind},
	"CONTAINS":     {opContains, 1, isElement},
	"NOT_CONTAINS": {opContains, 1, isElement},
	"BEGINS_WITH":  {opBeginsWith, 1, isText},
	"IN":           {opIn, some, attr.Kind.Scalar},
	"BETWEEN":      {opBetween, 2, attr.Kind.Scalar},
}

func anyKind(attr.Kind) bool     { return true }
func isElement(k attr.Kind) bool { return !k.Set() && k != attr.L && k != attr.M }
func isText(k attr.Kind) bool    { return k == attr.S || k == attr.B }

// check checks the operands.
func (c *Comparison) check() error {
	if err := wrongName(c.Name); err != nil {
		return err
	}

	rule := comparators[c.Operator]
	if n := len(c.Operands); n != rule.operands && (rule.operands != some || n == 0) {
		return &Error{Reason: msgComparisonCount(c.Operator)}
	}

	for _, v := range c.Operands {
		if !rule.allowed(v.Kind()) {
			return &Error{Reason: msgComparisonKind(c.Operator, v.Kind())}
		}
		if v.Kind() != c.Operands[0].Kind() {
			return &Error{Reason: msgComparisonKinds}
		}
	}

	if rule.op == opBetween {
		if order, _ := attr.Compare(c.Operands[0], c.Operands[1]); order > 0 {
			return &Error{Reason: msgComparisonBounds}
		}
	}
	return nil
}

func checkComparisons(comparisons []Comparison) error {
	for i := range comparisons {
		if err := comparisons[i].check(); err != nil {
			return err
		}
	}
	return nil
}

// Compare returns the condition that all comparisons of a parameter are true or, if
// any is set, that one of them is. At least one comparison is necessary.
func Compare(origin string, comparisons []Comparison, any bool) (*Predicate, error) {
	if err := checkComparisons(comparisons); err != nil {
		return nil, err
	}
	root := &node{op: opAnd, args: make([]node, len(comparisons))}
	if any {
		root.op = opOr
	}
	b := &binding{clause: origin}
	for i, c := range comparisons {
		root.args[i] = b.comparison(c)
	}
	return &Predicate{root, b}, nil
}

// comparison converts c to a node, and puts its operands into the table of
// values.
func (b *binding) comparison(c Comparison) node {
	attribute := node{op: opPath, path: NewPath(c.Name).steps}
	n := node{op: comparators[c.Operator].op, args: []node{attribute}}
	for _, v := range c.Operands {
		n.args = append(n.args, node{op: opValue, slot: len(b.values)})
		b.values = append(b.values, v)
	}

	if c.Operator != "NOT_CONTAINS" {
		return n
	}
	// A missing attribute does not meet NOT_CONTAINS.
	return node{op: opAnd, args: []node{
		{op: opExists, args: []node{attribute}},
		{op: opNot, args: []node{n}},
	}}
}

// CompareKeys returns the key condition that all comparisons are true.
func CompareKeys(comparisons []Comparison) (KeyTerms, error) {
	if len(comparisons) == 0 {
		return nil, &Error{Reason: msgKeyTooMany}
	}
	if err := checkComparisons(comparisons); err != nil {
		return nil, err
	}

	terms := make(KeyTerms, len(comparisons))
	for i, c := range comparisons {
		keyOp, ok := keyOps[comparators[c.Operator].op]
		if !ok {
			keyOp = notIndexed
		}
		terms[i] = KeyTerm{Name: c.Name, Op: keyOp}
		if len(c.Operands) > 0 {
			terms[i].Value = c.Operands[0]
		}
		if keyOp == Between {
			terms[i].High = c.Operands[1]
		}
	}

	return terms, nil
}

// SelectAttributes returns the projection of whole attributes.
func SelectAttributes(names []string) (*Selection, error) {
	sorted := slices.Sorted(slices.Values(names))
	for i, name := range sorted {
		if err := wrongName(name); err != nil {
			return nil, err
		}
		if i > 0 && name == sorted[i-1] {
			return nil, &Error{Reason: msgSelectedTwice(name)}
		}
	}
	return &Selection{tree: flatTree(sorted), Origin: AttributesToGet}, nil
}

// flatTree returns the tree of top-level attributes, whose names are sorted. A
// leaf has the number of its name.
func flatTree(names []string) *tree {
	root := &tree{branches: make([]*tree, len(names))}
	for i, name := range names {
		root.branches[i] = &tree{step: NewPath(name).steps[0], leaf: i}
	}
	return root
}

// An AttributeUpdate is an action on a top-level attribute.
type AttributeUpdate struct {
	Name   string
	Action string // one of AttributeActions
	Value  attr.Value
	Valued bool // Value is set
}

// AttributeActions are the actions, in the order that messages list them.
var AttributeActions = []string{actionAdd, actionPut, actionDelete}

const (
	actionAdd    = "ADD"
	actionPut    = "PUT"
	actionDelete = "DELETE"
)

func (u *AttributeUpdate) check() error {
	if err := wrongName(u.Name); err != nil {
		return err
	}

	k := u.Value.Kind()
	switch {
	case !u.Valued && u.Action != actionDelete:
		return &Error{Reason: msgActionNoValue}
	case !u.Valued:
	case u.Action == actionDelete && !k.Set():
		return &Error{Reason: msgActionKind("DELETE action with value", k)}
	case u.Action == actionAdd && !k.Set() && k != attr.N && k != attr.L:
		return &Error{Reason: msgActionKind("ADD action", k)}
	}

	return nil
}

func (u *AttributeUpdate) verb() verb {
	switch {
	case !u.Valued:
		return verbRemove
	case u.Action == actionAdd:
		return verbAdd
	case u.Action == actionDelete:
		return verbDelete
	}
	return verbSet
}

// UpdateAttributes returns the update that consists of the actions. If two are
// on the same attribute, the later one counts.
func UpdateAttributes(updates []AttributeUpdate) (*Change, error) {
	sorted := slices.Clone(updates)
	slices.SortStableFunc(sorted, func(a, b AttributeUpdate) int { return cmp.Compare(a.Name, b.Name) })
	c := &Change{binding: &binding{clause: AttributeUpdates}}
	var names []string

	for i := range sorted {
		u := &sorted[i]
		if err := u.check(); err != nil {
			return nil, err
		}
		if i+1 < len(sorted) && sorted[i+1].Name == u.Name {
			continue
		}
		names = append(names, u.Name)
		c.actions = append(c.actions, boundAction{u.verb(), NewPath(u.Name).steps, &node{op: opValue, slot: len(c.values)}})
		c.values = append(c.values, u.Value)
	}

	c.tree = flatTree(names)
	return c, nil
}
