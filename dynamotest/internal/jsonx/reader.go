package jsonx

import (
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// MaxDepth is how many containers may be open at once. An attribute value of
// the deepest nesting DynamoDB takes (32) needs two for each level, the request
// around it a few more.
const MaxDepth = 128

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

// A Reader reads one JSON document. Strings it returns are copies: the input
// may be reused once the document has been read. The zero value reads an empty
// document; call Reset.
type Reader struct {
	data  []byte
	pos   int
	depth int
	fresh bool // a container has just been opened: no comma comes before its first member
	err   error
	names names
}

// NewReader returns a Reader of data.
func NewReader(data []byte) *Reader {
	r := new(Reader)
	r.Reset(data)
	return r
}

// Reset makes r read data from its beginning. What r remembers of attribute
// names is kept, so a reused Reader allocates less.
func (r *Reader) Reset(data []byte) {
	r.data, r.pos, r.depth, r.fresh, r.err = data, 0, 0, false, nil
}

// Err returns the first error met.
func (r *Reader) Err() error { return r.err }

// Fail makes err the reader's error, unless it has one.
func (r *Reader) Fail(err error) {
	if r.err == nil {
		r.err = err
	}
}

// Pos returns the offset of the next unread byte.
func (r *Reader) Pos() int { return r.pos }

// Peek tells the kind of the next value without consuming it.
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
	r.pos++
	r.fresh = true
}

// Key returns the next member's name. It returns false at the end of the
// object, which it closes. After true the member's value must be read.
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

// More reports whether the array has another element, which must then be read.
// At the end it closes the array.
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

// Name reads a string that is likely to be met again, such as an attribute's
// name, and shares its memory with earlier readings.
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

// Bool reads true or false.
func (r *Reader) Bool() bool {
	switch r.Peek() {
	case True:
		r.literal("true")
		return r.err == nil
	case False:
		r.literal("false")
	default:
		r.expect(True, "Boolean")
	}
	return false
}

// Null consumes a null, and reports whether there was one.
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

// Skip consumes the next value, whatever it is.
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

// expect reports whether the next value is of the kind wanted, and fails with a
// TypeError that calls it name, or with a SyntaxError when there is no value.
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

func (r *Reader) space() {
	for r.pos < len(r.data) {
		switch r.data[r.pos] {
		case ' ', '\n', '\r', '\t':
			r.pos++
		default:
			return
		}
	}
}

func (r *Reader) literal(word string) {
	if string(r.data[r.pos:min(len(r.data), r.pos+len(word))]) != word {
		r.syntax("unknown literal")
		return
	}
	r.pos += len(word)
}

// number consumes a number and returns its text.
func (r *Reader) number() []byte {
	start := r.pos
	r.accept('-')
	if !r.accept('0') && r.digits() == 0 {
		r.syntax("malformed number")
		return nil
	}
	if r.accept('.') && r.digits() == 0 {
		r.syntax("malformed number")
		return nil
	}
	if r.accept('e') || r.accept('E') {
		if !r.accept('+') {
			r.accept('-')
		}
		if r.digits() == 0 {
			r.syntax("malformed number")
			return nil
		}
	}
	return r.data[start:r.pos]
}

func (r *Reader) accept(c byte) bool {
	if r.pos >= len(r.data) || r.data[r.pos] != c {
		return false
	}
	r.pos++
	return true
}

func (r *Reader) digits() int {
	start := r.pos
	for r.pos < len(r.data) && '0' <= r.data[r.pos] && r.data[r.pos] <= '9' {
		r.pos++
	}
	return r.pos - start
}

// quoted consumes a string. What it returns is a part of the input, or a fresh
// slice when there were escapes.
func (r *Reader) quoted() ([]byte, bool) {
	if !r.accept('"') {
		r.syntax("a string is missing")
		return nil, false
	}
	start, ascii := r.pos, true
	for r.pos < len(r.data) {
		if r.pos += plain(r.data[r.pos:]); r.pos == len(r.data) {
			break
		}
		switch c := r.data[r.pos]; {
		case c == '"':
			b := r.data[start:r.pos]
			r.pos++
			if !ascii && !utf8.Valid(b) {
				r.syntax("invalid UTF-8 in a string")
				return nil, false
			}
			return b, true
		case c == '\\':
			return r.escaped(start)
		case c < ' ':
			r.syntax("control character in a string")
			return nil, false
		case c >= utf8.RuneSelf:
			ascii = false
		}
		r.pos++
	}
	r.syntax("unexpected end of a string")
	return nil, false
}

// escaped goes on with a string that began at start and whose first escape is
// at r.pos.
func (r *Reader) escaped(start int) ([]byte, bool) {
	buf := append([]byte(nil), r.data[start:r.pos]...)
	for r.pos < len(r.data) {
		c := r.data[r.pos]
		r.pos++
		switch {
		case c == '"':
			if !utf8.Valid(buf) {
				r.syntax("invalid UTF-8 in a string")
				return nil, false
			}
			return buf, true
		case c < ' ':
			r.syntax("control character in a string")
			return nil, false
		case c != '\\':
			buf = append(buf, c)
		default:
			var ok bool
			if buf, ok = r.escape(buf); !ok {
				r.syntax("malformed escape in a string")
				return nil, false
			}
		}
	}
	r.syntax("unexpected end of a string")
	return nil, false
}

// escape reads what follows a backslash and appends what it stands for.
func (r *Reader) escape(dst []byte) ([]byte, bool) {
	if r.pos >= len(r.data) {
		return nil, false
	}
	c := r.data[r.pos]
	r.pos++
	switch c {
	case '"', '\\', '/':
		return append(dst, c), true
	case 'b':
		return append(dst, '\b'), true
	case 'f':
		return append(dst, '\f'), true
	case 'n':
		return append(dst, '\n'), true
	case 'r':
		return append(dst, '\r'), true
	case 't':
		return append(dst, '\t'), true
	case 'u':
		ru, ok := r.unicode()
		return utf8.AppendRune(dst, ru), ok
	}
	return nil, false
}

// unicode reads the four digits of a \u escape, and the second escape of a
// surrogate pair. Half a pair is no character and is refused: to replace it
// would make different strings equal.
func (r *Reader) unicode() (rune, bool) {
	ru, ok := r.hex4()
	if !ok || !utf16.IsSurrogate(ru) {
		return ru, ok
	}
	if !r.accept('\\') || !r.accept('u') {
		return 0, false
	}
	low, ok := r.hex4()
	ru = utf16.DecodeRune(ru, low)
	return ru, ok && ru != utf8.RuneError
}

func (r *Reader) hex4() (rune, bool) {
	if len(r.data)-r.pos < 4 {
		return 0, false
	}
	var n rune
	for _, c := range r.data[r.pos : r.pos+4] {
		switch {
		case '0' <= c && c <= '9':
			c -= '0'
		case 'a' <= c && c <= 'f':
			c -= 'a' - 10
		case 'A' <= c && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, false
		}
		n = n<<4 | rune(c)
	}
	r.pos += 4
	return n, true
}
