package payload

import (
	"errors"
	"strconv"
	"strings"
)

// These are the limits of DynamoDB's numbers: how many significant digits they
// have, and the least and the greatest power of 10 of the first digit.
const (
	maxDigits = 38
	leastTen  = -130
	mostTen   = 125
)

var (
	errNumber    = errors.New("must be a finite decimal number")
	errDigits    = errors.New("must have at most 38 significant digits")
	errMagnitude = errors.New("must be 0 or have a magnitude from 1E-130 to 9.99E+125, the limits of DynamoDB's numbers")
)

// decimal returns the one form of a number, so that equal numbers are the same
// text: without an exponent, and without unnecessary zeros.
func decimal(text string) (string, error) {
	unsigned := strings.TrimLeft(text, "+-")
	if len(text)-len(unsigned) > 1 {
		return "", errNumber
	}

	mantissa, power, err := scientific(unsigned)
	if err != nil {
		return "", err
	}

	whole, fraction, pointed := strings.Cut(mantissa, ".")
	if whole == "" || pointed && fraction == "" || strings.Trim(whole+fraction, "0123456789") != "" {
		return "", errNumber
	}

	digits := strings.TrimLeft(whole+fraction, "0")
	significant := strings.TrimRight(digits, "0")
	power += len(digits) - len(significant) - len(fraction) // the power of the last digit
	switch first := power + len(significant) - 1; {
	case significant == "":
		return "0", nil
	case len(significant) > maxDigits:
		return "", errDigits
	case first < leastTen || first > mostTen:
		return "", errMagnitude
	}

	plain := point(significant, power)
	if text[0] == '-' {
		plain = "-" + plain
	}

	return plain, nil
}

// scientific splits off the exponent, 0 if the text has none.
func scientific(text string) (mantissa string, power int, err error) {
	e := strings.IndexAny(text, "eE")
	if e < 0 {
		return text, 0, nil
	}
	exponent := text[e+1:]
	if power, err = strconv.Atoi(exponent); err != nil {
		return "", 0, errNumber
	}
	const far = 1 << 20 // beyond any power that fits, with any number of zeros before it
	return text[:e], max(-far, min(power, far)), nil
}

// point writes digits, the last of which has the value 10^power.
func point(digits string, power int) string {
	switch whole := len(digits) + power; {
	case power >= 0:
		return digits + strings.Repeat("0", power)
	case whole > 0:
		return digits[:whole] + "." + digits[whole:]
	default:
		return "0." + strings.Repeat("0", -whole) + digits
	}
}
