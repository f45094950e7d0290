package intake_test

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/examples/quill/aloware"
	"github.com/homeops/ddbpatterns/examples/quill/intake"
	"github.com/homeops/ddbpatterns/internal/recordtest"
)

// A call rings, ends, and ends in another way. It is one fact, that of its first
// end.
func TestACall(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.send(intake.AlowarePath, call("ringing"), 200, isWaiting)
	b.wants(0)
	b.send(intake.AlowarePath, call("completed"), 200, isNew)
	b.send(intake.AlowarePath, call("ringing"), 200, isDuplicate)
	b.send(intake.AlowarePath, call("completed"), 200, isDuplicate)
	b.send(intake.AlowarePath, call("voicemail"), 200, isLater)
	b.send(intake.AlowarePath, call("voicemail"), 200, isDuplicate) // it was reported before
	b.send(intake.AlowarePath, call("in-progress"), 200, isWaiting)
	b.wants(1)
	if got := b.get(callKey).Row["status"]; got != "completed" {
		t.Errorf("the fact's status is %v", got)
	}
	if want := `level=INFO msg="a later status is not counted" fact=` + callKey + ` counted=completed/completed later=voicemail/voicemail`; strings.Count(b.logged(), want) != 1 {
		t.Errorf("%s is not once in\n%s", want, b.logged())
	}
}

// The same later status comes twice at once. One of the two reports it.
func TestALaterStatusTwiceAtOnce(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.send(intake.AlowarePath, call("completed"), 200, isNew)
	other := b.twin()
	b.db.Inject(dynamotest.Fault{Op: "TransactWriteItems", Nth: 2, Do: dynamotest.Before(func() {
		if got := other.Settle(t.Context(), aloware.Reader{}.Events([]byte(call("voicemail")))); got != isLater {
			t.Errorf("the other: %+v", got)
		}
	})})
	b.send(intake.AlowarePath, call("voicemail"), 200, isDuplicate)
	b.wants(1)
}

// A call that rings only after it has ended does not become a fact either.
func TestACallThatRingsLate(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.send(intake.AlowarePath, call("completed"), 200, isNew)
	b.send(intake.AlowarePath, call("ringing"), 200, isWaiting)
	b.wants(1)
}

// The same end under the name of another event is another delivery of the same
// fact, not a later status.
func TestACallUnderAnotherName(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.send(intake.AlowarePath, call("completed"), 200, isNew)
	other := strings.Replace(call("completed"), "OutboundPhoneCall-DispositionCompleted", "OutboundSMS-DispositionCompleted", 1)
	b.send(intake.AlowarePath, other, 200, isDuplicate)
	b.send(intake.AlowarePath, other, 200, isDuplicate)
	if marked := len(b.db.Items(marks)); marked != 2 {
		t.Errorf("%d deliveries are marked", marked)
	}
	b.wants(1)
}

// The fact outlives its mark: it identifies a delivery that comes after the ledger
// has forgotten.
func TestAfterTheRetention(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.send(intake.AlowarePath, call("completed"), 200, isNew)
	b.send(intake.HubSpotPath, batch(change(1)), 200, isNew)
	b.set(b.clock().Add(20 * 24 * time.Hour))
	b.send(intake.AlowarePath, call("completed"), 200, isDuplicate)
	b.send(intake.HubSpotPath, batch(change(1)), 200, isDuplicate)
	b.wants(2)
}

// The database fails once at each request of the path, before or after the effect.
// The event is still stored in time, and is new exactly once.
func TestOneFault(t *testing.T) {
	t.Parallel()
	for _, do := range []dynamotest.Effect{
		dynamotest.LoseReply, dynamotest.LoseRequest, dynamotest.Throttle, dynamotest.Conflict,
		dynamotest.InternalError, dynamotest.Unavailable, dynamotest.Unavailable.After(), dynamotest.InternalError.After(),
		dynamotest.Delay(2 * time.Second), dynamotest.DelayReply(2 * time.Second),
	} {
		for _, times := range []int{1, 2} {
			t.Run(fmt.Sprintf("%v %d", do, times), func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					b := newBench(t)
					var tokens []string
					b.DB = recordtest.Between(b.db.Client(), func(in any, send recordtest.Send) (any, error) {
						tokens = append(tokens, aws.ToString(in.(*dynamodb.TransactWriteItemsInput).ClientRequestToken))
						return send(in)
					})
					steps := []struct {
						body string
						want intake.Counts
					}{
						{call("ringing"), isWaiting},
						{call("completed"), isNew},
						{call("voicemail"), isLater}, // two transactions: the fault meets the first
						{call("completed"), isDuplicate},
					}
					for _, step := range steps {
						b.db.Inject(dynamotest.Fault{Do: do, Op: "TransactWriteItems", Times: times})
						tokens = nil
						b.send(intake.AlowarePath, step.body, 200, step.want)
						if len(tokens) <= times {
							t.Errorf("%v: %d calls: the SDK has tried again", step.want, len(tokens))
						}
						if tokens := slices.Compact(tokens[:min(times+1, len(tokens))]); len(tokens) != 1 || tokens[0] == "" {
							t.Errorf("sent again under another token: %q", tokens)
						}
						b.db.Heal()
					}
					b.db.Inject(dynamotest.Fault{Do: do, Op: "TransactWriteItems", Nth: 2, Times: times}) // the second
					b.send(intake.AlowarePath, call("missed"), 200, isLater)
					b.db.Heal()
					b.wants(1)
				})
			})
		}
	}
}

