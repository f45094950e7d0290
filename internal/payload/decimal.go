package payload

import (
	"errors"
	"strconv"
	"strings"
)

// What DynamoDB's numbers can hold: so many significant digits, the first of
// them worth 10 to the power of least to most.
const (
	maxDigits = 38
	leastTen  = -130
	mostTen   = 125
)

var (
	errNumber    = errors.New("must be a finite decimal number")
	errDigits    = errors.New("must have at most 38 significant digits")
	errMagnitude = errors.New("is outside the magnitude of DynamoDB's numbers, 1E-130 to 9.99E+125")
)

// decimal returns the one form of a number, so that two that are equal are the
// same text: no exponent, no zeros but those it needs.
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
	power += len(digits) - len(significant) - len(fraction) // that of the last digit
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

// scientific splits off the exponent, which is 0 where there is none.
func scientific(text string) (mantissa string, power int, err error) {
	e := strings.IndexAny(text, "eE")
	if e < 0 {
		return text, 0, nil
	}
	exponent := text[e+1:]
	if power, err = strconv.Atoi(exponent); err != nil {
		return "", 0, errNumber
	}
	const far = 1 << 20 // beyond any that fits, however many zeros stand before it
	return text[:e], max(-far, min(power, far)), nil
}

// point writes digits whose last is worth 10^power.
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
