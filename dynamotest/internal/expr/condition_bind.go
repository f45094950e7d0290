package expr

import (
	"slices"

	"github.com/homeops/ddbpatterns/dynamotest/internal/attr"
)

// A Predicate is a condition whose placeholders are resolved. It may be used by
// many goroutines.
type Predicate struct {
	root *node
	*binding
}

// Bind resolves the condition's placeholders and checks its operands.
func (c *Condition) Bind(params *Params) (*Predicate, error) {
	b := bind(c.clause, params, c.names, c.values)
	b.check(&c.root)
	if b.err != nil {
		return nil, b.err
	}
	return &Predicate{&c.root, b}, nil
}

// check goes down to the single conditions and checks each in turn. So of
// several errors it reports that of the leftmost condition.
func (b *binding) check(n *node) {
	if n.op.logical() {
		for i := range n.args {
			b.check(&n.args[i])
		}
		return
	}

	if b.params != nil {
		b.resolve(n)
	}

	for _, rule := range []func(*binding, *node){(*binding).checkCount, (*binding).checkDistinct, (*binding).checkKinds} {
		if b.err == nil {
			b.walkRule(rule, n)
		}
	}
}

// walkRule applies a rule to n and the nodes below it, innermost first.
func (b *binding) walkRule(rule func(*binding, *node), n *node) {
	for i := range n.args {
		b.walkRule(rule, &n.args[i])
	}
	rule(b, n)
}

// checkCount counts the operands of a function.
func (b *binding) checkCount(n *node) {
	if !n.op.function() {
		return
	}
	if name := n.op.String(); len(n.args) != functions[name].operands {
		b.fail(msgOperandCount(name, len(n.args)))
	}
}

// checkDistinct refuses to compare an attribute to itself, even as one of
// several operands.
func (b *binding) checkDistinct(n *node) {
	if len(n.args) < 2 || n.args[0].op != opPath || n.op == opAnd || n.op == opOr {
		return
	}
	p := n.args[0].path
	for _, other := range n.args[1:] {
		if other.op == opPath && b.samePath(p, other.path) {
			b.fail(msgDistinct(n.op.String(), b.full(p).String()))
		}
	}
}

// checkKinds checks the kinds of the operands, as far as they are known without
// an item.
func (b *binding) checkKinds(n *node) {
	switch n.op {
	case opLT, opLE, opGT, opGE:
		b.needKind(n, n.args, attr.Kind.Scalar)
	case opBetween:
		b.needKind(n, n.args, attr.Kind.Scalar)
		b.checkBounds(n)
	case opExists, opNotExists, opIfNotExists:
		if n.args[0].op != opPath {
			b.fail(msgNeedsPath(n.op.String()))
		}
	case opBeginsWith:
		b.needKind(n, n.args, func(k attr.Kind) bool { return k == attr.S || k == attr.B })
	case opSize:
		b.needKind(n, n.args, func(k attr.Kind) bool { return k != attr.N && k != attr.BOOL && k != attr.NULL })
	case opType:
		b.checkTypeName(n)
	case opListAppend:
		b.needKind(n, n.args, func(k attr.Kind) bool { return k == attr.L })
	case opPlus, opMinus:
		b.needKind(n, n.args, func(k attr.Kind) bool { return k == attr.N })
	}
}

// kind returns the kind of an operand, zero if it depends on the item.
func (b *binding) kind(n *node) attr.Kind {
	switch n.op {
	case opPath, opIfNotExists, opUnknown:
		return 0
	case opValue:
		return b.values[n.slot].Kind()
	case opSize, opPlus, opMinus:
		return attr.N
	case opListAppend:
		return attr.L
	}
	return attr.BOOL
}

func (b *binding) needKind(n *node, operands []node, allowed func(attr.Kind) bool) {
	for i := range operands {
		if k := b.kind(&operands[i]); k != 0 && !allowed(k) {
			b.fail(msgOperand(n.op.String(), k.String()))
		}
	}
}

func (b *binding) checkBounds(n *node) {
	low, high := &n.args[1], &n.args[2]
	if low.op != opValue || high.op != opValue || b.err != nil {
		return
	}
	lo, hi := b.values[low.slot], b.values[high.slot]
	switch order, ok := attr.Compare(lo, hi); {
	case !ok:
		b.fail(msgBetween(betweenTypes, lo, hi))
	case order > 0:
		b.fail(msgBetween(betweenOrder, lo, hi))
	}
}

func (b *binding) checkTypeName(n *node) {
	name := &n.args[1]
	switch {
	case name.op != opValue:
		b.fail(msgOperand(n.op.String(), "{NS,SS,L,BS,N,M,B,BOOL,NULL,S}"))
	case b.kind(name) != attr.S:
		b.fail(msgOperand(n.op.String(), b.kind(name).String()))
	case attr.KindOf(b.values[name.slot].Str()) == 0:
		b.fail(msgAttributeType(b.values[name.slot].Str()))
	}
}

// Heads returns the names of the top-level attributes in the condition, each
// once, in the order of the source.
func (p *Predicate) Heads() []string {
	var heads []string
	p.collectHeads(p.root, &heads)
	return distinct(heads)
}

func (b *binding) collectHeads(n *node, heads *[]string) {
	if n.op == opPath {
		*heads = append(*heads, b.stepName(n.path[0]))
	}
	for i := range n.args {
		b.collectHeads(&n.args[i], heads)
	}
}

// distinct removes names that have occurred before. For few names it does not
// make a map.
func distinct(names []string) []string {
	if len(names) <= 8 {
		out := names[:0]
		for _, name := range names {
			if !slices.Contains(out, name) {
				out = append(out, name)
			}
		}
		return out
	}

	seen := make(map[string]bool, len(names))
	return slices.DeleteFunc(names, func(name string) bool {
		again := seen[name]
		seen[name] = true
		return again
	})
}
