package catalog_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/homeops/ddbpatterns/dynamotest/internal/api"
	"github.com/homeops/ddbpatterns/dynamotest/internal/catalog"
)

// many lists n objects, each made from its number.
func many(n int, format string) string {
	all := make([]string, n)
	for i := range all {
		all[i] = strings.ReplaceAll(format, "#", fmt.Sprint(i))
	}
	return "[" + strings.Join(all, ",") + "]"
}

// A request is refused if its parts do not fit one another.
func TestWhatCannotBeCreated(t *testing.T) {
	t.Parallel()
	const (
		id     = `"KeySchema":[{"AttributeName":"id","KeyType":"HASH"}]`
		both   = `"KeySchema":[{"AttributeName":"id","KeyType":"HASH"},{"AttributeName":"n","KeyType":"RANGE"}]`
		defs   = `"AttributeDefinitions":[{"AttributeName":"id","AttributeType":"S"},{"AttributeName":"n","AttributeType":"N"}]`
		all    = `"Projection":{"ProjectionType":"ALL"}`
		byN    = `{"IndexName":"by-n","KeySchema":[{"AttributeName":"n","KeyType":"HASH"}],` + all
		local  = `{"IndexName":"local#",` + both + `,` + all + `}`
		demand = `"BillingMode":"PAY_PER_REQUEST"`
	)
	// global returns a table with an index whose key has elements of the given
	// types, one letter each.
	global := func(types string) string {
		key, attributes := many(0, ""), []string{`{"AttributeName":"id","AttributeType":"S"}`}
		for i, letter := range types {
			kind := map[rune]string{'H': "HASH", 'R': "RANGE"}[letter]
			key = strings.Replace(key, "]", fmt.Sprintf(`{"AttributeName":"a%d","KeyType":"%s"},]`, i, kind), 1)
			attributes = append(attributes, fmt.Sprintf(`{"AttributeName":"a%d","AttributeType":"S"}`, i))
		}
		return demand + "," + id + `,"AttributeDefinitions":[` + strings.Join(attributes, ",") + `],"GlobalSecondaryIndexes":[{"IndexName":"many",` + all +
			`,"KeySchema":` + strings.Replace(key, ",]", "]", 1) + `}]`
	}
	for name, tt := range map[string]struct{ members, want string }{
		"as it should be":          {demand + "," + both + "," + defs, ""},
		"provisioned without":      {both + "," + defs, "must both be specified when BillingMode is PROVISIONED"},
		"on demand with":           {demand + `,"ProvisionedThroughput":{"ReadCapacityUnits":1,"WriteCapacityUnits":1},` + both + "," + defs, "can be specified when BillingMode is PAY_PER_REQUEST"},
		"an attribute twice":       {demand + "," + id + `,"AttributeDefinitions":` + many(2, `{"AttributeName":"id","AttributeType":"S"}`), "Attribute Name is duplicated: id"},
		"an unknown attribute":     {demand + `,"KeySchema":[{"AttributeName":"x","KeyType":"HASH"}],` + defs, "not defined in AttributeDefinitions. Keys: [x], AttributeDefinitions: [id, n]"},
		"a range first":            {demand + `,"KeySchema":[{"AttributeName":"id","KeyType":"RANGE"}],` + defs, "The first KeySchemaElement is not a HASH key type"},
		"two hashes":               {demand + `,"KeySchema":[{"AttributeName":"id","KeyType":"HASH"},{"AttributeName":"n","KeyType":"HASH"}],` + defs, "The second KeySchemaElement is not a RANGE key type"},
		"a part twice":             {demand + `,"KeySchema":[{"AttributeName":"id","KeyType":"HASH"},{"AttributeName":"id","KeyType":"RANGE"}],` + defs, "Both the Hash Key and the Range Key element in the KeySchema have the same name"},
		"fewer definitions":        {demand + "," + both + `,"AttributeDefinitions":[{"AttributeName":"id","AttributeType":"S"}]`, "Invalid KeySchema: Some index key attribute have no definition"},
		"a hash twice":             {demand + `,"KeySchema":[{"AttributeName":"id","KeyType":"HASH"},{"AttributeName":"id","KeyType":"HASH"}],` + defs, "Both the Hash Key and the Range Key element"},
		"no local ones":            {demand + "," + both + "," + defs + `,"LocalSecondaryIndexes":[]`, "List of LocalSecondaryIndexes is empty"},
		"no global ones":           {demand + "," + both + "," + defs + `,"GlobalSecondaryIndexes":[]`, "List of GlobalSecondaryIndexes is empty"},
		"five hashes":              {global("HHHHH"), "The KeySchema exceeds the maximum allowed number of HASH key attributes"},
		"five ranges":              {global("HRRRRR"), "The KeySchema exceeds the maximum allowed number of RANGE key attributes"},
		"four of each":             {global("HHHHRRRR"), ""},
		"a hash after a range":     {global("HRH"), "All HASH key attributes must precede RANGE key attributes in the KeySchema"},
		"ranges alone":             {global("RR"), "The first KeySchemaElement is not a HASH key type"},
		"many, one twice":          {strings.Replace(global("HHR"), `"a1","KeyType"`, `"a0","KeyType"`, 1), "The KeySchema contains multiple key attributes with the same name"},
		"two hashes, one twice":    {strings.Replace(global("HH"), `"a1","KeyType"`, `"a0","KeyType"`, 1), "The KeySchema contains multiple key attributes with the same name"},
		"hash and range of one":    {strings.Replace(global("HR"), `"a1","KeyType"`, `"a0","KeyType"`, 1), "Both the Hash Key and the Range Key element"},
		"an unused attribute":      {demand + "," + id + "," + defs, "does not exactly match number of attributes defined"},
		"unused beside an index":   {demand + "," + id + `,"AttributeDefinitions":[{"AttributeName":"id","AttributeType":"S"},{"AttributeName":"n","AttributeType":"N"},{"AttributeName":"x","AttributeType":"N"}],"GlobalSecondaryIndexes":[` + byN + `}]`, "AttributeDefinitions: [id, n, x], keys used: [id, n]"},
		"a local one, no range":    {demand + "," + id + "," + defs + `,"LocalSecondaryIndexes":` + many(1, local), "does not have a range key, which is required"},
		"six local ones":           {demand + "," + both + "," + defs + `,"LocalSecondaryIndexes":` + many(6, local), "exceeds per-table limit of 5"},
		"a local one's hash":       {demand + "," + both + "," + defs + `,"LocalSecondaryIndexes":[` + byN[:len(byN)-len(all)-2] + `,{"AttributeName":"id","KeyType":"RANGE"}],` + all + `}]`, "index hash key: n, table hash key: id"},
		"a local one's range":      {demand + "," + both + "," + defs + `,"LocalSecondaryIndexes":[{"IndexName":"local",` + id + `,` + all + `}]`, "Index KeySchema does not have a range key for index: local"},
		"no projection":            {demand + "," + both + "," + defs + `,"GlobalSecondaryIndexes":[{"IndexName":"by-n",` + id + `}]`, "Unknown ProjectionType: null"},
		"nothing included":         {demand + "," + both + "," + defs + `,"GlobalSecondaryIndexes":[{"IndexName":"by-n",` + id + `,"Projection":{"ProjectionType":"INCLUDE"}}]`, "NonKeyAttributes is not specified"},
		"something included":       {demand + "," + both + "," + defs + `,"GlobalSecondaryIndexes":[{"IndexName":"by-n",` + id + `,"Projection":{"ProjectionType":"ALL","NonKeyAttributes":["x"]}}]`, "ProjectionType is ALL, but NonKeyAttributes is specified"},
		"included twice":           {demand + "," + both + "," + defs + `,"GlobalSecondaryIndexes":[{"IndexName":"by-n",` + id + `,"Projection":{"ProjectionType":"INCLUDE","NonKeyAttributes":["x","x"]}}]`, "Duplicate element in NonKeyAttributes: x"},
		"an index's throughput":    {demand + "," + both + "," + defs + `,"GlobalSecondaryIndexes":[` + byN + `,"ProvisionedThroughput":{"ReadCapacityUnits":1,"WriteCapacityUnits":1}}]`, "should not be specified for index: by-n"},
		"an index without":         {`"ProvisionedThroughput":{"ReadCapacityUnits":1,"WriteCapacityUnits":1},` + both + "," + defs + `,"GlobalSecondaryIndexes":[` + byN + `}]`, "ProvisionedThroughput is not specified for index: by-n"},
		"two indexes of one name":  {demand + "," + both + "," + defs + `,"GlobalSecondaryIndexes":[` + byN + `},` + byN + `}]`, "Duplicate index name: by-n"},
		"two tags under one key":   {demand + "," + both + "," + defs + `,"Tags":[{"Key":"a","Value":"1"},{"Key":"a","Value":"2"}]`, "Duplicate Tag Keys provided as input: Duplicate Tag Key found a"},
		"billing before attribute": {id + `,"AttributeDefinitions":` + many(2, `{"AttributeName":"id","AttributeType":"S"}`), "must both be specified when BillingMode is PROVISIONED"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := catalog.Create(decode(t, `{"TableName":"orders",`+tt.members+`}`, new(api.CreateTable)), arn)
			refused(t, err, tt.want)
		})
	}
}

