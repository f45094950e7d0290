package partiql

import (
	"slices"

	"github.com/homeops/ddbpatterns/dynamotest/internal/attr"
	"github.com/homeops/ddbpatterns/dynamotest/internal/expr"
)

// logical reports whether n may be a condition by its form.
func (n *node) logical() bool {
	return n.kind == nodeOperator || n.kind == nodeIs || n.kind == nodeCall
}

// operations are the operators of conditions, by the names that they have in
// package expr.
var operations = map[string]string{
	"and": "AND", "or": "OR", "not": "NOT", "=": "=", "<>": "<>", "<": "<", "<=": "<=", ">": ">", ">=": ">=",
	"in": "IN", "not in": "IN", "between": "BETWEEN", "not between": "BETWEEN",
}

// functions are those that a statement may name. Package expr checks where each
// of them may stand.
var functions = []string{
	"attribute_exists", "attribute_not_exists", "attribute_type", "begins_with", "contains", "size", "list_append", "if_not_exists",
}

// condition converts a node to a condition.
func (t *translator) condition(n *node) term {
	switch n.kind {
	case nodeIs:
		return t.is(n)
	case nodeCall:
		return t.function(n, t.operand)
	case nodeOperator:
		return t.operation(n)
	}
	return t.operand(n)
}

func (t *translator) operation(n *node) term {
	op, ok := operations[n.text]
	switch {
	case !ok:
		t.refuse("Unsupported operation: %s", n.class())
		return term{}
	case op == "AND" || op == "OR" || op == "NOT":
		return t.joined(n, op)
	case op == "IN":
		return negate(n.text == "not in", call(op, t.candidates(n)...))
	}

	args := make([]term, len(n.args))
	for i, arg := range n.args {
		args[i] = t.operand(arg)
	}

	return negate(n.text == "not between", call(op, args...))
}

func negate(not bool, t term) term {
	if not {
		return call("NOT", t)
	}
	return t
}

// joined converts AND or OR to a condition.
func (t *translator) joined(n *node, op string) term {
	wrong := textNoOperands
	if op == "NOT" {
		wrong = textNoNegation
	}
	args := make([]term, len(n.args))
	for i, arg := range n.args {
		if !arg.logical() {
			t.refuse("%s", wrong)
		}
		args[i] = t.condition(arg)
	}
	return call(op, args...)
}

// candidates returns the operands of IN.
func (t *translator) candidates(n *node) []term {
	terms := []term{t.operand(n.args[0])}
	list := n.args[1]
	if list.kind != nodeList && list.kind != nodeBag || len(list.args) == 0 {
		t.refuse(textInOperands)
	}
	for _, arg := range list.args {
		terms = append(terms, t.operand(arg))
	}
	return terms
}

// is converts IS to a condition on the kind of a value, or on its absence. A
// missing attribute is not null.
func (t *translator) is(n *node) term {
	if left := n.args[0]; left.kind > nodePath || left.kind == nodeParameter {
		t.refuse(textIsOperand)
	}
	left := t.operand(n.args[0])
	if n.text == "missing" {
		return call("attribute_not_exists", left)
	}
	kind := typeNames[n.text]
	if kind == "" {
		t.refuse("Unsupported operation: %s", n.class())
	}
	return call("attribute_type", left, literal(attr.String(kind)))
}

// function converts a call to a term.
func (t *translator) function(n *node, operand func(*node) term) term {
	if !slices.Contains(functions, n.text) {
		t.refuseAt(n.token, "Unrecognized function: %s", n.text)
	}
	args := make([]term, len(n.args))
	for i, arg := range n.args {
		args[i] = operand(arg)
	}
	return call(n.text, args...)
}

// operand converts a value, an attribute or a function to a term. A condition
// is converted, too; its surroundings refuse it.
func (t *translator) operand(n *node) term {
	switch n.kind {
	case nodeName, nodePath:
		return term{kind: termPath, path: t.path(n)}
	case nodeParameter:
		return term{kind: termParameter, parameter: n.slot}
	case nodeOperator, nodeIs, nodeCall:
		return t.condition(n)
	case nodeMissing:
		t.refuse(textMissing)
	case nodeAggregate, nodeSelect, nodeInsert, nodeUpdate, nodeDelete:
		t.refuseAt(n.token, "Unsupported token in expression: %s", t.src[n.token.start:n.token.end])
	default:
		v := t.value(n, "root")
		if v.Depth() >= attr.MaxNesting {
			t.refuse(textNesting)
		}
		return literal(v)
	}
	return term{}
}

// assigned converts the right side of SET to a term.
func (t *translator) assigned(n *node) term {
	switch {
	case n.kind == nodeCall:
		return t.function(n, t.assigned)
	case n.kind == nodeIs:
		t.refuse("IS operator is not supported in update expressions")
	case n.operator("+") || n.operator("-"):
		args := make([]term, len(n.args))
		for i, arg := range n.args {
			args[i] = t.assigned(arg)
		}
		if len(args) != 2 {
			t.refuse("%s", expr.OperandCount(n.text, len(args)))
		}
		return call(n.text, args...)
	case n.kind == nodeOperator:
		t.refuse("Unsupported operator in Update Expression. Operator: %s", n.text)
	default:
		return t.operand(n)
	}
	return term{}
}
