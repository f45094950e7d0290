package attr

import (
	"encoding/base64"
	"sync"

	"github.com/homeops/ddbpatterns/dynamotest/internal/jsonx"
)

// DecodeMap reads a JSON object whose members are attribute values: an item, a
// key, or the values of an expression. The error is the first *Error in it, with
// the name of the attribute; the map is then not to be used. JSON of the wrong
// shape is the reader's error.
func DecodeMap(r *jsonx.Reader) (Map, error) {
	open := opened.Get().(*[]Field)
	d := decoder{open: (*open)[:0]}
	m := d.fields(r, 0)
	*open = d.open
	opened.Put(open)
	return m, d.result(r)
}

// opened is room for the fields of maps while these are read: nobody knows before
// their end how many there are.
var opened = sync.Pool{New: func() any { return new([]Field) }}

// Decode reads one attribute value on the same terms.
func Decode(r *jsonx.Reader) (Value, error) {
	var d decoder
	v := d.value(r, 0)
	return v, d.result(r)
}

// A decoder remembers the first value that is not allowed.
type decoder struct {
	key      string  // the top-level attribute being read
	open     []Field // of the maps that are not at their end, one after the other
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

// fields reads the attributes of an item or a map, each of which stands at the
// given depth.
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
	clear(d.open[begin:]) // the room is kept, the values may go
	d.open = d.open[:begin]
	return NewMap(m...)
}

// value reads one value. What is too deep is skipped, so that this recursion is
// bounded; the reader bounds its own.
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
		if r.Null() { // a null member is an absent one
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

// member reads what stands after the name of a type.
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
		if !isTrue(r) {
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

// isTrue reads what a NULL says of itself: there a text is taken for a Boolean.
func isTrue(r *jsonx.Reader) bool {
	if r.Peek() == jsonx.String {
		return r.String() == "true"
	}
	return r.Bool()
}

func (d *decoder) list(r *jsonx.Reader, depth int) []Value {
	list := []Value{}
	r.Array()
	for r.More() {
		list = append(list, d.value(r, depth))
	}
	return list
}

// manyElements is how long a set is before it is looked at while it is read.
const manyElements = 4096

// elements reads those of a set. Of a long one that is refused it returns only so
// many that the reason is among them: millions that repeat a few cost no memory.
func (d *decoder) elements(r *jsonx.Reader, kind Kind) []string {
	var elems []string
	var refused error
	look := manyElements
	r.Array()
	for r.More() {
		elem := element(r, kind)
		if refused == nil {
			elems = append(elems, elem)
		} else if kind == NS && refused.(*Error).InOlder() == msgNSDuplicates {
			_, err := Canonical(elem) // what is not a number comes before duplicates
			d.refuseIf(err)
		}
		if len(elems) == look {
			look *= 4
			_, refused = newSet(kind, elems)
			refused = AsOlder(refused) // the others say it when all is read
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
