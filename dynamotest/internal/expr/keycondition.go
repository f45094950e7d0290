package expr

import (
	"slices"
	"strings"

	"github.com/homeops/ddbpatterns/dynamotest/internal/attr"
)

// A KeyCondition is a parsed KeyConditionExpression: conditions on single
// attributes, joined by AND.
type KeyCondition struct {
	condition *Condition
	terms     []*node
	unfit     string // why it is not one, reported after the faults of any condition
}

// ParseKeyCondition parses a KeyConditionExpression.
func ParseKeyCondition(src string) (*KeyCondition, error) {
	c, err := ParseCondition(KeyConditionExpression, src)
	if err != nil {
		return nil, err
	}
	k := &KeyCondition{condition: c}
	k.unfit = k.collect(&c.root)
	return k, nil
}

// collect adds the single conditions below n, and returns the fault of one of
// them.
func (k *KeyCondition) collect(n *node) string {
	switch n.op {
	case opAnd:
		for i := range n.args {
			if reason := k.collect(&n.args[i]); reason != "" {
				return reason
			}
		}
		return ""
	case opOr, opNot, opIn, opNE, opExists, opNotExists, opType, opContains:
		return msgKeyOperator(n.op.String())
	}

	k.terms = append(k.terms, n)
	return checkKeyTerm(n)
}

// checkKeyTerm checks that one of the operands is an attribute's name and that
// the others are placeholders.
func checkKeyTerm(n *node) string {
	attribute := slices.IndexFunc(n.args, func(arg node) bool { return arg.op == opPath })
	if (n.op == opBetween || n.op == opBeginsWith) && attribute != 0 {
		return msgKeyFirstOperand(n.op.String())
	}

	for i := range n.args {
		switch arg := &n.args[i]; {
		case arg.op == opSize:
			return msgKeyOperations
		case arg.op == opPath && i != attribute:
			return msgKeyManyNames
		case arg.op == opPath && len(arg.path) > 1:
			return msgKeyNested
		}
	}

	if attribute < 0 {
		return msgKeyNoName
	}
	return ""
}

// An Op is an operator of a key condition.
type Op uint8

// The operators of key conditions.
const (
	Equal Op = iota
	Less
	LessOrEqual
	Greater
	GreaterOrEqual
	Between
	BeginsWith

	notIndexed // an operator of a Comparison, but not for a key
)

// Mirrored returns a comparison as read from right to left, or false if the
// operator is not a comparison.
func (o Op) Mirrored() (Op, bool) {
	m, ok := mirrored[o]
	return m, ok
}

// A KeyTerm is a condition on one key attribute.
type KeyTerm struct {
	Name  string
	Op    Op
	Value attr.Value
	High  attr.Value // the upper bound of Between
}

// KeyTerms are a key condition whose placeholders are resolved.
type KeyTerms []KeyTerm

// Bind resolves the key condition's placeholders and checks its operands.
func (k *KeyCondition) Bind(params *Params) (KeyTerms, error) {
	c := k.condition
	b := bind(c.clause, params, c.names, c.values)
	b.check(&c.root)

	switch {
	case b.err != nil:
		return nil, b.err
	case k.unfit != "":
		return nil, unfitKey(k.unfit)
	}

	terms := make(KeyTerms, len(k.terms))
	for i, n := range k.terms {
		terms[i] = b.keyTerm(n)
		if slices.ContainsFunc(terms[:i], func(t KeyTerm) bool { return t.Name == terms[i].Name }) {
			return nil, unfitKey(msgKeyTwice)
		}
	}

	return terms, nil
}

// unfitKey returns the error of a condition that is not a key condition. A reason
// that calls something invalid names the expression itself.
func unfitKey(reason string) *Error {
	e := &Error{Clause: KeyConditionExpression, Reason: reason, Last: true}
	if strings.HasPrefix(reason, "Invalid ") {
		e.Clause = ""
	}
	return e
}

var (
	keyOps   = map[op]Op{opEQ: Equal, opLT: Less, opLE: LessOrEqual, opGT: Greater, opGE: GreaterOrEqual, opBetween: Between, opBeginsWith: BeginsWith}
	mirrored = map[Op]Op{Equal: Equal, Less: Greater, LessOrEqual: GreaterOrEqual, Greater: Less, GreaterOrEqual: LessOrEqual}
)

