package jsonx

import (
	"strconv"
	"strings"
)

// MaxDepth is how many containers may be open at once. DynamoDB accepts
// attribute values of 32 levels, each of two containers. It reads far deeper
// ones, to refuse them for their depth. Its own limit is not known.
const MaxDepth = 1000

// A Token names the next value.
type Token uint8

// The kinds of JSON value. Invalid also stands for the end of the input.
const (
	Invalid Token = iota
	Null
	False
	True
	Number
	String
	Array
	Object
)

// A Reader reads one JSON document. The strings that it returns are copies, so
// the input may be reused after the document was read. The zero value reads an
// empty document; call Reset.
type Reader struct {
	data    []byte
	pos     int
	depth   int
	deepest int
	fresh   bool // a container has just been opened: no comma comes before its first member
	err     error
	names   names
}

// NewReader returns a Reader of data.
func NewReader(data []byte) *Reader {
	r := new(Reader)
	r.Reset(data)
	return r
}

// Reset makes r read data from its beginning. r keeps the attribute names that
// it has read, so a reused Reader allocates less.
func (r *Reader) Reset(data []byte) {
	*r = Reader{data: data, names: r.names}
}

// Err returns the first error met.
func (r *Reader) Err() error { return r.err }

// Fail makes err the reader's error, unless it has one already.
func (r *Reader) Fail(err error) {
	if r.err == nil {
		r.err = err
	}
}

// Deepest returns how many containers were open at once, at most, so far.
func (r *Reader) Deepest() int { return r.deepest }

// Pos returns the offset of the next unread byte.
func (r *Reader) Pos() int { return r.pos }

// Peek returns the kind of the next value without consuming it.
func (r *Reader) Peek() Token {
	if r.err != nil {
		return Invalid
	}

	r.space()
	if r.pos >= len(r.data) {
		return Invalid
	}

	switch c := r.data[r.pos]; {
	case c == '{':
		return Object
	case c == '[':
		return Array
	case c == '"':
		return String
	case c == 't':
		return True
	case c == 'f':
		return False
	case c == 'n':
		return Null
	case c == '-' || '0' <= c && c <= '9':
		return Number
	}
	return Invalid
}

// Object opens an object; read its members with Key.
func (r *Reader) Object() { r.open(Object, "Map") }

// Array opens an array; read its elements after More.
func (r *Reader) Array() { r.open(Array, "List") }

func (r *Reader) open(want Token, name string) {
	if !r.expect(want, name) {
		return
	}
	if r.depth++; r.depth > MaxDepth {
		r.syntax("nested too deeply")
		return
	}
	r.deepest = max(r.deepest, r.depth)
	r.pos++
	r.fresh = true
}

// Key returns the next member's name. At the end of the object it closes the
// object and returns false. After true, the member's value must be read.
func (r *Reader) Key() (string, bool) {
	if !r.member('}') {
		return "", false
	}

	b, ok := r.quoted()
	if !ok {
		return "", false
	}

	r.space()
	if r.pos >= len(r.data) || r.data[r.pos] != ':' {
		r.syntax("a colon must follow a member's name")
		return "", false
	}

	r.pos++
	return r.names.intern(b), true
}

// More reports whether the array has another element. After true, the element
// must be read. At the end More closes the array.
func (r *Reader) More() bool { return r.member(']') }

// member steps to the next member of a container, over the comma, or over the
// closing byte.
func (r *Reader) member(closing byte) bool {
	if r.err != nil {
		return false
	}

	first := r.fresh
	r.fresh = false
	r.space()

	if r.pos >= len(r.data) {
		r.syntax("unexpected end")
		return false
	}

	switch c := r.data[r.pos]; {
	case c == closing:
		r.pos++
		r.depth--
		return false
	case first:
		return true
	case c == ',':
		r.pos++
		r.space()
		return true
	}

	r.syntax("a comma or the end of a container is missing")
	return false
}

// String reads a string.
func (r *Reader) String() string {
	if !r.expect(String, "String") {
		return ""
	}
	b, _ := r.quoted()
	return string(b)
}

// Name reads a string that is likely to come again, such as an attribute's
// name. Equal names share their memory.
func (r *Reader) Name() string {
	if !r.expect(String, "String") {
		return ""
	}
	b, ok := r.quoted()
	if !ok {
		return ""
	}
	return r.names.intern(b)
}

// Text reads a string without copying it. The bytes are valid until the next
// call of a method of r, and must not be changed.
func (r *Reader) Text() []byte {
	if !r.expect(String, "String") {
		return nil
	}
	b, _ := r.quoted()
	return b
}

// Bool reads true or false, or a text for one of them, as DynamoDB does.
func (r *Reader) Bool() bool {
	switch r.Peek() {
	case True:
		r.literal("true")
		return r.err == nil
	case False:
		r.literal("false")
	case String:
		at := r.pos
		value, ok := boolTexts[strings.ToLower(r.String())]
		if !ok {
			r.Fail(&TypeError{Want: "Boolean", Got: String, Offset: at})
		}
		return value
	default:
		r.expect(True, "Boolean")
	}
	return false
}

// boolTexts are the texts that DynamoDB converts to a Boolean, in any case.
var boolTexts = map[string]bool{"true": true, "yes": true, "1": true, "false": false, "no": false, "0": false}

// Null consumes a null if it is the next value, and reports whether it was.
func (r *Reader) Null() bool {
	if r.Peek() != Null {
		return false
	}
	r.literal("null")
	return r.err == nil
}

// Int reads an integer. A fraction is cut off, as DynamoDB does.
func (r *Reader) Int() int64 {
	if !r.expect(Number, "Long") {
		return 0
	}

	text := string(r.number())
	if r.err != nil {
		return 0
	}
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return n
	}

	f, err := strconv.ParseFloat(text, 64)
	if err != nil || f >= 1<<63 || f < -1<<63 {
		r.Fail(&TypeError{Want: "Long", Got: Number, Offset: r.pos})
		return 0
	}

	return int64(f)
}

// From returns the part of the input that was read since an offset.
func (r *Reader) From(offset int) []byte { return r.data[offset:r.pos] }

// Skip consumes the next value of any type.
func (r *Reader) Skip() {
	switch r.Peek() {
	case Object:
		r.Object()
		for _, ok := r.Key(); ok; _, ok = r.Key() {
			r.Skip()
		}
	case Array:
		r.Array()
		for r.More() {
			r.Skip()
		}
	case String:
		r.quoted()
	case Number:
		r.number()
	case Null:
		r.literal("null")
	case True, False:
		r.Bool()
	default:
		r.expect(Object, "Map")
	}
}

// Raw consumes the next value and returns its bytes, a part of the input.
func (r *Reader) Raw() []byte {
	r.space()
	start := r.pos
	r.Skip()
	if r.err != nil {
		return nil
	}
	return r.data[start:r.pos]
}

// End checks that nothing but white space is left.
func (r *Reader) End() {
	if r.err != nil {
		return
	}
	if r.space(); r.pos < len(r.data) {
		r.syntax("something follows the document")
	}
}

// expect reports whether the next value is of the wanted kind. Otherwise it
// fails: with a TypeError that calls the kind name, or with a SyntaxError if no
// value follows.
func (r *Reader) expect(want Token, name string) bool {
	if r.err != nil {
		return false
	}
	switch got := r.Peek(); got {
	case want:
		return true
	case Invalid:
		r.syntax("a value is missing")
	default:
		r.Fail(&TypeError{Want: name, Got: got, Offset: r.pos})
	}
	return false
}
