package schema_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
	"github.com/google/go-cmp/cmp"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/schema"
)

func wantMismatch(t *testing.T, err error, want string) {
	t.Helper()
	mismatch, ok := errors.AsType[*schema.MismatchError](err)
	if !ok || !strings.Contains(mismatch.Error(), want) {
		t.Errorf("got %v, want a MismatchError saying %q", err, want)
	}
}

func TestInputHoldsTheSettings(t *testing.T) {
	t.Parallel()
	full := table("messages")
	full.DeletionProtection, full.KMSKey = true, "alias/ours"
	in := full.Input()
	if !aws.ToBool(in.DeletionProtectionEnabled) || in.SSESpecification == nil ||
		in.SSESpecification.SSEType != types.SSETypeKms || aws.ToString(in.SSESpecification.KMSMasterKeyId) != "alias/ours" {
		t.Errorf("protection %v, encryption %+v", in.DeletionProtectionEnabled, in.SSESpecification)
	}
	full.KMSKey = "alias/aws/dynamodb"
	if sse := full.Input().SSESpecification; sse == nil || !aws.ToBool(sse.Enabled) || sse.SSEType != types.SSETypeKms || sse.KMSMasterKeyId != nil {
		t.Errorf("the key that AWS manages is asked for by %+v", sse)
	}
	if in := table("messages").Input(); in.DeletionProtectionEnabled != nil || in.SSESpecification != nil {
		t.Error("settings that nobody asked for")
	}
}

func TestProtectionIsSetAndAskedFor(t *testing.T) {
	t.Parallel()
	db := dynamotest.New(t, nil)
	bare, protected := table("bare"), table("protected")
	protected.DeletionProtection = true
	if err := schema.Create(t.Context(), db.Client(), bare, protected); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Client().DeleteTable(t.Context(), &dynamodb.DeleteTableInput{TableName: aws.String("protected")}); err == nil {
		t.Error("a protected table was deleted")
	}
	protected.DeletionProtection = false
	if err := schema.Create(t.Context(), db.Client(), protected); err != nil {
		t.Errorf("more protection than asked for: %v", err)
	}
	bare.DeletionProtection = true
	wantMismatch(t, schema.Create(t.Context(), db.Client(), bare), "it has no deletion protection")
}

func TestAKMSKeyIsAskedFor(t *testing.T) {
	t.Parallel()
	db := dynamotest.New(t, nil)
	stands := table("messages")
	if err := schema.Create(t.Context(), db.Client(), stands); err != nil {
		t.Fatal(err)
	}
	stands.KMSKey = "alias/aws/dynamodb"
	wantMismatch(t, schema.Create(t.Context(), db.Client(), stands), "it has no KMS key")
}

func TestBackupsAreSwitchedOn(t *testing.T) {
	t.Parallel()
	db := dynamotest.New(t, nil)
	stands := table("messages")
	if err := schema.Create(t.Context(), db.Client(), stands); err != nil {
		t.Fatal(err)
	}
	stands.PointInTimeRecovery = true
	for range 2 {
		if err := schema.Create(t.Context(), db.Client(), stands); err != nil {
			t.Fatal(err)
		}
		out, err := db.Client().DescribeContinuousBackups(t.Context(), &dynamodb.DescribeContinuousBackupsInput{TableName: aws.String("messages")})
		if err != nil {
			t.Fatal(err)
		}
		recovery := out.ContinuousBackupsDescription.PointInTimeRecoveryDescription
		if recovery.PointInTimeRecoveryStatus != types.PointInTimeRecoveryStatusEnabled {
			t.Errorf("recovery is %s", recovery.PointInTimeRecoveryStatus)
		}
	}
}

func TestAnIndexThatProjectsLessIsAMismatch(t *testing.T) {
	t.Parallel()
	db := dynamotest.Open(t)
	want := table(db.Name("messages"))
	in := want.Input()
	in.GlobalSecondaryIndexes[0].Projection = &types.Projection{ProjectionType: types.ProjectionTypeKeysOnly}
	if _, err := db.Client().CreateTable(t.Context(), in); err != nil {
		t.Fatal(err)
	}
	wantMismatch(t, schema.Create(t.Context(), db.Client(), want), "its projection of index by-user is KEYS_ONLY, not ALL")
}