// The ledger's row, too, distinguishes an own lost reply from another delivery.
func TestOwnLostReply(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		// no transaction is recognized by its token, as after ten minutes
		b.DB = recordtest.Between(b.db.Client(), func(in any, send recordtest.Send) (any, error) {
			other := *in.(*dynamodb.TransactWriteItemsInput)
			other.ClientRequestToken = nil
			return send(&other)
		})
		for _, step := range []struct {
			body string
			nth  int
			want intake.Counts
		}{
			{call("ringing"), 1, isWaiting},
			{call("completed"), 1, isNew},
			{call("voicemail"), 2, isLater}, // of the mark alone
			{call("completed"), 1, isDuplicate},
		} {
			b.db.Inject(dynamotest.Fault{Do: dynamotest.LoseReply, Op: "TransactWriteItems", Nth: step.nth})
			b.send(intake.AlowarePath, step.body, 200, step.want)
			b.db.Heal()
		}
		b.wants(1)
	})
}

// The database fails for as long as storing may take. The sender sends the event
// again, and then it is new once, whether or not the first delivery took effect. Only
// a later status that is marked already is not reported as such again.
func TestFaultsToTheEnd(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		do    dynamotest.Effect
		later intake.Counts
	}{
		{dynamotest.LoseRequest, isLater},
		{dynamotest.Throttle, isLater},
		{dynamotest.Conflict, isLater},
		{dynamotest.Unavailable, isLater},
		{dynamotest.LoseReply, isDuplicate},
		{dynamotest.DelayReply(time.Minute), isDuplicate},
	} {
		t.Run(fmt.Sprint(tc.do), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t)
				b.db.Inject(dynamotest.Fault{Do: tc.do, Op: "TransactWriteItems", Times: -1})
				b.send(intake.AlowarePath, call("completed"), 503, isUnstored)
				b.db.Heal()
				b.send(intake.AlowarePath, call("completed"), 200, isNew)
				b.send(intake.AlowarePath, call("completed"), 200, isDuplicate)
				// and at the second transaction, which only marks a later status
				b.db.Inject(dynamotest.Fault{Do: tc.do, Op: "TransactWriteItems", Nth: 2, Times: -1})
				b.send(intake.AlowarePath, call("voicemail"), 503, isUnstored)
				b.db.Heal()
				b.send(intake.AlowarePath, call("voicemail"), 200, tc.later)
				b.wants(1)
			})
		})
	}
}

// said returns the SDK's error for a reply.
func said(status int, err error) error {
	return &smithy.OperationError{ServiceID: "DynamoDB", OperationName: "Any", Err: &smithyhttp.ResponseError{
		Response: &smithyhttp.Response{Response: &http.Response{StatusCode: status}}, Err: err,
	}}
}

