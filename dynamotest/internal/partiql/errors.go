package partiql

import "fmt"

// An Error is a ValidationException.
type Error struct{ Message string }

func (e *Error) Error() string { return e.Message }

func invalid(format string, args ...any) *Error {
	return &Error{fmt.Sprintf(format, args...)}
}

// malformed is the error of a source that is not a statement. The detail is empty
// if DynamoDB cannot even split the source into words.
func malformed(detail string) *Error {
	return &Error{"Statement wasn't well formed, can't be processed: " + detail}
}

// The faults of a source, in DynamoDB's words.
const (
	noDetail         = ""
	notAStatement    = "Expected data manipulation"
	leftover         = "Unexpected token after expression"
	secondStatement  = "Unexpected token after semicolon. (Only one query is allowed.)"
	unexpectedTerm   = "Unexpected term"
	unexpectedWord   = "Unexpected keyword"
	unexpectedSign   = "Unexpected operator"
	noRightSide      = "Missing right-hand side expression of infix operator"
	noIdentifier     = "Expected identifier for simple path"
	noTypeName       = "Expected type name"
	noPathComponent  = "Invalid path dot component"
	tooDeep          = "The statement is nested too deeply"
	textAlias        = "Aliasing is not supported"
	textEmptyName    = "Path component cannot be an empty string"
	textLongPath     = "A path may contain at most 2 components in the FROM clause"
	textOneTable     = "FROM clause may only contain a single table name"
	textNoIndex      = "This operation is not supported on an index"
	textNoSource     = "Unexpected from source"
	textSourceList   = "Invalid list expression in source."
	textOneSource    = "Only select from a single table or index is supported."
	textNoValue      = "Select projection doesn't support value or pivot keywords"
	textColumn       = "Unexpected path component"
	textHierarchy    = "Changing item's hierarchy while reading isn't supported"
	textEmptyBag     = "Empty bags are not supported"
	textMixedBag     = "Unsupported data type in Bag. DynamoDB only supports either numbers or strings in bags"
	textNoCondition  = "WHERE clause must contain an expression that resolves to a boolean"
	textNoOperands   = "The arguments to AND/OR must be Expressions"
	textNoNegation   = "The argument to NOT must be a Type or Expression"
	textIsOperand    = "The left hand side argument to IS must be a Variable Reference, Literal, or Path"
	textInOperands   = "IN operator must have a left hand argument of type Variable Reference and right hand argument of type Seq with at least one member"
	textMissing      = "MISSING must be compared using IS operator"
	textExists       = "EXISTS can only be used in ExecuteTransaction write requests."
	textReturnStar   = "Expected '*' after ( MODIFIED | ALL ) ( NEW | OLD ) in RETURNING clause"
	textReturnOne    = "Invalid syntax with multiple returning elements in RETURNING clause"
	textKeyEquality  = "Where clause does not contain a mandatory equality on all key attributes"
	textParameters   = "Number of parameters in request and statement don't match."
	textOrderNoWhere = "Must have WHERE clause in the statement when using ORDER BY clause."
	textOrderNoHash  = "Must have at least one non-optional hash key condition in WHERE clause when using ORDER BY clause."
	textOrderByHash  = "Must have hash key in ORDER BY clause when more than one hash key condition specified in WHERE clause."
	textOverlap      = "Overlapping conditions with range keys are not supported in where clause"
	textNoItem       = "Unsupported format in item expression. Please use struct format {...} to express item values for insert statement."
	textNesting      = "Nesting Levels have exceeded supported limits: Attributes in the item have nested levels beyond supported limit"
)