// What is on, or cannot be, is not switched on.
func TestCreateSwitchesOnWhatIsOff(t *testing.T) {
	t.Parallel()
	s := &slow{API: dynamotest.New(t, nil).Client()}
	want := table("messages")
	want.PointInTimeRecovery = true
	for range 2 {
		if err := schema.Create(t.Context(), s, want); err != nil {
			t.Fatal(err)
		}
	}
	if err := schema.Create(t.Context(), noBackups{s}, want); err != nil {
		t.Errorf("an endpoint that knows no backups: %v", err)
	}
	want.TTL = "expiresAt"
	wantMismatch(t, schema.Create(t.Context(), s, want), "its TTL is ttl, not expiresAt")
	first := []string{"create", "describe", "switch TTL on", "backups"}
	look := []string{"create", "describe"}
	if diff := cmp.Diff(slices.Concat(first, look, look, look), s.calls); diff != "" {
		t.Error(diff)
	}
}

// noBackups answers as DynamoDB Local does.
type noBackups struct{ schema.API }

func (noBackups) DescribeContinuousBackups(context.Context, *dynamodb.DescribeContinuousBackupsInput, ...func(*dynamodb.Options)) (*dynamodb.DescribeContinuousBackupsOutput, error) {
	return nil, &smithy.GenericAPIError{Code: "UnknownOperationException"}
}

// slow plays what a server in this process does not: tables that take their
// time. Each call goes to the next of its functions, and then to the server.
type slow struct {
	schema.API
	calls    []string
	create   []func() error
	describe []func(*types.TableDescription) error
	backups  []func() error
	ttl      []func() error // a nil error says that TTL is being switched on

	ttlAttribute string // "" is ttl
	switchTTL    func() error
}

func (s *slow) DescribeTimeToLive(ctx context.Context, in *dynamodb.DescribeTimeToLiveInput, o ...func(*dynamodb.Options)) (*dynamodb.DescribeTimeToLiveOutput, error) {
	if len(s.ttl) == 0 {
		return s.API.DescribeTimeToLive(ctx, in, o...)
	}
	s.calls = append(s.calls, "ttl")
	next, attribute := s.ttl[0], "ttl"
	s.ttl = s.ttl[1:]
	if s.ttlAttribute != "" {
		attribute = s.ttlAttribute
	}
	return &dynamodb.DescribeTimeToLiveOutput{TimeToLiveDescription: &types.TimeToLiveDescription{
		AttributeName: aws.String(attribute), TimeToLiveStatus: types.TimeToLiveStatusEnabling,
	}}, next()
}

func (s *slow) UpdateTimeToLive(ctx context.Context, in *dynamodb.UpdateTimeToLiveInput, o ...func(*dynamodb.Options)) (*dynamodb.UpdateTimeToLiveOutput, error) {
	s.calls = append(s.calls, "switch TTL on")
	if s.switchTTL != nil {
		return nil, s.switchTTL()
	}
	return s.API.UpdateTimeToLive(ctx, in, o...)
}

func (s *slow) CreateTable(ctx context.Context, in *dynamodb.CreateTableInput, o ...func(*dynamodb.Options)) (*dynamodb.CreateTableOutput, error) {
	s.calls = append(s.calls, "create")
	if len(s.create) > 0 {
		next := s.create[0]
		s.create = s.create[1:]
		return nil, next()
	}
	return s.API.CreateTable(ctx, in, o...)
}

func (s *slow) DescribeTable(ctx context.Context, in *dynamodb.DescribeTableInput, o ...func(*dynamodb.Options)) (*dynamodb.DescribeTableOutput, error) {
	s.calls = append(s.calls, "describe")
	if len(s.describe) > 0 {
		next := s.describe[0]
		s.describe = s.describe[1:]
		out := &dynamodb.DescribeTableOutput{Table: &types.TableDescription{}}
		return out, next(out.Table)
	}
	return s.API.DescribeTable(ctx, in, o...)
}

func (s *slow) UpdateContinuousBackups(ctx context.Context, in *dynamodb.UpdateContinuousBackupsInput, o ...func(*dynamodb.Options)) (*dynamodb.UpdateContinuousBackupsOutput, error) {
	s.calls = append(s.calls, "backups")
	if len(s.backups) > 0 {
		next := s.backups[0]
		s.backups = s.backups[1:]
		return nil, next()
	}
	return s.API.UpdateContinuousBackups(ctx, in, o...)
}

