package expr

import (
	"fmt"
	"strings"

	"github.com/homeops/ddbpatterns/dynamotest/internal/attr"
)

// The names of the expressions in requests and messages.
const (
	ConditionExpression    = "ConditionExpression"
	FilterExpression       = "FilterExpression"
	UpdateExpression       = "UpdateExpression"
	ProjectionExpression   = "ProjectionExpression"
	KeyConditionExpression = "KeyConditionExpression"
)

// The names of the parameters that expressions have replaced.
const (
	Expected         = "Expected"
	QueryFilter      = "QueryFilter"
	ScanFilter       = "ScanFilter"
	AttributeUpdates = "AttributeUpdates"
	AttributesToGet  = "AttributesToGet"
	KeyConditions    = "KeyConditions"
)

// An Error is a ValidationException.
type Error struct {
	Clause string // the expression that is invalid, or empty
	Reason string

	// Last says that DynamoDB reports the error only after errors of the request's
	// other expressions and placeholders.
	Last bool
}

func (e *Error) Error() string {
	if e.Clause == "" {
		return e.Reason
	}
	return "Invalid " + e.Clause + ": " + e.Reason
}

// The texts of errors without parameters, in DynamoDB's words.
const (
	msgTooLong       = "Expression size has exceeded the maximum allowed size;"
	msgEmpty         = "The expression can not be empty;"
	msgParens        = "The expression has redundant parentheses;"
	msgTooDeep       = "The expression is nested too deeply"
	msgMissing       = "The provided expression refers to an attribute that does not exist in the item"
	msgOperandType   = "An operand in the update expression has an incorrect data type"
	msgDocumentPath  = "The document path provided in the update expression is invalid for update"
	msgNesting       = "Nesting Levels have exceeded supported limits: Attributes in the item have nested levels beyond supported limit"
	msgKeyNested     = "KeyConditionExpressions cannot have conditions on nested attributes"
	msgKeyOperations = "KeyConditionExpressions cannot contain nested operations"
	msgKeyTwice      = "KeyConditionExpressions must only contain one condition per key"
	msgKeyManyNames  = "Invalid condition in KeyConditionExpression: Multiple attribute names used in one condition"
	msgKeyNoName     = "Invalid condition in KeyConditionExpression: No key attribute specified"
	msgKeyMismatch   = "Query key condition not supported"
	msgKeyTooMany    = "Conditions can be of length 1 or 2 only"
	msgKeyNotIndexed = "Attempted conditional constraint is not an indexable operation"
	msgNoName        = "Empty attribute name"

	msgInvalidValues    = "One or more parameter values were invalid: "
	msgComparisonKinds  = msgInvalidValues + "AttributeValues inside AttributeValueList must be of same type"
	msgComparisonBounds = "The BETWEEN condition was provided a range where the lower bound is greater than the upper bound"
	msgActionNoValue    = msgInvalidValues + "Only DELETE action is allowed when no attribute value is specified"
	msgAttributeKind    = "Type mismatch for attribute to update"
)

// Texts with parameters.
func msgSyntax(token, near string) string {
	return fmt.Sprintf(`Syntax error; token: "%s", near: "%s"`, token, near)
}

func msgOperators(n int) string {
	return fmt.Sprintf("The expression contains too many operators; number of operators: %d", n)
}

func msgReserved(word string) string {
	return "Attribute name is a reserved keyword; reserved keyword: " + word
}

func msgUndefinedName(name string) string {
	return "An expression attribute name used in the document path is not defined; attribute name: " + name
}

func msgUndefinedValue(name string) string {
	return "An expression attribute value used in expression is not defined; attribute value: " + name
}

func msgSection(name string) string {
	return fmt.Sprintf(`The "%s" section can only be used once in an update expression;`, name)
}

func msgUnknownFunction(name string) string {
	return "Invalid function name; function: " + name
}

func msgNotInCondition(name string) string {
	return "The function is not allowed in a condition expression; function: " + name
}

func msgNotInUpdate(name string) string {
	return "The function is not allowed in an update expression; function: " + name
}

func msgMisused(name string) string {
	return "The function is not allowed to be used this way in an expression; function: " + name
}

// OperandCount returns the text about an operator or function with a wrong
// number of operands, n.
func OperandCount(name string, n int) string {
	return msgOperandCount(name, n)
}

func msgOperandCount(name string, n int) string {
	return fmt.Sprintf("Incorrect number of operands for operator or function; operator or function: %s, number of operands: %d", name, n)
}

func msgOperand(name, kind string) string {
	return fmt.Sprintf("Incorrect operand type for operator or function; operator or function: %s, operand type: %s", name, kind)
}

