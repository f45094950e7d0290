package attr

import (
	"encoding/base64"
	"strings"
)

// An Error is a value that DynamoDB refuses: a ValidationException whose text
// is Message.
type Error struct {
	// Key is the name of the top-level attribute it was found in, when the
	// value was decoded as part of a map.
	Key     string
	Message string
}

func (e *Error) Error() string { return e.Message }

// The texts, in DynamoDB's words.
const (
	msgEmptyValue   = "Supplied AttributeValue is empty, must contain exactly one of the supported datatypes"
	msgManyTypes    = "Supplied AttributeValue has more than one datatypes set, must contain exactly one of the supported datatypes"
	msgEmptyName    = "Empty attribute name"
	msgNotNumeric   = "The parameter cannot be converted to a numeric value"
	msgPrecision    = "Attempting to store more than 38 significant digits in a Number"
	msgOverflow     = "Number overflow. Attempting to store a number with magnitude larger than supported range"
	msgUnderflow    = "Number underflow. Attempting to store a number with magnitude smaller than supported range"
	msgNesting      = "Nesting Levels have exceeded supported limits: Attributes in the item have nested levels beyond supported limit"
	msgNullNotTrue  = msgInvalid + "Null attribute value types must have the value of true"
	msgInvalid      = "One or more parameter values were invalid: "
	msgNSDuplicates = "Input collection contains duplicates"
)

func emptySet(kind Kind) string {
	switch kind {
	case SS:
		return msgInvalid + "An string set  may not be empty"
	case NS:
		return msgInvalid + "An number set  may not be empty"
	}
	return msgInvalid + "Binary sets should not be empty"
}

func duplicates(kind Kind, elems []string) string {
	switch kind {
	case NS:
		return msgNSDuplicates
	case SS:
		return msgInvalid + "Input collection [" + strings.Join(elems, ", ") + "] contains duplicates."
	}
	encoded := make([]string, len(elems))
	for i, e := range elems {
		encoded[i] = base64.StdEncoding.EncodeToString([]byte(e))
	}
	return msgInvalid + "Input collection [" + strings.Join(encoded, ", ") + "]of type BS contains duplicates."
}

func notNumeric(text string) *Error {
	if text == "" {
		return &Error{Message: msgNotNumeric}
	}
	return &Error{Message: msgNotNumeric + ": " + text}
}
