package counter_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/homeops/ddbpatterns/counter"
	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/recordtest"
	"github.com/homeops/ddbpatterns/record"
	"github.com/homeops/ddbpatterns/tzclock"
)

// limits returns a store over an API.
func limits(t testing.TB, api record.API, table string) *counter.Store {
	t.Helper()
	s, err := counter.New(api, table, tzclock.Stockholm, &counter.Config{Now: recordtest.Clock(noon)})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// addUnkeyed counts once and wants an error that says whether that is certain
// not to have counted.
func addUnkeyed(t *testing.T, ctx context.Context, name string, s *counter.Store, unknown bool) {
	t.Helper()
	total, err := s.AddUnkeyed(ctx, counter.AddUnkeyed{Key: chat, At: noon, Weight: 1})
	if err == nil || total != (counter.Total{}) || errors.Is(err, event.ErrUnknownOutcome) != unknown {
		t.Errorf("%s: AddUnkeyed = %+v, %v, want unknown %v", name, total, err, unknown)
	}
}

func TestAddUnkeyedThatWasNotSent(t *testing.T) {
	t.Parallel()
	const nobody = "http://127.0.0.1:1"
	malformed := func(o *dynamodb.Options) { o.BaseEndpoint = aws.String("localhost:8000") }
	addUnkeyed(t, t.Context(), "no region", limits(t, dynamodb.New(dynamodb.Options{}), "limits"), false)
	addUnkeyed(t, t.Context(), "malformed endpoint", limits(t, dynamotest.Connect(nobody, malformed), "limits"), false)
	addUnkeyed(t, t.Context(), "dial refused", limits(t, dynamotest.Connect(nobody), "limits"), false)
	over, cancel := context.WithCancel(t.Context())
	cancel()
	addUnkeyed(t, over, "cancelled context", limits(t, dynamotest.Connect(nobody), "limits"), false)
}

// One attempt, and the truth about it: each disturbance on the way, and whether the
// error leaves it open.
func TestAddUnkeyedIsNeverRepeated(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		fault   dynamotest.Fault
		unknown bool
		counted int64
	}{
		{dynamotest.Fault{Do: dynamotest.LoseReply}, true, 1},
		{dynamotest.Fault{Do: dynamotest.LoseRequest}, true, 0},
		{dynamotest.Fault{Do: dynamotest.DelayReply(time.Minute)}, true, 1},
		{dynamotest.Fault{Do: dynamotest.Delay(time.Minute)}, true, 0},
		{dynamotest.Fault{Do: dynamotest.Throttle}, false, 0},
		{dynamotest.Fault{Do: dynamotest.Conflict, Times: -1}, false, 0},
		{dynamotest.Fault{Do: dynamotest.InternalError}, true, 0},
		{dynamotest.Fault{Do: dynamotest.Unavailable}, true, 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			db := dynamotest.New(t, nil)
			s := limits(t, db.Client(), "limits")
			recordtest.Create(t, db.Client(), s.Table())
			tc.fault.Op = "UpdateItem"
			db.Inject(tc.fault)
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			addUnkeyed(t, ctx, tc.fault.Do.String(), s, tc.unknown)
			if count, err := s.Get(t.Context(), chat, noon); err != nil || count.Used != tc.counted {
				t.Errorf("%s: Get = %v, %v, want %d", tc.fault.Do, count, err, tc.counted)
			}
		})
	}
}

// An API that drops the options of a call lets nobody see its attempts: here
// the error tells of the last one, and the first has counted.
func TestAddUnkeyedByAnAPIThatDropsOptions(t *testing.T) {
	t.Parallel()
	db := dynamotest.New(t, &dynamotest.Config{MaxBackoff: time.Millisecond})
	s := limits(t, recordtest.Dropping{Client: db.Client()}, "limits")
	recordtest.Create(t, db.Client(), s.Table())
	db.Inject(dynamotest.Fault{Do: dynamotest.LoseReply, Op: "UpdateItem"})
	db.Inject(dynamotest.Fault{Do: dynamotest.Throttle, Op: "UpdateItem", Nth: 2, Times: -1})
	addUnkeyed(t, t.Context(), "throttled after a lost reply", s, true)
	if count, err := s.Get(t.Context(), chat, noon); err != nil || count.Used != 1 {
		t.Errorf("Get = %v, %v, want 1", count, err)
	}
	db.Heal()
	over, cancel := context.WithCancel(t.Context())
	cancel()
	addUnkeyed(t, over, "cancelled context", s, true)
}
