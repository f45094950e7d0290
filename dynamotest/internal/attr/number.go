package attr

import (
	"strconv"
	"strings"
)

const (
	maxDigits = 38
	// A decimal is 0.d1d2d3… × 10^exp with d1 ≠ 0, so 1E-130 and 9.9E+125 have
	// these exponents.
	minExp = -129
	maxExp = 126
)

// A decimal is a number in its parts: ±0.d1d2…dn × 10^exp. Neither d1 nor dn is
// zero. Zero has no digits.
type decimal struct {
	neg    bool
	exp    int64
	digits string // one to 38 of '0'…'9'
}

// Canonical returns the text that DynamoDB returns for a number: plain decimal
// without needless zeros. Equal numbers have equal canonical texts. The text is not
// valid with an error, unless the error is Taken.
func Canonical(text string) (string, error) {
	if isCanonicalInt(text) {
		return text, nil
	}
	d, err := parseDecimal(text)
	if AsOlder(err) != nil {
		return "", err
	}
	return d.String(), err
}

// isCanonicalInt reports whether text is a short integer in canonical form, as
// most numbers are.
func isCanonicalInt(text string) bool {
	digits := strings.TrimPrefix(text, "-")
	if len(digits) == 0 || len(digits) > maxDigits {
		return false
	}
	if digits[0] == '0' {
		return text == "0"
	}
	return countDigits(digits) == len(digits)
}

func countDigits(s string) int {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return i
		}
	}
	return len(s)
}

// parseDecimal reads text by the grammar [+-] digits [. digits] [e[+-]digits],
// where the digits of one side of the point may be missing.
func parseDecimal(text string) (decimal, error) {
	var d decimal
	rest := text
	if rest != "" && (rest[0] == '-' || rest[0] == '+') {
		d.neg = rest[0] == '-'
		rest = rest[1:]
	}

	n := countDigits(rest)
	whole, rest := rest[:n], rest[n:]
	fraction := ""
	if strings.HasPrefix(rest, ".") {
		rest = rest[1:]
		n = countDigits(rest)
		fraction, rest = rest[:n], rest[n:]
	}

	shift, ok := parseExponent(rest)
	if !ok || whole == "" && fraction == "" {
		return decimal{}, notNumeric(text)
	}

	d.set(whole, fraction, shift)
	judged, zero := d, d.digits == ""
	if zero { // the newer code also checks its exponent
		judged = decimal{digits: "0", exp: shift - int64(len(fraction)) + 1}
	}

	if wrong := judged.check(); wrong != nil {
		wrong.Older = olderRange(text, judged.exp, shift, int64(len(fraction)))
		wrong.Taken = zero && readByOlder(shift, int64(len(fraction)))
		return decimal{}, wrong // for a zero this value is valid
	}
	return d, nil
}

// readByOlder reports whether the older code can read an exponent: 32 bits must
// hold it, and also its difference to the count of digits after the point.
func readByOlder(shift, fraction int64) bool {
	return shift == int64(int32(shift)) && fraction-shift == int64(int32(fraction-shift))
}

// olderRange returns the older code's text about a number out of range. If 32 bits
// do not hold the number's magnitude, it wraps around.
func olderRange(text string, exp, shift, fraction int64) string {
	switch wrapped := int32(exp); {
	case !readByOlder(shift, fraction):
		return notNumeric(text).Message
	case wrapped > maxExp:
		return msgOverflow
	case wrapped < minExp:
		return msgUnderflow
	}
	return ""
}

// parseExponent reads the exponent after a number's digits. 64 bits must hold it.
// An exponent far out of range is replaced by a smaller one that is still far out
// of range with any digits, because a text is not longer than a request.
func parseExponent(s string) (int64, bool) {
	if s == "" {
		return 0, true
	}
	if s[0] != 'e' && s[0] != 'E' {
		return 0, false
	}
	const farOut = 1 << 40
	exp, err := strconv.ParseInt(s[1:], 10, 64)
	return max(-farOut, min(exp, farOut)), err == nil
}

// set makes d the number whole.fraction × 10^shift, and keeps its sign.
func (d *decimal) set(whole, fraction string, shift int64) {
	whole = strings.TrimLeft(whole, "0")
	fraction = strings.TrimRight(fraction, "0")
	if whole == "" {
		significant := strings.TrimLeft(fraction, "0")
		d.exp = shift - int64(len(fraction)-len(significant))
		d.digits = significant
	} else {
		d.exp = shift + int64(len(whole))
		d.digits = whole
		if fraction != "" {
			d.digits += fraction
		} else {
			d.digits = strings.TrimRight(whole, "0")
		}
	}

	if d.digits == "" {
		*d = decimal{}
	}
}

// check applies the limits of numbers.
func (d decimal) check() *Error {
	switch {
	case len(d.digits) > maxDigits:
		return &Error{Message: msgPrecision}
	case d.exp > maxExp:
		return &Error{Message: msgOverflow}
	case d.exp < minExp:
		return &Error{Message: msgUnderflow}
	}
	return nil
}

// String returns the canonical text.
func (d decimal) String() string {
	n, exp := len(d.digits), int(d.exp)
	if n == 0 {
		return "0"
	}

	buf := make([]byte, 0, 8+max(n, exp, n-exp))
	if d.neg {
		buf = append(buf, '-')
	}

	switch {
	case exp <= 0:
		buf = append(buf, '0', '.')
		buf = appendZeros(buf, -exp)
		buf = append(buf, d.digits...)
	case exp >= n:
		buf = append(buf, d.digits...)
		buf = appendZeros(buf, exp-n)
	default:
		buf = append(buf, d.digits[:exp]...)
		buf = append(buf, '.')
		buf = append(buf, d.digits[exp:]...)
	}
	return string(buf)
}

func appendZeros(dst []byte, n int) []byte {
	for range n {
		dst = append(dst, '0')
	}
	return dst
}

// split splits a canonical text into its parts.
func split(canonical string) decimal {
	var d decimal
	rest, neg := strings.CutPrefix(canonical, "-")
	whole, fraction, _ := strings.Cut(rest, ".")
	d.neg = neg
	d.set(whole, fraction, 0)
	return d
}

// CompareNumbers compares two numbers in canonical form.
func CompareNumbers(a, b string) int {
	aNeg, bNeg := strings.HasPrefix(a, "-"), strings.HasPrefix(b, "-")
	switch {
	case aNeg && bNeg:
		return comparePositive(b[1:], a[1:])
	case aNeg:
		return -1
	case bNeg:
		return 1
	}
	return comparePositive(a, b)
}

// comparePositive compares canonical texts without signs: the longer whole part
// is the greater number, and if both are equally long the texts are compared.
func comparePositive(a, b string) int {
	if d := wholeLen(a) - wholeLen(b); d != 0 {
		return d
	}
	return strings.Compare(a, b)
}

func wholeLen(s string) int {
	if i := strings.IndexByte(s, '.'); i >= 0 {
		return i
	}
	return len(s)
}
