package schema_test

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
	"github.com/google/go-cmp/cmp"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/internal/recordtest"
	"github.com/homeops/ddbpatterns/schema"
)

func wantMismatch(t *testing.T, err error, want string) {
	t.Helper()
	mismatch, ok := errors.AsType[*schema.MismatchError](err)
	if !ok || !strings.Contains(mismatch.Error(), want) {
		t.Errorf("got %v, want a MismatchError saying %q", err, want)
	}
}

// What is on, or cannot be, is not switched on.
func TestCreateSwitchesOnWhatIsOff(t *testing.T) {
	t.Parallel()
	answers := map[string][]answer{}
	f := fake(dynamotest.New(t, nil).Client(), answers)
	want := table("messages")
	want.PointInTimeRecovery = true
	for range 2 {
		if err := schema.Create(t.Context(), f, want); err != nil {
			t.Fatal(err)
		}
	}
	answers["DescribeContinuousBackups"] = []answer{unknown}
	if err := schema.Create(t.Context(), f, want); err != nil {
		t.Errorf("an endpoint that knows no backups: %v", err)
	}
	want.TTL = "expiresAt"
	wantMismatch(t, schema.Create(t.Context(), f, want), "its TTL is ttl, not expiresAt")
	f.calls = slices.DeleteFunc(f.calls, func(op string) bool { return strings.HasPrefix(op, "Describe") })
	if diff := cmp.Diff([]string{"CreateTable", "UpdateTimeToLive", "UpdateContinuousBackups", "CreateTable", "CreateTable", "CreateTable"}, f.calls); diff != "" {
		t.Error(diff)
	}
}

// unknown answers as DynamoDB Local does.
var unknown = fails(&smithy.GenericAPIError{Code: "UnknownOperationException"})

// answer answers a request; ask puts it to the server.
type answer func(ask func() (any, error)) (any, error)

func server(ask func() (any, error)) (any, error) { return ask() }

func fails(err error) answer { return func(func() (any, error)) (any, error) { return nil, err } }

// faked is a client of the server whose operations answer as given: each request gets
// the next answer, and the last is that of all that follow.
type faked struct {
	*dynamodb.Client
	calls []string
}

func fake(api *dynamodb.Client, answers map[string][]answer) *faked {
	f := &faked{}
	f.Client = recordtest.Between(api, func(in any, send recordtest.Send) (any, error) {
		op := strings.TrimSuffix(reflect.TypeOf(in).Elem().Name(), "Input")
		f.calls = append(f.calls, op)
		answer := server
		if list := answers[op]; len(list) > 0 {
			answer, answers[op] = list[0], list[min(1, len(list)-1):]
		}
		return answer(func() (any, error) { return send(in) })
	})
	return f
}

// enabling answers that TTL is being switched on.
func enabling(attribute string) answer {
	return func(func() (any, error)) (any, error) {
		return &dynamodb.DescribeTimeToLiveOutput{TimeToLiveDescription: &types.TimeToLiveDescription{
			AttributeName: aws.String(attribute), TimeToLiveStatus: types.TimeToLiveStatusEnabling,
		}}, nil
	}
}

// status answers that a table has this status, and its indexes theirs.
func status(status types.TableStatus, indexes ...types.IndexStatus) answer {
	table := &types.TableDescription{TableStatus: status}
	for _, i := range indexes {
		table.GlobalSecondaryIndexes = append(table.GlobalSecondaryIndexes, types.GlobalSecondaryIndexDescription{IndexStatus: i})
	}
	return func(func() (any, error)) (any, error) { return &dynamodb.DescribeTableOutput{Table: table}, nil }
}

// DynamoDB takes one change of TTL an hour: one that is being made is not made
// again. Of two that switch it on at once one is refused, looks again, and finds
// what the other did.
func TestTTLSwitchedOnByAnother(t *testing.T) {
	t.Parallel()
	refused := errors.New("refused")
	is := func(target error) func(error) bool { return func(err error) bool { return errors.Is(err, target) } }
	for name, tc := range map[string]struct {
		looks []answer
		calls int
		want  func(error) bool
	}{
		"already":           {[]answer{enabling("ttl")}, 3, is(nil)},
		"as wanted":         {[]answer{server, enabling("ttl")}, 5, is(nil)},
		"another attribute": {[]answer{server, enabling("other")}, 5, func(err error) bool { _, ok := errors.AsType[*schema.MismatchError](err); return ok }},
		"nobody can tell":   {[]answer{server, fails(errors.New("down"))}, 5, func(err error) bool { return is(refused)(err) && strings.Contains(err.Error(), "down") }},
	} {
		f := fake(dynamotest.New(t, nil).Client(), map[string][]answer{"DescribeTimeToLive": tc.looks, "UpdateTimeToLive": {fails(refused)}})
		if err := schema.Create(t.Context(), f, table("messages")); !tc.want(err) || len(f.calls) != tc.calls {
			t.Errorf("%s: %v after %v", name, err, f.calls)
		}
	}
}

func TestCreateWaits(t *testing.T) {
	t.Parallel()
	inUse, notSeen := fails(&types.ResourceInUseException{}), fails(&types.ResourceNotFoundException{})
	soon := fails(&types.ContinuousBackupsUnavailableException{})
	const creates, looks, backups = "CreateTable", "DescribeTable", "UpdateContinuousBackups"
	for name, tc := range map[string]struct {
		answers map[string][]answer
		want    []string
	}{
		"for the table":         {map[string][]answer{looks: {status("CREATING"), server}}, []string{creates, looks, looks}},
		"for its indexes":       {map[string][]answer{looks: {status("ACTIVE", "CREATING"), server}}, []string{creates, looks, looks}},
		"until it is seen":      {map[string][]answer{looks: {notSeen, server}}, []string{creates, looks, creates, looks}},
		"until another is gone": {map[string][]answer{creates: {inUse, server}, looks: {status("DELETING"), notSeen, server}}, []string{creates, looks, looks, creates, looks}},
		"for its backups":       {map[string][]answer{backups: {soon, soon, server}}, []string{creates, looks, "DescribeContinuousBackups", backups, backups, backups}},
	} {
		synctest.Test(t, func(t *testing.T) {
			f := fake(dynamotest.New(t, nil).Client(), tc.answers)
			want := table("messages")
			want.TTL, want.PointInTimeRecovery = "", tc.answers[backups] != nil
			if err := schema.Create(t.Context(), f, want); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			if diff := cmp.Diff(tc.want, f.calls); diff != "" {
				t.Errorf("%s: %s", name, diff)
			}
		})
	}
}

// Create waits as long as its context allows, but not for what does not pass by itself.
func TestCreateDoesNotWaitForEver(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := fake(dynamotest.New(t, nil).Client(), map[string][]answer{"DescribeTable": {status("CREATING")}})
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		if err := schema.Create(ctx, f, table("messages")); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
		f = fake(dynamotest.New(t, nil).Client(), map[string][]answer{"DescribeTable": {status("ARCHIVED")}})
		wantMismatch(t, schema.Create(t.Context(), f, table("messages")), "its status is ARCHIVED")
	})
}