// keyTerm converts a condition, and mirrors it if its value comes first.
func (b *binding) keyTerm(n *node) KeyTerm {
	t := KeyTerm{Op: keyOps[n.op]}
	name, value := &n.args[0], &n.args[1]
	if name.op != opPath {
		name, value = value, name
		t.Op = mirrored[t.Op]
	}
	t.Name = b.stepName(name.path[0])
	t.Value = b.values[value.slot]
	if n.op == opBetween {
		t.High = b.values[n.args[2].slot]
	}
	return t
}

// A KeyQuery is a key condition fitted to a key: a value for each partition key
// attribute, then sort key attributes from the left, all but the last by
// equality.
type KeyQuery struct {
	Hash  []attr.Value
	Equal []attr.Value // for the first sort key attributes
	Range *KeyTerm     // for the next one, or nil
}

// Resolve matches the terms with the key of a table or index, given by the
// names of its attributes.
func (ts KeyTerms) Resolve(hash, sort []string) (*KeyQuery, error) {
	if err := ts.fit(hash, sort); err != nil {
		return nil, err
	}

	q := &KeyQuery{}
	used := 0
	for _, name := range hash {
		t := ts.find(name)
		switch {
		case t == nil:
			return nil, &Error{Reason: msgKeyMissed(name)}
		case t.Op != Equal:
			return nil, &Error{Reason: msgKeyMismatch}
		}
		q.Hash = append(q.Hash, t.Value)
		used++
	}

	for _, name := range sort {
		t := ts.find(name)
		if t == nil || q.Range != nil {
			break
		}
		if t.Op == notIndexed {
			return nil, &Error{Reason: msgKeyNotIndexed}
		}

		if t.Op == Equal {
			q.Equal = append(q.Equal, t.Value)
		} else {
			q.Range = t
		}

		used++
	}

	if used < len(ts) {
		return nil, ts.unfit(q, hash, sort)
	}
	return q, nil
}

// unfit returns why terms are left over: they are more than the attributes of the
// key, its sort key is missing, or the terms do not fit the key.
func (ts KeyTerms) unfit(q *KeyQuery, hash, sort []string) error {
	switch {
	case len(ts) > len(hash)+len(sort):
		return &Error{Reason: msgKeyExceeded(len(ts), len(hash)+len(sort))}
	case q.Range == nil && len(q.Equal) < len(sort) && len(sort) == 1 && len(hash) == 1:
		return &Error{Reason: msgKeyMissed(sort[0])}
	}
	return &Error{Reason: msgKeyMismatch}
}

// fit checks the conditions on a key with several attributes of a type. Each
// attribute of the partition key needs an equality. So does each attribute of the
// sort key before the last one with a condition.
func (ts KeyTerms) fit(hash, sort []string) error {
	if len(hash) == 1 && len(sort) <= 1 {
		return nil
	}
	if unequal := ts.unequal(hash); len(unequal) > 0 {
		return &Error{Reason: msgHashUnequal(unequal)}
	}

	last := len(sort) - 1
	for last >= 0 && ts.find(sort[last]) == nil {
		last--
	}

	if last < 1 {
		return nil
	}
	if unequal := ts.unequal(sort[:last]); len(unequal) > 0 {
		return &Error{Reason: msgRangeUnequal(unequal, sort[last])}
	}

	return nil
}

// unequal lists the attributes without an equality.
func (ts KeyTerms) unequal(names []string) (out []string) {
	for _, name := range names {
		if t := ts.find(name); t == nil || t.Op != Equal {
			out = append(out, name)
		}
	}
	return out
}

func (ts KeyTerms) find(name string) *KeyTerm {
	for i := range ts {
		if ts[i].Name == name {
			return &ts[i]
		}
	}
	return nil
}

// Match reports whether the term is true for a value of the key attribute.
func (t *KeyTerm) Match(v attr.Value) bool {
	if t.Op == BeginsWith {
		return beginsWith(v, t.Value)
	}

	order, ok := attr.Compare(v, t.Value)
	if !ok {
		return false
	}

	switch t.Op {
	case Equal:
		return order == 0
	case Less:
		return order < 0
	case LessOrEqual:
		return order <= 0
	case Greater:
		return order > 0
	case GreaterOrEqual:
		return order >= 0
	}

	high, ok := attr.Compare(v, t.High)
	return ok && order >= 0 && high <= 0
}
