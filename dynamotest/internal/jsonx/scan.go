package jsonx

import (
	"unicode/utf16"
	"unicode/utf8"
)

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

// quoted consumes a string. It returns a part of the input, or a fresh slice if
// the string has escapes.
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

// escaped reads the rest of a string that begins at start and whose first
// escape is at r.pos.
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

// escape reads an escape after its backslash, and appends its meaning.
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
// surrogate pair. Half a pair is refused, because it is not a character, and
// replacing it would make different strings equal.
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
