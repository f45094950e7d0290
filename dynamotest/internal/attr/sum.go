package attr

import (
	"math/big"
	"strconv"
	"strings"
)

// Add returns a + b, exactly. A sum of more than 38 digits, or out of range, is
// an *Error. Both values must be of kind N.
func Add(a, b Value) (Value, error) { return sum(a.text, b.text, false) }

// Sub returns a - b in the same way.
func Sub(a, b Value) (Value, error) { return sum(a.text, b.text, true) }

func sum(a, b string, minus bool) (Value, error) {
	if x, y, ok := shortInts(a, b); ok {
		if minus {
			y = -y
		}
		return Int(x + y), nil
	}

	x, y := split(a), split(b)
	if minus {
		y.neg = !y.neg
	}

	// In units of 10^low both are integers. They have fewer than 300 digits,
	// because both exponents are in range.
	low := min(x.exp-int64(len(x.digits)), y.exp-int64(len(y.digits)))
	total := new(big.Int).Add(x.scaled(low), y.scaled(low))

	digits, neg := strings.CutPrefix(total.String(), "-")
	d := decimal{neg: neg}
	d.set(digits, "", low)

	if err := d.check(); err != nil {
		if err.Error() == msgPrecision {
			err = &Error{Message: msgOverflow} // DynamoDB's text for a sum with too many digits
		}
		return Value{}, err
	}
	return Value{held: &ofN, text: d.String()}, nil
}

// shortInts reads both as integers, if their sum cannot overflow.
func shortInts(a, b string) (x, y int64, ok bool) {
	const short = 18
	if len(a) > short || len(b) > short {
		return 0, 0, false
	}
	x, errX := strconv.ParseInt(a, 10, 64)
	y, errY := strconv.ParseInt(b, 10, 64)
	return x, y, errX == nil && errY == nil
}

// scaled returns d / 10^low, which must be an integer.
func (d decimal) scaled(low int64) *big.Int {
	n := new(big.Int)
	if d.digits == "" {
		return n
	}
	n.SetString(d.digits+strings.Repeat("0", int(d.exp-low)-len(d.digits)), 10)
	if d.neg {
		n.Neg(n)
	}
	return n
}
