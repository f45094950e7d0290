package attr

import "strings"

// AppendKey appends the key bytes of a string, a number or a binary.
// bytes.Compare of the results is DynamoDB's order of two values of one kind,
// and no result is a prefix of another, so that keys can be joined: that of a
// partition key and then that of a sort key.
//
// A string or binary is written as it is, with a zero byte as 00 FF, and with
// 00 01 at the end. A number is a class byte (negative, zero, positive) and,
// unless zero, its exponent, its digits in pairs and an end byte, all inverted
// if it is negative. Values of other kinds are not keys, and append nothing.
func AppendKey(dst []byte, v Value) []byte {
	switch v.Kind() {
	case S, B:
		return appendText(dst, v.text)
	case N:
		return appendNumber(dst, v.text)
	}
	return dst
}

// AppendKeyPrefix appends a prefix of key bytes: a string, or a binary, begins
// with v exactly if its key bytes begin with this prefix. Values of other kinds
// have no prefix, and append nothing.
func AppendKeyPrefix(dst []byte, v Value) []byte {
	if v.Kind() != S && v.Kind() != B {
		return dst
	}
	return escapeText(dst, v.text)
}

func appendText(dst []byte, s string) []byte { return append(escapeText(dst, s), 0, 1) }

// escapeText writes a zero byte as 00 FF, which sorts behind the end, 00 01.
func escapeText(dst []byte, s string) []byte {
	for {
		i := strings.IndexByte(s, 0)
		if i < 0 {
			break
		}
		dst = append(dst, s[:i]...)
		dst = append(dst, 0, 0xFF)
		s = s[i+1:]
	}
	return append(dst, s...)
}

const (
	classNegative = iota + 1
	classZero
	classPositive
)

// appendNumber appends a number in the format of AppendKey.
func appendNumber(dst []byte, canonical string) []byte {
	d := split(canonical)
	if d.digits == "" {
		return append(dst, classZero)
	}

	class := byte(classPositive)
	if d.neg {
		class = classNegative
	}

	dst = append(dst, class)
	start := len(dst)
	dst = append(dst, byte(d.exp-minExp)) // 0 … 255: the range of exponents fits exactly

	// A pair of digits is written as 1 to 100, so that the 0 at the end sorts before all.
	for i := 0; i < len(d.digits); i += 2 {
		pair := (d.digits[i] - '0') * 10
		if i+1 < len(d.digits) {
			pair += d.digits[i+1] - '0'
		}
		dst = append(dst, pair+1)
	}

	dst = append(dst, 0)
	if d.neg { // the greater its magnitude, the less it is
		for i := start; i < len(dst); i++ {
			dst[i] = ^dst[i]
		}
	}

	return dst
}
