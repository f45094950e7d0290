package api_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/homeops/ddbpatterns/dynamotest/internal/api"
)

// elements returns n elements of a list and a last one. If element has a verb for
// the number, they can be members of an object.
func elements(n int, element, last string) string {
	var b strings.Builder
	for i := range n {
		if strings.Contains(element, "%d") {
			fmt.Fprintf(&b, element, i)
		} else {
			b.WriteString(element)
		}
		b.WriteByte(',')
	}
	return b.String() + last
}

// Of a list that is too long, only as much is kept as is necessary to refuse
// it, in a short message. A wrong type after that is found nevertheless.
func TestListsThatAreTooLong(t *testing.T) {
	t.Parallel()
	const many = 20_000
	for name, tt := range map[string]struct {
		req  api.Request
		body string // with a verb for the elements
		each string
		want string
		kept func(api.Request) int
	}{
		"TransactWriteItems": {
			new(api.TransactWriteItems), `{"TransactItems":[%s]}`, `{}`, "at 'transactItems' failed to satisfy constraint: Member must have length less than or equal to 100",
			func(r api.Request) int { return len(r.(*api.TransactWriteItems).Actions) },
		},
		"TransactGetItems": {
			new(api.TransactGetItems), `{"TransactItems":[%s]}`, `{}`, "at 'transactItems' failed to satisfy constraint: Member must have length less than or equal to 100",
			func(r api.Request) int { return len(r.(*api.TransactGetItems).Gets) },
		},
		"BatchGetItem": {
			new(api.BatchGetItem), `{"RequestItems":{"abc":{"Keys":[%s]}}}`, `{}`, "at 'RequestItems.abc.member.Keys' failed to satisfy constraint: Member must have length less than or equal to 100",
			func(r api.Request) int { return len(r.(*api.BatchGetItem).Tables[0].Keys) },
		},
		"BatchGetItem, tables": {
			new(api.BatchGetItem), `{"RequestItems":{%s}}`, `"tab%d":{"Keys":[{}]}`, "Too many items requested for the BatchGetItem call",
			func(r api.Request) int { return len(r.(*api.BatchGetItem).Tables) },
		},
		"BatchWriteItem": {
			new(api.BatchWriteItem), `{"RequestItems":{"abc":[%s]}}`, `{}`, "[Member must have length less than or equal to 25, Member must have length greater than or equal to 1]",
			func(r api.Request) int { return len(r.(*api.BatchWriteItem).Tables[0].Writes) },
		},
		"BatchWriteItem, tables": {
			new(api.BatchWriteItem), `{"RequestItems":{%s}}`, `"tab%d":[{}]`, "Too many items requested for the BatchWriteItem call",
			func(r api.Request) int { return len(r.(*api.BatchWriteItem).Tables) },
		},
		"BatchExecuteStatement": {
			new(api.BatchExecuteStatement), `{"Statements":[%s]}`, `{}`, "at 'statements' failed to satisfy constraint: Member must have length less than or equal to 25",
			func(r api.Request) int { return len(r.(*api.BatchExecuteStatement).Statements) },
		},
		"ExecuteTransaction": {
			new(api.ExecuteTransaction), `{"TransactStatements":[%s]}`, `{}`, "at 'transactStatements' failed to satisfy constraint: Member must have length less than or equal to 100",
			func(r api.Request) int { return len(r.(*api.ExecuteTransaction).Statements) },
		},
		"AttributesToGet": {
			new(api.GetItem), `{"TableName":"abc","Key":{},"AttributesToGet":[%s]}`, `"a"`, "at 'attributesToGet' failed to satisfy constraint: Member must have length less than or equal to 255",
			func(r api.Request) int { return len(r.(*api.GetItem).Older.Attributes) },
		},
		"KeySchema": {
			new(api.CreateTable), `{"TableName":"abc","AttributeDefinitions":[],"KeySchema":[%s]}`, `{}`, "at 'keySchema' failed to satisfy constraint: Member must have length less than or equal to 2",
			func(r api.Request) int { return len(r.(*api.CreateTable).Key) },
		},
		"AttributeDefinitions": {
			new(api.CreateTable), `{"TableName":"abc","KeySchema":[],"AttributeDefinitions":[%s]}`, `{}`, "10 validation errors detected: ",
			func(r api.Request) int { return len(r.(*api.CreateTable).Attributes) },
		},
		"Tags": {
			new(api.CreateTable), `{"TableName":"abc","KeySchema":[],"AttributeDefinitions":[],"Tags":[%s]}`, `{}`, "Value '[]' at 'keySchema'",
			func(r api.Request) int { return len(r.(*api.CreateTable).Tags) },
		},
		"TagResource": {
			new(api.TagResource), `{"ResourceArn":"a","Tags":[%s]}`, `{}`, "The Tag Key provided is invalid, Key: null",
			func(r api.Request) int { return len(r.(*api.TagResource).Tags) },
		},
		"UntagResource": {
			new(api.UntagResource), `{"ResourceArn":"a","TagKeys":[%s]}`, `""`, "The Tag Key provided is invalid, Key: ",
			func(r api.Request) int { return len(r.(*api.UntagResource).Keys) },
		},
		"indexes": {
			new(api.CreateTable), `{"TableName":"abc","KeySchema":[],"AttributeDefinitions":[],"GlobalSecondaryIndexes":[%s]}`, `{}`, "10 validation errors detected: ",
			func(r api.Request) int { return len(r.(*api.CreateTable).Global) },
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			last := tt.each
			if strings.Contains(last, "%d") {
				last = fmt.Sprintf(last, many)
			}
			err := api.Decode(fmt.Appendf(nil, tt.body, elements(many, tt.each, last)), tt.req)
			if err == nil || err.Code != api.ValidationException || !strings.Contains(err.Message, tt.want) || len(err.Message) > 10_000 {
				t.Errorf("%.300v, want … %s …", err, tt.want)
			}
			if n := tt.kept(tt.req); n > 1001 {
				t.Errorf("%d elements are kept", n)
			}
			wrong := `1`
			if strings.Contains(tt.each, "%d") {
				wrong = `"t":1`
			}
			if err := api.Decode(fmt.Appendf(nil, tt.body, elements(many, tt.each, wrong)), tt.req); err == nil || err.Code != api.SerializationException {
				t.Errorf("with a number behind them: %.300v", err)
			}
		})
	}
}

