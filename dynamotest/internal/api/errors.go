package api

import (
	"errors"
	"fmt"
	"strings"

	"github.com/homeops/ddbpatterns/dynamotest/internal/attr"
)

// The codes of the errors that the engine answers with.
const (
	AccessDenied            = "AccessDeniedException"
	ConditionalCheckFailed  = "ConditionalCheckFailedException"
	IdempotentMismatch      = "IdempotentParameterMismatchException"
	InternalServerError     = "InternalServerError"
	LimitExceeded           = "LimitExceededException"
	RequestTooLarge         = "RequestEntityTooLargeException"
	ResourceInUse           = "ResourceInUseException"
	ResourceNotFound        = "ResourceNotFoundException"
	SerializationException  = "SerializationException"
	ServerClosed            = "ServerClosed" // not an error of AWS
	ServiceUnavailable      = "ServiceUnavailable"
	TableNotFound           = "TableNotFoundException"
	Throttling              = "ThrottlingException"
	ThroughputExceeded      = "ProvisionedThroughputExceededException"
	TransactionCanceled     = "TransactionCanceledException"
	UnknownOperation        = "UnknownOperationException"
	ValidationException     = "ValidationException"
	invalidParameterValues  = "One or more parameter values were invalid: "
	transactionCanceledText = "Transaction cancelled, please refer cancellation reasons for specific reasons "
)

// An Error is an error reply.
type Error struct {
	Code    string
	Message string

	Item    attr.Map // the stored item of a failed condition, if the request asks for it
	Reasons []Reason // those of a cancelled transaction, one for each action

	// WholeRequest is true if the error of one action of a transaction refuses
	// the request, instead of becoming the reason of a cancellation.
	WholeRequest bool

	// Throttled has the reasons why a request was throttled.
	Throttled []ThrottlingReason

	// Layer is the layer that found the error. The fields below are for
	// operations that report it differently: see Told.
	Layer Layer
	First string // for OfModel: the first violation, if no member is missing
	Older string // for an attribute value: the older code's text, if it is different
}

// A Reason is the result of one action of a cancelled transaction.
type Reason struct {
	Code    string // "None" for an action that would have succeeded
	Message string
	Item    attr.Map
}

// A ThrottlingReason names the resource that had no capacity left.
type ThrottlingReason struct{ Reason, Resource string }

// NoReason is the code of an action that did not cause the cancellation.
const NoReason = "None"

// InvalidReason is the code of an invalid action of a transaction, or of an invalid
// statement of a batch.
const InvalidReason = "ValidationError"

// ShortCode returns the code of an error inside a reply.
func ShortCode(code string) string {
	switch code {
	case ValidationException:
		return InvalidReason
	case Throttling:
		return "ThrottlingError"
	}
	return strings.TrimSuffix(code, "Exception")
}

func (e *Error) Error() string { return e.Code + ": " + e.Message }

// Invalid returns a ValidationException.
func Invalid(format string, args ...any) *Error {
	return &Error{Code: ValidationException, Message: fmt.Sprintf(format, args...)}
}

// Wrong returns the ValidationException of an error of package expr, partiql or
// attr. Their texts are DynamoDB's.
func Wrong(err error) *Error {
	wrong := &Error{Code: ValidationException, Message: err.Error()}
	var value *attr.Error
	if errors.As(err, &value) {
		wrong.Older = value.Older
	}
	return wrong
}

// OfWhole marks an error that refuses a transaction as a whole.
func OfWhole(err *Error) *Error {
	err.WholeRequest = true
	return err
}

// Unknown returns the error of an operation that does not exist.
func Unknown(name string) *Error {
	return &Error{Code: UnknownOperation, Message: fmt.Sprintf("dynamotest does not have %.100q", name)}
}

// InvalidParameter returns a ValidationException about the values of parameters.
func InvalidParameter(format string, args ...any) *Error {
	return Invalid(invalidParameterValues+format, args...)
}

// Canceled returns the error of a cancelled transaction.
func Canceled(reasons []Reason) *Error {
	codes := make([]byte, 0, 32*len(reasons))
	for i, r := range reasons {
		if i > 0 {
			codes = append(codes, ", "...)
		}
		codes = append(codes, r.Code...)
	}
	return &Error{
		Code:    TransactionCanceled,
		Message: transactionCanceledText + "[" + string(codes) + "]",
		Reasons: reasons,
	}
}
