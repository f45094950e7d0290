package jsonx

import "unicode/utf8"

// Strings are searched eight bytes at a time, as one machine word. ones has 1
// in each byte, tops the highest bit.
const (
	ones = 0x0101010101010101
	tops = 0x8080808080808080
)

// plain returns how many bytes at the beginning of s are ASCII and need no
// escape in a JSON string. Nearly all bytes are such.
func plain[T string | []byte](s T) int {
	i := 0
	for ; len(s)-i >= 8; i += 8 {
		if special(word(s[i:])) != 0 {
			break
		}
	}
	for ; i < len(s); i++ {
		if c := s[i]; c < ' ' || c == '"' || c == '\\' || c >= utf8.RuneSelf {
			break
		}
	}
	return i
}

// word reads eight bytes; the compiler makes one load of it.
func word[T string | []byte](s T) uint64 {
	_ = s[7]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}

// special returns a value other than zero if one of the eight bytes needs an
// escape or is not ASCII. It finds a byte below n by subtraction: that borrows
// from the highest bit.
func special(w uint64) uint64 {
	quote, backslash := w^'"'*ones, w^'\\'*ones
	control := (w - ' '*ones) &^ w
	return (w | control | (quote-ones)&^quote | (backslash-ones)&^backslash) & tops
}
