package ddb_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/homeops/ddbpatterns/internal/ddb"
)

// wrapped is how the SDK and our stores give an error to their callers.
func wrapped(err error) error {
	return fmt.Errorf("counter: UpdateItem on table limits: %w", &smithy.OperationError{ServiceID: "DynamoDB", Err: err})
}

func cancelled(codes ...string) error {
	err := &types.TransactionCanceledException{}
	for _, code := range codes {
		err.CancellationReasons = append(err.CancellationReasons, types.CancellationReason{Code: aws.String(code)})
	}
	return wrapped(err)
}

func TestWrap(t *testing.T) {
	t.Parallel()
	cause := &types.ResourceNotFoundException{}
	err := ddb.Wrap("counter", "UpdateItem", "limits", cause)
	if !errors.Is(err, error(cause)) || !strings.HasPrefix(err.Error(), "counter: UpdateItem on table limits: ") {
		t.Errorf("got %v", err)
	}
	if ddb.Wrap("counter", "UpdateItem", "limits", nil) != nil {
		t.Error("no error became one")
	}
}

func TestRefused(t *testing.T) {
	t.Parallel()
	row := ddb.Item{"pk": &types.AttributeValueMemberS{Value: "a"}}
	if old, ok := ddb.Refused(wrapped(&types.ConditionalCheckFailedException{Item: row})); !ok || len(old) != 1 {
		t.Errorf("with a row: %v, %v", old, ok)
	}
	if old, ok := ddb.Refused(wrapped(&types.ConditionalCheckFailedException{})); !ok || old != nil {
		t.Errorf("without: %v, %v", old, ok)
	}
	if _, ok := ddb.Refused(wrapped(&types.ResourceNotFoundException{})); ok {
		t.Error("another error is no refusal")
	}
}

func TestConflictAndContended(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		err                 error
		conflict, contended bool
	}{
		"single write":        {wrapped(&types.TransactionConflictException{}), true, false},
		"another Region":      {wrapped(&types.ReplicatedWriteConflictException{}), true, false},
		"by its code only":    {wrapped(&smithy.GenericAPIError{Code: "ReplicatedWriteConflictException"}), true, false},
		"in progress":         {wrapped(&types.TransactionInProgressException{}), true, false},
		"transaction":         {cancelled("None", "TransactionConflict"), true, true},
		"and a refusal":       {cancelled("ConditionalCheckFailed", "TransactionConflict"), false, true},
		"a refusal":           {cancelled("None", "ConditionalCheckFailed"), false, false},
		"nothing":             {nil, false, false},
		"no reason at fault":  {cancelled("None", "None"), false, false},
		"reason without code": {wrapped(&types.TransactionCanceledException{CancellationReasons: []types.CancellationReason{{}}}), false, false},
	} {
		if got := ddb.Conflict(tc.err); got != tc.conflict {
			t.Errorf("%s: Conflict = %v", name, got)
		}
		if got := ddb.Contended(tc.err); got != tc.contended {
			t.Errorf("%s: Contended = %v", name, got)
		}
	}
}

func TestThrottledAndBusy(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		err             error
		throttled, busy bool
	}{
		"an action":          {cancelled("None", "ThrottlingError"), true, true},
		"by its older name":  {cancelled("ProvisionedThroughputExceeded", "None"), true, true},
		"and a refusal":      {cancelled("ThrottlingError", "ConditionalCheckFailed"), false, false},
		"and bad input":      {cancelled("ThrottlingError", "ValidationError"), false, false},
		"a conflict":         {cancelled("TransactionConflict", "None"), false, true},
		"beside a refusal":   {cancelled("TransactionConflict", "ConditionalCheckFailed"), false, true},
		"no reason at fault": {cancelled("None", "None"), false, false},
		"the request":        {wrapped(&types.ProvisionedThroughputExceededException{}), true, false},
		"of the account":     {wrapped(&types.RequestLimitExceeded{}), true, false},
		"not modelled":       {wrapped(&smithy.GenericAPIError{Code: "ThrottlingException"}), true, false},
		"not by the tables":  {wrapped(&types.LimitExceededException{}), false, false},
		"in progress":        {wrapped(&types.TransactionInProgressException{}), true, true}, // the SDK counts it among them
		"lost":               {wrapped(errOther), false, false},
		"nothing":            {nil, false, false},
	} {
		if got := ddb.Throttled(tc.err); got != tc.throttled {
			t.Errorf("%s: Throttled = %v", name, got)
		}
		if got := ddb.Busy(tc.err); got != tc.busy {
			t.Errorf("%s: Busy = %v", name, got)
		}
	}
}