// The description of a table has its size, and those of its indexes.
func TestDescribe(t *testing.T) {
	t.Parallel()
	table := create(t, orders)
	now := &catalog.State{
		Status: "ACTIVE", Held: catalog.Held{Items: 3, Bytes: 120}, Indexes: []catalog.Held{{Items: 2, Bytes: 80}, {Items: 1, Bytes: 40}},
		Stream: &catalog.Stream{Open: true, View: "KEYS_ONLY", Label: "label", ARN: arn + "/stream/label"},
	}
	const stream = `"StreamSpecification":{"StreamEnabled":true,"StreamViewType":"KEYS_ONLY"},`
	want := strings.ReplaceAll(`{"TableName":"orders","TableArn":"ARN","TableId":"0001","TableStatus":"ACTIVE","CreationDateTime":1774785600.000,"ItemCount":3,"TableSizeBytes":120,`+
		`"KeySchema":[{"AttributeName":"customer","KeyType":"HASH"},{"AttributeName":"number","KeyType":"RANGE"}],`+
		`"AttributeDefinitions":[{"AttributeName":"customer","AttributeType":"S"},{"AttributeName":"number","AttributeType":"N"},{"AttributeName":"day","AttributeType":"S"},{"AttributeName":"city","AttributeType":"S"}],`+
		`"ProvisionedThroughput":{"NumberOfDecreasesToday":0,"ReadCapacityUnits":5,"WriteCapacityUnits":6},"DeletionProtectionEnabled":true,`+
		`"TableClassSummary":{"TableClass":"STANDARD_INFREQUENT_ACCESS"},"SSEDescription":{"Status":"ENABLED","SSEType":"KMS","KMSMasterKeyArn":"arn:aws:kms:us-east-1:123456789012:key/KEY"},`+
		`"OnDemandThroughput":{"MaxReadRequestUnits":100,"MaxWriteRequestUnits":200},"WarmThroughput":{"ReadUnitsPerSecond":5,"WriteUnitsPerSecond":6,"Status":"ACTIVE"},`+stream+`"LatestStreamLabel":"label","LatestStreamArn":"ARN/stream/label",`+
		`"LocalSecondaryIndexes":[{"IndexName":"by-day","IndexArn":"ARN/index/by-day","KeySchema":[{"AttributeName":"customer","KeyType":"HASH"},{"AttributeName":"day","KeyType":"RANGE"}],`+
		`"Projection":{"ProjectionType":"ALL"},"ItemCount":2,"IndexSizeBytes":80}],`+
		`"GlobalSecondaryIndexes":[{"IndexName":"by-city","IndexArn":"ARN/index/by-city","KeySchema":[{"AttributeName":"city","KeyType":"HASH"}],`+
		`"Projection":{"ProjectionType":"INCLUDE","NonKeyAttributes":["total","note"]},"ItemCount":1,"IndexSizeBytes":40,"IndexStatus":"ACTIVE",`+
		`"ProvisionedThroughput":{"NumberOfDecreasesToday":0,"ReadCapacityUnits":1,"WriteCapacityUnits":2},"WarmThroughput":{"ReadUnitsPerSecond":12000,"WriteUnitsPerSecond":2,"Status":"ACTIVE"}}]}`, "ARN", arn)
	want = strings.Replace(want, "KEY", "87b708e6-bfbe-ead4-6ba1-86503e4a05db", 1)
	if diff := cmp.Diff(want, object(func(w *api.Writer) { table.Describe(w, now) })); diff != "" {
		t.Error(diff)
	}
	now.Stream.Open = false
	if diff := cmp.Diff(strings.Replace(want, stream, "", 1), object(func(w *api.Writer) { table.Describe(w, now) })); diff != "" {
		t.Errorf("with a closed stream: %s", diff)
	}
}

