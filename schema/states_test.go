package schema_test

import (
	"slices"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/schema"
)

// standing is a server with the table as it is defined.
func standing(t *testing.T, want schema.Table) *dynamodb.Client {
	t.Helper()
	db := dynamotest.New(t, nil)
	if err := schema.Create(t.Context(), db.Client(), want); err != nil {
		t.Fatal(err)
	}
	return db.Client()
}

// described is the server that describes its table in another way.
func described(db *dynamodb.Client, change func(*types.TableDescription)) *faked {
	return fake(db, map[string][]answer{"DescribeTable": {func(ask func() (any, error)) (any, error) {
		out, err := ask()
		change(out.(*dynamodb.DescribeTableOutput).Table)
		return out, err
	}}})
}

func TestStatuses(t *testing.T) {
	t.Parallel()
	want := table("messages")
	db := standing(t, want)
	const active = "ACTIVE"
	for status, d := range map[types.TableStatus]schema.Difference{
		types.TableStatusCreating:                          {InPlace: true},
		types.TableStatusUpdating:                          {InPlace: true, Tolerated: true}, // it serves
		types.TableStatusDeleting:                          {},
		types.TableStatusArchived:                          {},
		types.TableStatusInaccessibleEncryptionCredentials: {},
	} {
		d.What, d.Want, d.Got = "status", active, string(status)
		differs(t, d.Got, described(db, func(d *types.TableDescription) { d.TableStatus = status }), want, d)
	}
	for status, d := range map[types.IndexStatus]schema.Difference{
		types.IndexStatusCreating: {InPlace: true},
		types.IndexStatusUpdating: {InPlace: true, Tolerated: true},
		types.IndexStatusDeleting: {InPlace: true},
	} {
		d.What, d.Want, d.Got = "status of index by-user", active, string(status)
		differs(t, "index "+d.Got, described(db, func(d *types.TableDescription) { d.GlobalSecondaryIndexes[0].IndexStatus = status }), want, d)
	}
	differs(t, "an index without status and projection", described(db, func(d *types.TableDescription) {
		d.GlobalSecondaryIndexes[0].IndexStatus, d.GlobalSecondaryIndexes[0].Projection = "", nil
	}), want)
}

// An index may have several attributes in either role, and an endpoint may describe a
// key with its sort key first.
func TestDescribedKeys(t *testing.T) {
	t.Parallel()
	want := table("messages")
	db := standing(t, want)
	for got, key := range map[string][]types.KeySchemaElement{
		"((chatId S, userId N), timestamp N)":  {element("chatId", "HASH"), element("userId", "HASH"), element("timestamp", "RANGE")},
		"(userId N, messageId N, timestamp N)": {element("userId", "HASH"), element("messageId", "RANGE"), element("timestamp", "RANGE")},
	} {
		differs(t, got, described(db, func(d *types.TableDescription) { d.GlobalSecondaryIndexes[0].KeySchema = key }), want,
			schema.Difference{What: "index by-user", Want: "(userId N, timestamp N)", Got: got, InPlace: true})
	}
	differs(t, "sort key first", described(db, func(d *types.TableDescription) { slices.Reverse(d.KeySchema) }), want)
}

func element(name string, role types.KeyType) types.KeySchemaElement {
	return types.KeySchemaElement{AttributeName: aws.String(name), KeyType: role}
}

func TestStatesOfTTL(t *testing.T) {
	t.Parallel()
	with, without := table("messages"), table("messages")
	without.TTL = ""
	db := standing(t, with)
	off := schema.Difference{What: "TTL", Want: "ttl", InPlace: true}
	extra := schema.Difference{What: "TTL", Got: "ttl", Tolerated: true, InPlace: true}
	for status, on := range map[types.TimeToLiveStatus]bool{
		types.TimeToLiveStatusEnabled: true, types.TimeToLiveStatusEnabling: true,
		types.TimeToLiveStatusDisabled: false, types.TimeToLiveStatusDisabling: false,
	} {
		reader := fake(db, map[string][]answer{"DescribeTimeToLive": {func(ask func() (any, error)) (any, error) {
			out, err := ask()
			out.(*dynamodb.DescribeTimeToLiveOutput).TimeToLiveDescription.TimeToLiveStatus = status
			return out, err
		}}})
		if on {
			differs(t, string(status), reader, with)
			differs(t, string(status), reader, without, extra)
		} else {
			differs(t, string(status), reader, with, off)
			differs(t, string(status), reader, without)
		}
	}
}

// DynamoDB describes a key by its ARN, in which no alias shows.
func TestKMSKeys(t *testing.T) {
	t.Parallel()
	const id = "1234abcd-12ab-34cd-56ef-1234567890ab"
	const arn = "arn:aws:kms:eu-north-1:111122223333:key/" + id
	bare := table("messages")
	db := standing(t, bare)
	for _, tc := range []struct {
		named     string
		described *types.SSEDescription
		got       string // "" where they agree
	}{
		{"", nil, ""},
		{"", &types.SSEDescription{SSEType: types.SSETypeAes256, Status: types.SSEStatusEnabled}, ""},
		{"", &types.SSEDescription{SSEType: types.SSETypeKms, Status: types.SSEStatusDisabled, KMSMasterKeyArn: aws.String(arn)}, ""},
		{"", &types.SSEDescription{SSEType: types.SSETypeKms, Status: types.SSEStatusDisabling, KMSMasterKeyArn: aws.String(arn)}, ""},
		{"", encrypted(arn), arn},
		{"alias/aws/dynamodb", encrypted(arn), ""},
		{"alias/aws/dynamodb", encrypted(""), ""},
		{"arn:aws:kms:eu-north-1:111122223333:alias/ours", encrypted(arn), ""},
		{"alias/ours", encrypted(arn), ""},
		{"alias/ours", encrypted(""), "alias/aws/dynamodb"},
		{"alias/ours", encrypted("alias/theirs"), "alias/theirs"},
		{arn, encrypted(arn), ""},
		{id, encrypted(arn), ""},
		{"1234abcd-0000-34cd-56ef-1234567890ab", encrypted(arn), arn},
		{"arn:aws:kms:eu-north-1:444455556666:key/" + id, encrypted(arn), arn},
	} {
		want := bare
		want.KMSKey = tc.named
		var differences []schema.Difference
		if tc.got != "" {
			differences = append(differences, schema.Difference{What: "KMS key", Want: tc.named, Got: tc.got, Tolerated: tc.named == "", InPlace: true})
		}
		differs(t, tc.named+" and "+tc.got, described(db, func(d *types.TableDescription) { d.SSEDescription = tc.described }), want, differences...)
	}
}

func encrypted(arn string) *types.SSEDescription {
	d := &types.SSEDescription{SSEType: types.SSETypeKms, Status: types.SSEStatusUpdating}
	if arn != "" {
		d.KMSMasterKeyArn = aws.String(arn)
	}
	return d
}

// A table that is deleted between two requests does not exist, whichever request
// says so.
func TestATableThatGoesMeanwhile(t *testing.T) {
	t.Parallel()
	want := table("messages")
	want.PointInTimeRecovery = true
	db := standing(t, want)
	gone := schema.Difference{What: "table", Want: "(chatId S, messageId N)"}
	for op, err := range map[string]error{"DescribeTimeToLive": &types.ResourceNotFoundException{}, "DescribeContinuousBackups": &types.TableNotFoundException{}} {
		differs(t, "before "+op, fake(db, map[string][]answer{op: {fails(err)}}), want, gone)
	}
}
