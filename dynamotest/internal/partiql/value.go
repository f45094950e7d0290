package partiql

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/homeops/ddbpatterns/dynamotest/internal/attr"
)

func wholeNumber(text string) bool { return !strings.ContainsAny(text, ".eE") }

// listIndex reads an index of a list, which must not be negative.
func listIndex(text string) (int, bool) {
	i, err := strconv.ParseInt(text, 10, 32)
	return int(max(i, 0)), err == nil && i >= 0
}

// insert converts the item of an INSERT.
func (t *translator) insert(s *Statement, c *clauses) {
	switch {
	case c.bare:
		t.refuse("Unsupported operation: Insert")
	case c.at:
		t.refuse("AT is not supported in insert statements.")
	case c.item.kind != nodeTuple:
		t.refuse(textNoItem)
	}

	if t.refused != nil {
		return
	}

	for name, value := range t.members(c.item, "root") {
		m := member{name: name}
		switch value.kind {
		case nodeParameter:
			m.value = term{kind: termParameter, parameter: value.slot}
		case nodePath:
			t.refuse("Unsupported data type: PATH under key root")
		case nodeName, nodeOperator, nodeIs, nodeCall, nodeAggregate, nodeMissing, nodeSelect:
			t.refuseAt(value.token, "Unsupported data type: %s under key root", value.label())
		default:
			m.value = t.operand(value)
		}
		s.item = append(s.item, m)
	}
}

// label returns the name of a node that is not a value, for texts about the top
// level of an item.
func (n *node) label() string {
	switch n.kind {
	case nodePath:
		return "PATH"
	case nodeIs:
		return "is"
	case nodeMissing, nodeSelect:
		return strings.ToUpper(n.token.text)
	}
	return n.text
}

// members yields the names and values of a tuple.
func (t *translator) members(n *node, at string) func(yield func(string, *node) bool) {
	return func(yield func(string, *node) bool) {
		seen := make(map[string]bool, len(n.args)/2)
		for pair := range slices.Chunk(n.args, 2) {
			name, value := pair[0], pair[1]
			if name.kind != nodeString {
				t.refuseAt(name.token, "Tuple keys must be of type String. Actual type: %s under %s", name.class(), at)
			}

			if name.text == "" {
				t.refuse(textEmptyName)
			}

			if seen[name.text] {
				t.refuseAt(n.token, "Duplicate keys in tuple. Key: %s under %s", name.text, at)
			}

			seen[name.text] = true
			if t.refused != nil || !yield(name.text, value) {
				return
			}
		}
	}
}

// value converts a literal to a value. For the text of an error, at is its
// place in the value around it.
func (t *translator) value(n *node, at string) attr.Value {
	switch n.kind {
	case nodeString:
		return attr.String(n.text)
	case nodeNumber:
		v, err := attr.Number(n.text)
		t.refuseValue(err, " under "+at)
		return v
	case nodeTrue, nodeFalse:
		return attr.Bool(n.kind == nodeTrue)
	case nodeNull:
		return attr.Null()
	case nodeList:
		list := make([]attr.Value, len(n.args))
		for i, arg := range n.args {
			list[i] = t.value(arg, at+"["+strconv.Itoa(i)+"]")
		}
		return attr.List(list...)
	case nodeTuple:
		var fields []attr.Field
		for name, value := range t.members(n, at) {
			fields = append(fields, attr.Field{Name: name, Value: t.value(value, at+"."+name)})
		}
		return attr.MapOf(attr.NewMap(fields...))
	case nodeBag:
		return t.bag(n, at)
	}

	t.refuseAt(n.token, "Unsupported data type: %s under key %s", n.class(), at)
	return attr.Value{}
}

// refuseValue refuses a value that DynamoDB does not accept.
func (t *translator) refuseValue(err error, where string) {
	var wrong *attr.Error
	if errors.As(attr.AsOlder(err), &wrong) {
		t.refuse("%s%s", wrong.InOlder(), where)
	}
}

// bag converts a set.
func (t *translator) bag(n *node, at string) attr.Value {
	if len(n.args) == 0 {
		t.refuse(textEmptyBag)
		return attr.Value{}
	}

	kind := n.args[0].kind
	elems := make([]string, len(n.args))
	for i, arg := range n.args {
		if arg.kind != kind || kind != nodeString && kind != nodeNumber {
			t.refuse(textMixedBag)
		}
		elems[i] = arg.text
		if kind == nodeNumber {
			t.value(arg, at)
		}
	}

	if t.refused != nil {
		return attr.Value{}
	}

	set := attr.StringSet
	if kind == nodeNumber {
		set = attr.NumberSet
	}

	v, err := set(elems...)
	t.refuseValue(err, "")
	return v
}