// The description of a table that is being deleted does not have its keys and
// indexes.
func TestDescribeDeleting(t *testing.T) {
	t.Parallel()
	table := create(t, orders)
	got := object(func(w *api.Writer) { table.Describe(w, &catalog.State{Status: catalog.Deleting}) })
	for _, member := range []string{"CreationDateTime", "KeySchema", "AttributeDefinitions", "LocalSecondaryIndexes", "GlobalSecondaryIndexes"} {
		if strings.Contains(got, member) {
			t.Errorf("%s is in %s", member, got)
		}
	}
	for _, member := range []string{"TableArn", "ItemCount", "ProvisionedThroughput", "DeletionProtectionEnabled"} {
		if !strings.Contains(got, member) {
			t.Errorf("%s is not in %s", member, got)
		}
	}
}

// A key of KMS is described by its ARN, for any form of its name.
func TestDescribeEncryption(t *testing.T) {
	t.Parallel()
	for specification, want := range map[string]string{
		`{"Enabled":true}`: `"KMSMasterKeyArn":"arn:aws:kms:us-east-1:123456789012:key/`,
		`{"Enabled":true,"KMSMasterKeyId":"1234abcd-12ab"}`:                 `"KMSMasterKeyArn":"arn:aws:kms:us-east-1:123456789012:key/1234abcd-12ab"`,
		`{"Enabled":true,"KMSMasterKeyId":"arn:aws:kms:eu-west-1:1:key/x"}`: `"KMSMasterKeyArn":"arn:aws:kms:eu-west-1:1:key/x"`,
		`{"Enabled":true,"KMSMasterKeyId":"alias/orders","SSEType":"KMS"}`:  `"SSEType":"KMS","KMSMasterKeyArn":"arn:aws:kms:us-east-1:123456789012:key/`,
		`{"Enabled":false}`: `"DeletionProtectionEnabled":false,"WarmThroughput"`,
	} {
		table := create(t, strings.Replace(plain, `"KeySchema"`, `"SSESpecification":`+specification+`,"KeySchema"`, 1))
		if got := described(&table); !strings.Contains(got, want) {
			t.Errorf("%s is described as %s", specification, got)
		}
	}
}

