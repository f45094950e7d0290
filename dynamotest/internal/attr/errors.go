package attr

import (
	"encoding/base64"
	"slices"
	"strconv"
	"strings"
)

// An Error means that DynamoDB refuses a value: it is a ValidationException
// whose text is Message.
type Error struct {
	// Key is the name of the top-level attribute of the value, if it was
	// decoded as part of a map.
	Key     string
	Message string

	// Older is the text of operations whose values are still read by DynamoDB's
	// older code. It is empty if the text is the same as Message.
	Older string

	// Taken is true if the older code accepts the value: a zero, with any
	// exponent. The value returned with the error is then valid.
	Taken bool
}

func (e *Error) Error() string { return e.Message }

// AsOlder returns the error of the older code, which is nil for a value that it
// accepts.
func AsOlder(err error) error {
	if isTaken(err) {
		return nil
	}
	return err
}

func isTaken(err error) bool {
	wrong, ok := err.(*Error)
	return ok && wrong.Taken
}

// InOlder returns the older code's text for e.
func (e *Error) InOlder() string {
	if e.Older != "" {
		return e.Older
	}
	return e.Message
}

// The texts, in DynamoDB's words.
const (
	msgEmptyValue = "Supplied AttributeValue is empty, must contain exactly one of the supported datatypes"
	msgManyTypes  = "Supplied AttributeValue has more than one datatypes set, must contain exactly one of the supported datatypes"
	msgEmptyName  = "Empty attribute name"
	// MsgLongName says that a name has more than MaxName bytes.
	MsgLongName     = "Attribute name is too large, must be less than 65536 bytes"
	msgNotNumeric   = "The parameter cannot be converted to a numeric value"
	msgPrecision    = "Attempting to store more than 38 significant digits in a Number"
	msgOverflow     = "Number overflow. Attempting to store a number with magnitude larger than supported range"
	msgUnderflow    = "Number underflow. Attempting to store a number with magnitude smaller than supported range"
	msgNesting      = "Nesting Levels have exceeded supported limits: Attributes in the item have nested levels beyond supported limit"
	msgNullNotTrue  = msgInvalid + "Null attribute value types must have the value of true"
	msgInvalid      = "One or more parameter values were invalid: "
	msgNSDuplicates = "Input collection contains duplicates"
)

// strength says which of several errors of a map is reported. The order is: an
// error of the name of one of its own attributes, the first error of a value, an
// error of a nested name, and last an error that only one of the two codes has.
type strength uint8

const (
	ofTaken strength = iota + 1
	ofInnerName
	ofValue
	ofName
)

// emptySet is the text of the error of an empty set, with the mistakes that DynamoDB makes.
func emptySet(kind Kind) string {
	switch kind {
	case SS:
		return msgInvalid + "An string set  may not be empty"
	case NS:
		return msgInvalid + "An number set  may not be empty"
	}
	return msgInvalid + "Binary sets should not be empty"
}

// duplicates returns the error of a set that has an element twice. The newer code
// shows the elements sorted as far as it came, which is up to the first repeated
// one. The older code shows them as they were sent.
func duplicates(kind Kind, elems []string) *Error {
	if kind == NS {
		return &Error{Message: msgInvalid + msgNSDuplicates + ".", Older: msgNSDuplicates}
	}

	between, end := ", ", "] contains duplicates."
	sent, ordered := elems, sortedToRepeat(elems)
	if kind == BS {
		between, end = ",", "]of type BS contains duplicates."
		sent, ordered = encoded(sent), encoded(ordered)
	}

	for i, e := range ordered {
		ordered[i] = strconv.Quote(e)
	}
	return &Error{
		Message: msgInvalid + "Input collection [" + strings.Join(ordered, between) + end,
		Older:   msgInvalid + "Input collection [" + strings.Join(sent, ", ") + end,
	}
}

// sortedToRepeat returns the elements, those before the first repeated one sorted.
// One must be repeated.
func sortedToRepeat(elems []string) []string {
	seen := make(map[string]bool, len(elems))
	repeat := slices.IndexFunc(elems, func(e string) bool {
		twice := seen[e]
		seen[e] = true
		return twice
	})
	ordered := slices.Clone(elems)
	slices.Sort(ordered[:repeat])
	return ordered
}

func encoded(elems []string) []string {
	out := make([]string, len(elems))
	for i, e := range elems {
		out[i] = base64.StdEncoding.EncodeToString([]byte(e))
	}
	return out
}

func notNumeric(text string) *Error {
	e := &Error{Message: msgNotNumeric + ": " + text}
	if text == "" {
		e.Older = msgNotNumeric
	}
	return e
}