func TestAction(t *testing.T) {
	t.Parallel()
	row := ddb.Item{"pk": &types.AttributeValueMemberS{Value: "a"}}
	for name, tc := range map[string]struct {
		reason  types.CancellationReason
		refused bool
		code    string
	}{
		"not at fault":  {types.CancellationReason{Code: aws.String("None")}, false, ""},
		"refused":       {types.CancellationReason{Code: aws.String("ConditionalCheckFailed"), Item: row}, true, ""},
		"in the way":    {types.CancellationReason{Code: aws.String("TransactionConflict")}, false, "TransactionConflict"},
		"bad input":     {types.CancellationReason{Code: aws.String("ValidationError"), Message: aws.String("why")}, false, "ValidationError"},
		"for no reason": {types.CancellationReason{Code: aws.String("ThrottlingError")}, false, "ThrottlingError"},
	} {
		old, refused, err := ddb.Action(tc.reason)
		var apiErr smithy.APIError
		if refused != tc.refused || refused != (old != nil) || errors.As(err, &apiErr) != (tc.code != "") {
			t.Errorf("%s: %v, %v, %v", name, old, refused, err)
		}
		if apiErr != nil && (apiErr.ErrorCode() != tc.code || apiErr.ErrorMessage() != aws.ToString(tc.reason.Message)) {
			t.Errorf("%s: %v", name, apiErr)
		}
	}
}

func answered(status int, err error) error {
	return wrapped(&smithyhttp.ResponseError{Response: &smithyhttp.Response{Response: &http.Response{StatusCode: status}}, Err: err})
}

func TestDefinite(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		err  error
		want bool
	}{
		"missing table":     {answered(400, &types.ResourceNotFoundException{}), true},
		"not modelled, 400": {answered(400, &smithy.GenericAPIError{Code: "ValidationException"}), true},
		"not modelled, 503": {answered(503, &smithy.GenericAPIError{Code: "ServiceUnavailable"}), false},
		"internal error":    {answered(500, &types.InternalServerError{}), false},
		"lost connection":   {wrapped(errors.New("connection reset")), false},
		"deadline":          {wrapped(context.DeadlineExceeded), false},
	} {
		if got := ddb.Definite(tc.err); got != tc.want {
			t.Errorf("%s: Definite = %v", name, got)
		}
	}
}

func TestRetry(t *testing.T) {
	t.Parallel()
	conflict := wrapped(&types.TransactionConflictException{})
	for name, tc := range map[string]struct {
		errs  []error // of each call; the last repeats
		calls int
		want  error
	}{
		"at once":     {[]error{nil}, 1, nil},
		"the third":   {[]error{conflict, conflict, nil}, 3, nil},
		"never":       {[]error{conflict}, 6, conflict},
		"other error": {[]error{conflict, errOther}, 2, errOther},
	} {
		synctest.Test(t, func(t *testing.T) {
			calls := 0
			err := ddb.Retry(t.Context(), func() error {
				calls++
				return tc.errs[min(calls, len(tc.errs))-1]
			})
			if calls != tc.calls || !errors.Is(err, tc.want) || (err == nil) != (tc.want == nil) {
				t.Errorf("%s: %d calls, %v", name, calls, err)
			}
		})
	}
}

var errOther = errors.New("other")

func TestRetryEndsWithItsContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Nanosecond)
		defer cancel()
		conflict, calls := wrapped(&types.TransactionConflictException{}), 0
		err := ddb.Retry(ctx, func() error {
			calls++
			time.Sleep(time.Second) // in the bubble
			return conflict
		})
		if calls != 1 || !errors.Is(err, conflict) {
			t.Errorf("%d calls, %v", calls, err)
		}
	})
}

func TestWhatAnEndpointLacks(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		err              error
		missing, unknown bool
	}{
		"a table":          {&types.ResourceNotFoundException{}, true, false},
		"a table's backup": {&types.TableNotFoundException{}, true, false},
		"an operation":     {&smithy.GenericAPIError{Code: "UnknownOperationException"}, false, true},
		"a connection":     {errors.New("down"), false, false},
	} {
		if missing, unknown := ddb.Missing(wrapped(tc.err)), ddb.Unknown(wrapped(tc.err)); missing != tc.missing || unknown != tc.unknown {
			t.Errorf("%s: missing %t, unknown %t", name, missing, unknown)
		}
	}
	if ddb.Missing(nil) || ddb.Unknown(nil) {
		t.Error("no error says that something is missing")
	}
}