func msgActionOperand(action string, kind attr.Kind) string {
	return fmt.Sprintf("Incorrect operand type for operator or function; operator: %s, operand type: %s, typeSet: ALLOWED_FOR_%s_OPERAND",
		action, longKind(kind), action)
}

func msgNeedsPath(name string) string {
	return "Operator or function requires a document path; operator or function: " + name
}

func msgDistinct(name, operand string) string {
	return fmt.Sprintf("The first operand must be distinct from the remaining operands for this operator or function; operator: %s, first operand: %s", name, operand)
}

func msgAttributeType(name string) string {
	return fmt.Sprintf("Invalid attribute type name found; type: %s, valid types: {B,NULL,SS,BOOL,L,BS,N,NS,S,M}", name)
}

func msgBetween(rule string, lo, hi attr.Value) string {
	return fmt.Sprintf("The BETWEEN operator requires %s; lower bound operand: AttributeValue: %s, upper bound operand: AttributeValue: %s",
		rule, describe(lo), describe(hi))
}

const (
	betweenTypes = "same data type for lower and upper bounds"
	betweenOrder = "upper bound to be greater than or equal to lower bound"
)

func msgPaths(relation string, a, b path) string {
	return fmt.Sprintf("Two document paths %s with each other; must remove or rewrite one of these paths; path one: %s, path two: %s",
		relation, a, b)
}

func msgIndex(digits string) string {
	return fmt.Sprintf("List index is not within the allowable range; index: [%s]", digits)
}

func msgPathDepth(n int) string {
	return fmt.Sprintf("The document path has too many nesting elements; nesting levels: %d", n)
}

func msgInOperands(n int) string {
	return fmt.Sprintf("The IN operator is provided with too many operands; number of operands: %d", n)
}

func msgKeyOperator(name string) string {
	return "Invalid operator used in KeyConditionExpression: " + name
}

func msgKeyFirstOperand(name string) string {
	return "Invalid condition in KeyConditionExpression: " + name + " operator must have the key attribute as its first operand"
}

func msgKeyExceeded(conditions, attributes int) string {
	return fmt.Sprintf("The number of query conditions (%d) exceeds the number of key attributes defined in the schema (%d)", conditions, attributes)
}

func msgKeyMissed(name string) string {
	return "Query condition missed key schema element: " + name
}

// The texts about the key of a global index with several attributes, as other
// projects' tests saw them on AWS in 2026.
func msgHashUnequal(names []string) string {
	return "HASH key attributes " + strings.Join(names, ", ") + " must have equality conditions specified in the query"
}

func msgRangeUnequal(names []string, last string) string {
	return "RANGE key attributes " + strings.Join(names, ", ") +
		" must have equality conditions specified in the query because a condition is present on key attribute " + last
}

func msgComparisonCount(operator string) string {
	return msgInvalidValues + "Invalid number of argument(s) for the " + operator + " ComparisonOperator"
}

func msgComparisonKind(operator string, kind attr.Kind) string {
	return fmt.Sprintf(msgInvalidValues+"ComparisonOperator %s is not valid for %s AttributeValue type", operator, kind)
}

func msgSelectedTwice(name string) string {
	return msgInvalidValues + "Duplicate value in attribute name: " + name
}

func msgActionKind(action string, kind attr.Kind) string {
	return msgInvalidValues + action + " is not supported for the type " + longKind(kind)
}

func msgUnused(field string, keys []string) string {
	return fmt.Sprintf("Value provided in %s unused in expressions: keys: {%s}", field, strings.Join(keys, ", "))
}

func msgPlaceholder(field, key string) string {
	if key == "" {
		return field + " contains invalid key: The expression attribute map contains an empty key;"
	}
	return fmt.Sprintf(`%s contains invalid key: Syntax error; key: "%s"`, field, key)
}

func msgWrongName(reason, key string) string {
	return "ExpressionAttributeNames contains invalid value: " + reason + " for key " + key
}

// describe returns a scalar as DynamoDB's messages show it.
func describe(v attr.Value) string {
	return fmt.Sprintf("{%s:%s}", v.Kind(), v.Str())
}

// longKind returns the name of a kind in messages about ADD and DELETE.
func longKind(k attr.Kind) string {
	switch k {
	case attr.S:
		return "STRING"
	case attr.N:
		return "NUMBER"
	case attr.B:
		return "BINARY"
	case attr.BOOL:
		return "BOOLEAN"
	case attr.L:
		return "LIST"
	case attr.M:
		return "MAP"
	}
	return k.String()
}
