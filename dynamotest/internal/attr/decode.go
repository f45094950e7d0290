package attr

import (
	"encoding/base64"
	"sync"

	"github.com/homeops/ddbpatterns/dynamotest/internal/jsonx"
)

// DecodeMap reads a JSON object whose members are attribute values: an item, a
// key, or the values of an expression. It returns the first *Error in it, with
// the name of the attribute; the map must not be used then. JSON of the wrong
// shape is an error of the reader.
func DecodeMap(r *jsonx.Reader) (Map, error) {
	open := opened.Get().(*[]Field)
	d := decoder{open: (*open)[:0]}
	m := d.fields(r, 0)
	if cap(d.open) > usualOpen {
		d.open = nil
	}
	*open = d.open
	opened.Put(open)
	return m, d.result(r)
}

// usualOpen is the most fields for which room is kept. More is rarely needed, and
// would be kept for as long as maps are read.
const usualOpen = 1 << 10

// opened has memory for the fields of maps while they are read, because their
// number is not known before their end.
var opened = sync.Pool{New: func() any { return new([]Field) }}

// Decode reads one attribute value in the same way.
func Decode(r *jsonx.Reader) (Value, error) {
	var d decoder
	v := d.value(r, 0)
	return v, d.result(r)
}

// A decoder keeps the first error of a value.
type decoder struct {
	key      string  // the top-level attribute being read
	open     []Field // of the unfinished maps, one after the other
	err      *Error
	strength strength // of err
}

func (d *decoder) result(r *jsonx.Reader) error {
	if r.Err() != nil || d.err == nil {
		return nil
	}
	return d.err
}

func (d *decoder) refuse(err *Error) {
	s := ofValue
	if err.Taken {
		s = ofTaken
	}
	d.refuseAs(s, err)
}

func (d *decoder) refuseAs(s strength, err *Error) {
	if s > d.strength {
		err.Key = d.key
		d.err, d.strength = err, s
	}
}

func (d *decoder) refuseIf(err error) {
	if err != nil {
		d.refuse(err.(*Error)) // the constructors of this package return no other
	}
}

// fields reads the attributes of an item or a map, at the given depth.
func (d *decoder) fields(r *jsonx.Reader, depth int) Map {
	begin := len(d.open)
	r.Object()
	for name, ok := r.Key(); ok; name, ok = r.Key() {
		if depth == 0 {
			d.key = name
		}

		if name == "" {
			s := ofInnerName
			if depth == 0 {
				s = ofName
			}
			d.refuseAs(s, &Error{Message: msgEmptyName})
		}

		if len(name) > MaxName {
			d.refuse(&Error{Message: MsgLongName})
		}

		v := d.value(r, depth)
		d.open = append(d.open, Field{name, v})
	}

	m := make(Map, len(d.open)-begin)
	copy(m, d.open[begin:])
	clear(d.open[begin:]) // the memory is kept, but not the values
	d.open = d.open[:begin]

	return NewMap(m...)
}

// value reads one value. A value that is too deep is skipped, so that this
// recursion is bounded; the reader limits its own depth.
func (d *decoder) value(r *jsonx.Reader, depth int) Value {
	if depth >= MaxNesting {
		d.refuse(&Error{Message: msgNesting})
		r.Skip()
		return Value{}
	}

	var v Value
	types := 0
	r.Object()

	for name, ok := r.Key(); ok; name, ok = r.Key() {
		kind := KindOf(name)
		if kind == 0 {
			r.Skip()
			continue
		}
		if r.Null() { // a member that is null counts as absent
			continue
		}
		v = d.member(r, kind, depth)
		types++
	}

	switch {
	case types == 1:
		return v
	case types == 0:
		d.refuse(&Error{Message: msgEmptyValue})
	default:
		d.refuse(&Error{Message: msgManyTypes})
	}
	return Value{}
}

// member reads the value after the name of a type.
func (d *decoder) member(r *jsonx.Reader, kind Kind, depth int) Value {
	switch kind {
	case S:
		return String(r.String())
	case N:
		v, err := Number(r.String())
		d.refuseIf(err)
		return v
	case B:
		return Bytes(blob(r))
	case BOOL:
		return Bool(r.Bool())
	case NULL:
		if !r.Bool() {
			d.refuse(&Error{Message: msgNullNotTrue})
		}
		return Null()
	case L:
		return List(d.list(r, depth+1)...)
	case M:
		return MapOf(d.fields(r, depth+1))
	}

	v, err := newSet(kind, d.elements(r, kind))
	if r.Err() == nil {
		d.refuseIf(err)
	}

	return v
}

func (d *decoder) list(r *jsonx.Reader, depth int) []Value {
	list := []Value{}
	r.Array()
	for r.More() {
		list = append(list, d.value(r, depth))
	}
	return list
}

// manyElements is the length from which a set is checked while it is read.
const manyElements = 4096

// elements reads the elements of a set. It checks a long set while it reads it. If the
// set is refused, elements keeps no more of them: they show the reason, so millions of
// repeated elements need no memory.
func (d *decoder) elements(r *jsonx.Reader, kind Kind) []string {
	var elems []string
	var refused error
	checkAt := manyElements
	r.Array()

	for r.More() {
		elem := element(r, kind)
		if refused == nil {
			elems = append(elems, elem)
		} else if kind == NS && refused.(*Error).InOlder() == msgNSDuplicates {
			// An error in a later number takes precedence over the duplicates.
			_, err := Canonical(elem)
			d.refuseIf(err)
		}

		if len(elems) == checkAt {
			checkAt *= 4
			_, err := newSet(kind, elems)
			refused = AsOlder(err) // what the older code accepts is refused after the whole set
		}
	}

	return elems
}

func element(r *jsonx.Reader, kind Kind) string {
	if kind == BS {
		return blob(r)
	}
	return r.String()
}

// blob reads a base64 string.
func blob(r *jsonx.Reader) string {
	if kind := r.Peek(); kind != jsonx.String && kind != jsonx.Invalid {
		r.Fail(&jsonx.TypeError{Want: "Blob", Got: kind, Offset: r.Pos()})
		return ""
	}
	text := r.Text()
	buf := make([]byte, base64.StdEncoding.DecodedLen(len(text)))
	n, err := base64.StdEncoding.Strict().Decode(buf, text)
	if err != nil {
		r.Fail(&jsonx.TypeError{Want: "Blob", Got: jsonx.String, Offset: r.Pos()})
		return ""
	}
	return string(buf[:n])
}