// A table with only the necessary members is described as it is.
func TestDescribePlain(t *testing.T) {
	t.Parallel()
	table := create(t, plain)
	const want = `{"TableName":"plain","TableArn":"` + arn + `","TableId":"0001","TableStatus":"ACTIVE","CreationDateTime":1774785600.000,"ItemCount":0,"TableSizeBytes":0,` +
		`"KeySchema":[{"AttributeName":"id","KeyType":"HASH"}],"AttributeDefinitions":[{"AttributeName":"id","AttributeType":"S"}],` +
		`"ProvisionedThroughput":{"NumberOfDecreasesToday":0,"ReadCapacityUnits":0,"WriteCapacityUnits":0},` +
		`"BillingModeSummary":{"BillingMode":"PAY_PER_REQUEST","LastUpdateToPayPerRequestDateTime":1774785600.000},"DeletionProtectionEnabled":false,` +
		`"WarmThroughput":{"ReadUnitsPerSecond":12000,"WriteUnitsPerSecond":4000,"Status":"ACTIVE"}}`
	if diff := cmp.Diff(want, described(&table)); diff != "" {
		t.Error(diff)
	}
}

// Define writes a request that makes the same table.
func TestDefine(t *testing.T) {
	t.Parallel()
	for _, body := range []string{orders, plain} {
		table := create(t, body)
		again := create(t, object(func(w *api.Writer) { table.Define(w, "") }))
		if diff := cmp.Diff(table, again); diff != "" {
			t.Error(diff)
		}
	}
	table := create(t, plain)
	if got := object(func(w *api.Writer) { table.Define(w, "NEW_IMAGE") }); !strings.Contains(got, `"StreamSpecification":{"StreamEnabled":true,"StreamViewType":"NEW_IMAGE"}`) {
		t.Errorf("without its stream: %s", got)
	}
}
