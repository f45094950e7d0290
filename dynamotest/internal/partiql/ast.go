package partiql

import (
	"github.com/homeops/ddbpatterns/dynamotest/internal/attr"
	"github.com/homeops/ddbpatterns/dynamotest/internal/expr"
)

// A Kind is what a statement does.
type Kind uint8

// The kinds of statement.
const (
	Select Kind = iota + 1
	Insert
	Update
	Delete
	Exists // a SELECT whose one item must exist, in a transaction
)

// Writes reports whether the statement belongs among writes.
func (k Kind) Writes() bool { return k != Select }

// A Returning says which attributes a write returns.
type Returning uint8

// The attributes that RETURNING may ask for.
const (
	ReturnNothing Returning = iota
	AllOld
	AllNew
	ModifiedOld
	ModifiedNew
)

var returningNames = [...]string{"", "ALL OLD", "ALL NEW", "MODIFIED OLD", "MODIFIED NEW"}

func (r Returning) String() string { return returningNames[r] }

// A Statement is a parsed source, even if DynamoDB refuses it. It never changes
// once parsed.
type Statement struct {
	Kind      Kind
	Table     string
	Index     string      // of a SELECT, or empty
	Columns   []expr.Path // of a SELECT; empty for *
	OrderBy   []Order     // of a SELECT
	Returning Returning   // of an UPDATE or a DELETE

	where      *term // nil without one
	item       []member
	actions    []action
	parameters int
	refused    *Error // a part that DynamoDB does not support
}

// An Order is one attribute that a SELECT orders by.
type Order struct {
	Name       string
	Descending bool
}

// A member is an attribute of the inserted item.
type member struct {
	name  string
	value term
}

// An action changes one path.
type action struct {
	verb  verb
	path  expr.Path
	value term

	notASet *Error // of set_add and set_delete
}

type verb uint8

const (
	verbSet verb = iota
	verbRemove
	verbAdd    // SET s = set_add(s, …)
	verbDelete // SET s = set_delete(s, …)
)

type termKind uint8

const (
	termLiteral termKind = iota
	termParameter
	termPath
	termCall
)

// A term is a part of a condition, or a value that SET assigns.
type term struct {
	kind      termKind
	value     attr.Value // of a literal
	parameter int        // counted from zero
	path      expr.Path
	op        string // of a call, by its name in package expr
	args      []term
}

func call(op string, args ...term) term { return term{kind: termCall, op: op, args: args} }

func literal(v attr.Value) term { return term{kind: termLiteral, value: v} }

// is reports whether t is a call of op.
func (t *term) is(op string) bool { return t.kind == termCall && t.op == op }

// bind returns t with its parameters filled in.
func (t *term) bind(parameters []attr.Value) term {
	out := *t
	switch t.kind {
	case termParameter:
		return literal(parameters[t.parameter])
	case termCall:
		out.args = make([]term, len(t.args))
		for i := range t.args {
			out.args[i] = t.args[i].bind(parameters)
		}
	}
	return out
}

// expr returns a bound term as a Term of package expr.
func (t *term) expr() expr.Term {
	switch t.kind {
	case termLiteral, termParameter:
		return expr.Literal(t.value)
	case termPath:
		return expr.Attribute(t.path)
	}
	args := make([]expr.Term, len(t.args))
	for i := range t.args {
		args[i] = t.args[i].expr()
	}
	return expr.Apply(t.op, args...)
}
