package jsonx

import "fmt"

// A SyntaxError means that a body is not JSON.
type SyntaxError struct {
	Offset int
	Reason string
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("jsonx: %s at byte %d", e.Reason, e.Offset)
}

func (r *Reader) syntax(reason string) {
	r.Fail(&SyntaxError{Offset: r.pos, Reason: reason})
}

// A TypeError means that a value has another type than the one read.
type TypeError struct {
	Want   string // String, Boolean, Long, List, Map or Blob
	Got    Token
	Offset int
}

// Error uses DynamoDB's words, which are those of its Java parser.
func (e *TypeError) Error() string {
	switch e.Got {
	case Object:
		return "Start of structure or map found where not expected"
	case Array:
		if e.Want == "Map" {
			return "Unrecognized collection type java.util.Map"
		}
		return "Unrecognized collection type class java.lang." + e.Want
	}

	switch e.Want {
	case "Boolean":
		if e.Got == String {
			return "Unexpected token received from parser"
		}
	case "Blob":
		return "only base-64-encoded strings are convertible to bytes"
	case "List", "Map":
		return "Unexpected field type"
	}
	return e.Got.String() + " cannot be converted to " + e.Want
}

// String returns the token's name in DynamoDB's messages.
func (t Token) String() string {
	switch t {
	case Null:
		return "NULL_VALUE"
	case False:
		return "FALSE_VALUE"
	case True:
		return "TRUE_VALUE"
	case Number:
		return "NUMBER_VALUE"
	case String:
		return "STRING_VALUE"
	case Array:
		return "START_ARRAY"
	case Object:
		return "START_OBJECT"
	}
	return "INVALID"
}