// The names and values of expressions together may have two megabytes.
func TestSubstitutedBytes(t *testing.T) {
	t.Parallel()
	const most = 2 << 20
	body := func(names, values int) []byte {
		return fmt.Appendf(nil, `{"TableName":"abc","Key":{},"ExpressionAttributeNames":{"#a":%q},"ExpressionAttributeValues":{":v":{"S":%q}}}`,
			strings.Repeat("n", names-len("#a")), strings.Repeat("v", values-len(":v")))
	}
	for _, tt := range []struct {
		names, values int
		taken         bool
	}{{most - 2, 2, true}, {2, most - 2, true}, {most / 2, most / 2, true}, {most/2 + 1, most / 2, false}, {most + 1, 2, false}, {2, most + 1, false}} {
		err := api.Decode(body(tt.names, tt.values), new(api.UpdateItem))
		if tt.taken && err != nil || !tt.taken && (err == nil || err.Code != api.ValidationException || !strings.Contains(err.Message, "exceed the maximum of 2097152 bytes")) {
			t.Errorf("%d bytes of names and %d of values: %.300v", tt.names, tt.values, err)
		}
	}
	var req api.UpdateItem
	if err := api.Decode([]byte(`{"TableName":"abc","Key":{},"ExpressionAttributeNames":{`+elements(600_000, `"#%d":"a"`, `"#":"a"}}`)), &req); err == nil {
		t.Error("600,000 names are taken")
	}
}