// DynamoDB takes one change of TTL an hour: one that is being made is not made
// again.
func TestTTLThatIsBeingSwitchedOn(t *testing.T) {
	t.Parallel()
	enabling := func() error { return nil }
	s := &slow{API: dynamotest.New(t, nil).Client(), ttl: []func() error{enabling}}
	if err := schema.Create(t.Context(), s, table("messages")); err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff([]string{"create", "describe", "ttl"}, s.calls); diff != "" {
		t.Error(diff)
	}
}

// Of two that switch it on at once one is refused, looks again, and finds what
// the other did.
func TestTTLSwitchedOnByAnother(t *testing.T) {
	t.Parallel()
	refused := errors.New("refused")
	for name, tc := range map[string]struct {
		attribute string
		again     error
		want      func(error) bool
	}{
		"as wanted":         {"ttl", nil, func(err error) bool { return err == nil }},
		"another attribute": {"other", nil, func(err error) bool { _, ok := errors.AsType[*schema.MismatchError](err); return ok }},
		"nobody can tell":   {"ttl", errors.New("down"), func(err error) bool { return errors.Is(err, refused) && strings.Contains(err.Error(), "down") }},
	} {
		s := &slow{API: dynamotest.New(t, nil).Client()}
		s.switchTTL = func() error {
			s.ttlAttribute = tc.attribute
			s.ttl = []func() error{func() error { return tc.again }}
			return refused
		}
		if err := schema.Create(t.Context(), s, table("messages")); !tc.want(err) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func inUse() error   { return &types.ResourceInUseException{} }
func missing() error { return &types.ResourceNotFoundException{} }

func status(status types.TableStatus) func(*types.TableDescription) error {
	return func(d *types.TableDescription) error { d.TableStatus = status; return nil }
}

func TestCreateWaits(t *testing.T) {
	t.Parallel()
	notSeen := func(*types.TableDescription) error { return missing() }
	indexing := func(d *types.TableDescription) error {
		d.TableStatus = types.TableStatusActive
		d.GlobalSecondaryIndexes = []types.GlobalSecondaryIndexDescription{{IndexStatus: types.IndexStatusCreating}}
		return nil
	}
	type looks = []func(*types.TableDescription) error
	for name, tc := range map[string]struct {
		create   []func() error
		describe looks
		want     []string
	}{
		"for the table":         {nil, looks{status(types.TableStatusCreating)}, []string{"create", "describe", "describe"}},
		"for its indexes":       {nil, looks{indexing}, []string{"create", "describe", "describe"}},
		"until it is seen":      {nil, looks{notSeen}, []string{"create", "describe", "create", "describe"}},
		"until another is gone": {[]func() error{inUse}, looks{status(types.TableStatusDeleting), notSeen}, []string{"create", "describe", "describe", "create", "describe"}},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := &slow{API: dynamotest.New(t, nil).Client(), create: tc.create, describe: tc.describe}
			want := table("messages")
			want.TTL = ""
			if err := schema.Create(t.Context(), s, want); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			if diff := cmp.Diff(tc.want, s.calls); diff != "" {
				t.Errorf("%s: %s", name, diff)
			}
		})
	}
}

func TestCreateDoesNotWaitForWhatDoesNotPass(t *testing.T) {
	t.Parallel()
	s := &slow{
		API: dynamotest.New(t, nil).Client(), create: []func() error{inUse},
		describe: []func(*types.TableDescription) error{status(types.TableStatusArchived)},
	}
	wantMismatch(t, schema.Create(t.Context(), s, table("messages")), "its status is ARCHIVED")
}

func TestBackupsOfANewTableAreWaitedFor(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		soon := func() error { return &types.ContinuousBackupsUnavailableException{} }
		s := &slow{API: dynamotest.New(t, nil).Client(), backups: []func() error{soon, soon}}
		want := table("messages")
		want.TTL, want.PointInTimeRecovery = "", true
		if err := schema.Create(t.Context(), s, want); err != nil {
			t.Error(err)
		}
		if diff := cmp.Diff([]string{"create", "describe", "backups", "backups", "backups"}, s.calls); diff != "" {
			t.Error(diff)
		}
	})
}
