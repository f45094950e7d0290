package partiql

import (
	"fmt"
	"strings"
)

// A node is a part of a source. The grammar has more of PartiQL than DynamoDB
// supports, because the two have different errors: first a source is parsed,
// and then it is checked whether DynamoDB supports it.
type node struct {
	kind  nodeKind
	token token  // its place
	text  string // a name; that of a function, an operator or a type in lower case; a string; a number with its sign
	slot  int    // of a parameter, counted from zero
	args  []*node
	steps []step   // of a path
	parts *clauses // of a statement
}

type nodeKind uint8

const (
	nodeString nodeKind = iota + 1
	nodeNumber
	nodeTrue
	nodeFalse
	nodeNull
	nodeMissing
	nodeParameter
	nodeName
	nodePath // args[0], and steps from there
	nodeCall
	nodeAggregate
	nodeOperator
	nodeIs
	nodeList
	nodeBag
	nodeTuple // names and values in turn
	nodeSelect
	nodeInsert
	nodeUpdate
	nodeDelete
)

// classes are the names of the kinds of nodes in DynamoDB's texts.
var classes = map[nodeKind]string{
	nodeString: "Lit", nodeNumber: "Lit", nodeTrue: "Lit", nodeFalse: "Lit", nodeNull: "Lit",
	nodeMissing: "Missing", nodeParameter: "Parameter", nodeName: "Id", nodePath: "Path", nodeCall: "Call",
	nodeAggregate: "CallAgg", nodeIs: "IsType", nodeList: "List", nodeBag: "Bag", nodeTuple: "Struct", nodeSelect: "Select",
}

var operatorClasses = map[string]string{
	"and": "And", "or": "Or", "not": "Not", "=": "Eq", "<>": "Ne", "<": "Lt", "<=": "Lte", ">": "Gt", ">=": "Gte",
	"in": "InCollection", "not in": "Not", "between": "Between", "not between": "Not", "like": "Like", "not like": "Like",
	"+": "Plus", "-": "Minus", "*": "Times", "/": "Divide", "%": "Modulo", "||": "Concat",
}

func (n *node) class() string {
	switch {
	case n.operator("-") && len(n.args) == 1:
		return "Neg"
	case n.operator("+") && len(n.args) == 1:
		return "Pos"
	case n.kind == nodeOperator:
		return operatorClasses[n.text]
	}
	return classes[n.kind]
}

// operator reports whether n is an application of op.
func (n *node) operator(op string) bool { return n.kind == nodeOperator && n.text == op }

// A step leads from a path to a value inside.
type step struct {
	token    token
	name     string // after a point
	index    *node  // in brackets; nil for a name
	wildcard bool   // .* or [*]
	bracket  bool
}

// clauses are the parts of a statement.
type clauses struct {
	all      bool // SELECT *
	columns  []column
	distinct bool
	value    bool // SELECT VALUE
	source   *node
	sources  int
	alias    bool // a source or a column has one
	where    *node
	group    bool
	order    []ordering
	limit    *node
	item     *node
	bare     bool // the item came without VALUE
	at       bool
	actions  []assignment
	returned []returnedElement
}

type column struct {
	value *node
	alias bool
}

type ordering struct {
	value      *node
	descending bool
}

// An assignment is that of a SET, or of a REMOVE if it has no value.
type assignment struct{ path, value *node }

type returnedElement struct {
	returning Returning
	star      bool
}

// place returns the place of a token in a source as DynamoDB writes it: line,
// column and length.
func place(src string, t token) string {
	before := src[:t.start]
	line := strings.Count(before, "\n") + 1
	column := t.start - strings.LastIndexByte(before, '\n')
	return fmt.Sprintf("at %d:%d:%d", line, column, t.end-t.start)
}
