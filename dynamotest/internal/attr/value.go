package attr

import (
	"slices"
	"strconv"
	"strings"
)

// A Kind is the type of a value. The zero Kind is that of the zero Value, which
// means that a value is missing.
type Kind uint8

// The kinds, with the names they have on the wire.
const (
	S Kind = iota + 1
	N
	B
	BOOL
	NULL
	L
	M
	SS
	NS
	BS
)

var kindNames = [...]string{"", "S", "N", "B", "BOOL", "NULL", "L", "M", "SS", "NS", "BS"}

// String returns the name of k on the wire.
func (k Kind) String() string { return kindNames[k] }

// KindOf returns the kind called name, or zero.
func KindOf(name string) Kind {
	for k := S; k <= BS; k++ {
		if kindNames[k] == name {
			return k
		}
	}
	return 0
}

// Scalar reports whether k may be the type of a key attribute: S, N or B.
func (k Kind) Scalar() bool { return S <= k && k <= B }

// Set reports whether k is SS, NS or BS.
func (k Kind) Set() bool { return SS <= k && k <= BS }

// Element returns the kind of the elements of a set of kind k.
func (k Kind) Element() Kind {
	if !k.Set() {
		return 0
	}
	return k - SS + S
}

// A Value is one attribute value. It is never changed once made; neither are
// the slices from which it was made or that it returns.
type Value struct {
	held *content // nil in the zero Value; shared by the values of a scalar kind
	text string   // S; N in canonical form; the bytes of B
}

// A content has the kind of a value, so that a Value, of which an item has one for
// each attribute, is three words.
type content struct {
	kind Kind
	yes  bool     // BOOL
	list []Value  // L
	m    Map      // M
	set  []string // SS, NS, BS: sorted, without duplicates
}

// The contents of values without a list, a map or a set.
var (
	ofS, ofN, ofB, ofNull = content{kind: S}, content{kind: N}, content{kind: B}, content{kind: NULL}
	ofTrue, ofFalse       = content{kind: BOOL, yes: true}, content{kind: BOOL}
)

// String returns a value of kind S.
func String(s string) Value { return Value{held: &ofS, text: s} }

// Bytes returns a value of kind B.
func Bytes(b string) Value { return Value{held: &ofB, text: b} }

// Number returns a value of kind N, or an *Error if text is not a number that
// DynamoDB accepts. The value is also valid if the error is Taken.
func Number(text string) (Value, error) {
	canonical, err := Canonical(text)
	if AsOlder(err) != nil {
		return Value{}, err
	}
	return Value{held: &ofN, text: canonical}, err
}

// Int returns a value of kind N.
func Int(n int64) Value { return Value{held: &ofN, text: strconv.FormatInt(n, 10)} }

// Bool returns a value of kind BOOL.
func Bool(b bool) Value {
	if b {
		return Value{held: &ofTrue}
	}
	return Value{held: &ofFalse}
}

// Null returns the value of kind NULL.
func Null() Value { return Value{held: &ofNull} }

// List returns a value of kind L.
func List(elems ...Value) Value { return Value{held: &content{kind: L, list: elems}} }

// MapOf returns a value of kind M.
func MapOf(m Map) Value { return Value{held: &content{kind: M, m: m}} }

// StringSet returns a value of kind SS, or an *Error without elements or with
// duplicates.
func StringSet(elems ...string) (Value, error) { return newSet(SS, elems) }

// NumberSet returns a value of kind NS.
func NumberSet(elems ...string) (Value, error) { return newSet(NS, elems) }

// BytesSet returns a value of kind BS.
func BytesSet(elems ...string) (Value, error) { return newSet(BS, elems) }

func newSet(kind Kind, elems []string) (Value, error) {
	if len(elems) == 0 {
		return Value{}, &Error{Message: emptySet(kind)}
	}

	set := slices.Clone(elems)
	var taken error // returned with the set
	if kind == NS {
		for i, text := range set {
			canonical, err := Canonical(text)
			if isTaken(err) {
				taken = err
			} else if err != nil {
				return Value{}, err
			}
			set[i] = canonical
		}
	}

	slices.SortFunc(set, elementOrder(kind))
	for i := 1; i < len(set); i++ {
		if set[i] == set[i-1] {
			return Value{}, duplicates(kind, elems)
		}
	}

	return Value{held: &content{kind: kind, set: set}}, taken
}

// elementOrder returns the order in which sets of kind keep their elements.
func elementOrder(kind Kind) func(a, b string) int {
	if kind == NS {
		return CompareNumbers
	}
	return strings.Compare
}

// Kind returns the kind of v, zero for the zero Value.
func (v Value) Kind() Kind {
	if v.held == nil {
		return 0
	}
	return v.held.kind
}

// Valid reports whether v is a value, not the zero Value.
func (v Value) Valid() bool { return v.held != nil }

// Str returns the text of an S, the canonical text of an N, the bytes of a B.
func (v Value) Str() string { return v.text }

// Bool returns the value of a BOOL.
func (v Value) Bool() bool { return v.held != nil && v.held.yes }

// List returns the elements of an L.
func (v Value) List() []Value {
	if v.Kind() != L {
		return nil
	}
	return v.held.list
}

// Map returns the fields of an M.
func (v Value) Map() Map {
	if v.Kind() != M {
		return nil
	}
	return v.held.m
}

// Set returns the elements of a set in their order: strings, canonical numbers
// or bytes.
func (v Value) Set() []string {
	if !v.Kind().Set() {
		return nil
	}
	return v.held.set
}
