package expr

import (
	"strconv"
	"strings"
)

// An op says what a node is.
type op uint8

const (
	opPath  op = iota // an attribute
	opValue           // :value

	opAnd
	opOr
	opNot
	opEQ
	opNE
	opLT
	opLE
	opGT
	opGE
	opBetween
	opIn
	opExists
	opNotExists
	opType
	opBeginsWith
	opContains

	opSize
	opIfNotExists
	opListAppend
	opPlus
	opMinus

	opUnknown // a function that does not exist: an error of the parser
)

var opNames = [...]string{
	opAnd: "AND", opOr: "OR", opNot: "NOT", opEQ: "=", opNE: "<>", opLT: "<", opLE: "<=", opGT: ">", opGE: ">=",
	opBetween: "BETWEEN", opIn: "IN", opExists: "attribute_exists", opNotExists: "attribute_not_exists",
	opType: "attribute_type", opBeginsWith: "begins_with", opContains: "contains", opSize: "size",
	opIfNotExists: "if_not_exists", opListAppend: "list_append", opPlus: "+", opMinus: "-", opUnknown: "",
}

func (o op) String() string { return opNames[o] }

// condition reports whether o is true or false for an item.
func (o op) condition() bool { return opAnd <= o && o <= opContains }

// logical reports whether o joins conditions.
func (o op) logical() bool { return opAnd <= o && o <= opNot }

// compares reports whether o compares its operands.
func (o op) compares() bool { return opEQ <= o && o <= opIn }

// function reports whether o is written as a function.
func (o op) function() bool { return opExists <= o && o <= opListAppend || o == opUnknown }

// A function is an op, with how many operands it takes and where it may stand.
type function struct {
	op       op
	operands int
	inUpdate bool
}

var functions = map[string]function{
	"attribute_exists":     {opExists, 1, false},
	"attribute_not_exists": {opNotExists, 1, false},
	"attribute_type":       {opType, 2, false},
	"begins_with":          {opBeginsWith, 2, false},
	"contains":             {opContains, 2, false},
	"size":                 {opSize, 1, false},
	"if_not_exists":        {opIfNotExists, 2, true},
	"list_append":          {opListAppend, 2, true},
}

// A node is a part of the syntax tree. It never changes once parsed.
type node struct {
	op     op
	parens bool   // it was in parentheses
	args   []node // operands
	path   path   // of an opPath
	slot   int    // of an opValue: its place in the table of placeholders
}

// A step is a part of a path: an attribute's name, as itself or in the table of
// placeholders, or an index.
type step struct {
	name  string
	slot  int // in the table of names, or noSlot
	index int // of a list, or notIndex
}

const (
	noSlot   = -1
	notIndex = -1
)

func (s step) isIndex() bool { return s.index != notIndex }

// A path leads from an item to a value.
type path []step

// String returns the path as DynamoDB's messages show it.
func (p path) String() string {
	parts := make([]string, len(p))
	for i, s := range p {
		parts[i] = s.name
		if s.isIndex() {
			parts[i] = "[" + strconv.Itoa(s.index) + "]"
		}
	}
	return "[" + strings.Join(parts, ", ") + "]"
}