// Only temporary errors are tried again. For others the sender gets an answer
// at once.
func TestWhatPasses(t *testing.T) {
	t.Parallel()
	code := func(status int, code string) error {
		return said(status, &smithy.GenericAPIError{Code: code, Message: "no"})
	}
	cancelled := func(codes ...string) error {
		err := &types.TransactionCanceledException{}
		for _, code := range codes {
			err.CancellationReasons = append(err.CancellationReasons, types.CancellationReason{Code: aws.String(code)})
		}
		return said(400, err)
	}
	for name, tc := range map[string]struct {
		err  error
		pass bool
	}{
		"no reply":                      {io.ErrUnexpectedEOF, true},
		"a reply that cannot be read":   {said(200, &smithy.DeserializationError{Err: io.ErrUnexpectedEOF}), true},
		"500":                           {code(500, "InternalServerError"), true},
		"503":                           {code(503, "ServiceUnavailable"), true},
		"throttled":                     {code(400, "ThrottlingException"), true},
		"no capacity":                   {code(400, "ProvisionedThroughputExceededException"), true},
		"the same one under way":        {code(400, "TransactionInProgressException"), true},
		"another one under way":         {cancelled("None", "TransactionConflict"), true},
		"the mark's capacity":           {cancelled("ProvisionedThroughputExceeded", "None"), true},
		"the fact's capacity":           {cancelled("None", "ThrottlingError"), true},
		"invalid":                       {code(400, "ValidationException"), false},
		"denied":                        {code(403, "AccessDeniedException"), false},
		"no table":                      {code(400, "ResourceNotFoundException"), false},
		"another transaction's token":   {code(400, "IdempotentParameterMismatchException"), false},
		"cancelled, without a reason":   {cancelled(), false},
		"cancelled, nobody is at fault": {cancelled("None", "None"), false},
		"the mark is invalid":           {cancelled("ValidationError", "None"), false},
		"the fact is invalid":           {cancelled("None", "ValidationError"), false},
	} {
		synctest.Test(t, func(t *testing.T) {
			b := newBench(t)
			sent := 0
			b.DB = recordtest.Between(b.db.Client(), func(in any, send recordtest.Send) (any, error) {
				if sent++; sent > 3 {
					return send(in)
				}
				return nil, tc.err
			})
			if tc.pass {
				b.send(intake.AlowarePath, sms, 200, isNew)
				return
			}
			b.send(intake.AlowarePath, sms, 503, isUnstored)
			b.send(intake.AlowarePath, call("ringing"), 503, isUnstored) // a mark alone
			if sent != 2 {
				t.Errorf("%s: it was tried again", name)
			}
			if !strings.Contains(b.logged(), "reason=\"intake: TransactWriteItems on table QuillIdempotencyLedger and the outbox: ") {
				t.Errorf("%s: logged\n%s", name, b.logged())
			}
		})
	}
}

// An unreadable row with the fact's key still counts as the fact, with an unknown
// status.
func TestAFactThatCannotBeRead(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	if _, err := b.db.Client().PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String(facts), Item: keyOf(callKey)}); err != nil {
		t.Fatal(err)
	}
	b.send(intake.AlowarePath, call("completed"), 200, isDuplicate)
	b.send(intake.AlowarePath, call("completed"), 200, isDuplicate)
	if row := b.db.Items(facts); len(row) != 1 || len(row[0]) != 1 {
		t.Errorf("the outbox has %v", row)
	}
}

// One event that cannot be stored does not hold up others of its batch.
func TestOneOfABatchFails(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		key := "HUBSPOT:62515:25:contact.propertyChange:125:lifecyclestage:1795240800123:4108526301"
		b.db.Inject(dynamotest.Fault{Do: dynamotest.Throttle, Table: facts, Key: keyOf(key), Times: -1})
		body := batch(change(0), change(1), change(2), change(3), change(2))
		b.send(intake.HubSpotPath, body, 503, intake.Counts{Received: 5, New: 3, Duplicate: 1, Waiting: 1, Unstored: 1})
		b.db.Heal()
		b.send(intake.HubSpotPath, body, 200, intake.Counts{Received: 5, New: 1, Duplicate: 4})
		b.wants(4)
	})
}

// An event costs what the Handler says.
func TestPrice(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for _, step := range []struct {
		name, path, body string
		counts           intake.Counts
		price            dynamotest.Price
	}{
		{"ringing", intake.AlowarePath, call("ringing"), isWaiting, dynamotest.Price{Requests: 1, WCU: 2}},
		{"new", intake.AlowarePath, call("completed"), isNew, dynamotest.Price{Requests: 1, WCU: 5}},
		{"duplicate", intake.AlowarePath, call("completed"), isDuplicate, dynamotest.Price{Requests: 1, WCU: 4}},
		{"ringing, a duplicate", intake.AlowarePath, call("ringing"), isDuplicate, dynamotest.Price{Requests: 1, WCU: 2}},
		{"later", intake.AlowarePath, call("missed"), isLater, dynamotest.Price{Requests: 2, WCU: 6}},
		{"refused", intake.AlowarePath, "{", isRefused, dynamotest.Price{Requests: 1, WCU: 2}},
		{"HubSpot's", intake.HubSpotPath, batch(change(1)), isNew, dynamotest.Price{Requests: 1, WCU: 5}},
	} {
		t.Log(step.name)
		b.db.Meter(func() { b.send(step.path, step.body, 200, step.counts) }).Want(t, step.price)
	}
	b.Cutover = b.clock()
	b.db.Meter(func() { b.send(intake.AlowarePath, sms, 200, isNew) }).Want(t, dynamotest.Price{Requests: 2, RCU: 1, WCU: 5})
}
