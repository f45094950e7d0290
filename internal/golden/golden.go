// Package golden compares stored items with those in testdata, byte for byte:
// they are the format on disk. Items are files of DynamoDB's own JSON:
//
//	{"pk": {"S": "EFFORT#42"}, "samples": {"N": "3"}}
package golden

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"github.com/homeops/ddbpatterns/internal/ddb"
)

// Item reads an item from a file.
func Item(t testing.TB, file string) ddb.Item {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	it, err := Parse(text)
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	return it
}

// Put stores the item of a file as another writer would. It replaces an
// existing item.
func Put(t testing.TB, db *dynamodb.Client, table, file string) {
	t.Helper()
	_, err := db.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String(table), Item: Item(t, file)})
	if err != nil {
		t.Fatal(err)
	}
}

// Want fails the test unless the stored item with the key of the file's item is
// the same item. The names are those of the key attributes.
func Want(t testing.TB, db *dynamodb.Client, table, file string, names ...string) {
	t.Helper()
	want := Item(t, file)
	key := ddb.Item{}
	for _, name := range names {
		key[name] = want[name]
	}
	out, err := db.GetItem(t.Context(), &dynamodb.GetItemInput{
		TableName: aws.String(table), Key: key, ConsistentRead: aws.Bool(true),
	})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(Format(want), Format(out.Item)); diff != "" {
		t.Errorf("%s (-want +stored):\n%s", file, diff)
	}
}

// Parse reads DynamoDB's JSON of an item.
func Parse(text []byte) (ddb.Item, error) {
	var raw map[string]value
	if err := json.Unmarshal(text, &raw); err != nil {
		return nil, err
	}
	return items(raw)
}

// Format writes DynamoDB's JSON of an item, attributes by name.
func Format(it ddb.Item) string {
	text, err := json.MarshalIndent(plain(it), "", "  ")
	if err != nil { // maps, strings and bytes always marshal
		panic("golden: " + err.Error())
	}
	return string(text)
}

// value is an attribute value. Exactly one field is set.
type value struct {
	S    *string
	N    *string
	B    *[]byte
	BS   *[][]byte
	BOOL *bool
	NULL *bool
	L    *[]value
	M    *map[string]value
}

func items(raw map[string]value) (ddb.Item, error) {
	it := ddb.Item{}
	for name, v := range raw {
		attr, err := v.attribute()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		it[name] = attr
	}
	return it, nil
}

func (v value) attribute() (types.AttributeValue, error) {
	switch {
	case v.S != nil:
		return &types.AttributeValueMemberS{Value: *v.S}, nil
	case v.N != nil:
		return &types.AttributeValueMemberN{Value: *v.N}, nil
	case v.B != nil:
		return &types.AttributeValueMemberB{Value: *v.B}, nil
	case v.BS != nil:
		return &types.AttributeValueMemberBS{Value: *v.BS}, nil
	case v.BOOL != nil:
		return &types.AttributeValueMemberBOOL{Value: *v.BOOL}, nil
	case v.NULL != nil:
		return &types.AttributeValueMemberNULL{Value: *v.NULL}, nil
	case v.M != nil:
		m, err := items(*v.M)
		return &types.AttributeValueMemberM{Value: m}, err
	case v.L != nil:
		list := []types.AttributeValue{}
		for _, element := range *v.L {
			attr, err := element.attribute()
			if err != nil {
				return nil, err
			}
			list = append(list, attr)
		}
		return &types.AttributeValueMemberL{Value: list}, nil
	}
	return nil, fmt.Errorf("no attribute value of type S, N, B, BS, BOOL, NULL, L or M")
}

func plain(it ddb.Item) map[string]any {
	out := map[string]any{}
	for name, attr := range it {
		out[name] = plainValue(attr)
	}
	return out
}

func plainValue(attr types.AttributeValue) map[string]any {
	switch v := attr.(type) {
	case *types.AttributeValueMemberS:
		return map[string]any{"S": v.Value}
	case *types.AttributeValueMemberN:
		return map[string]any{"N": v.Value}
	case *types.AttributeValueMemberB:
		return map[string]any{"B": v.Value}
	case *types.AttributeValueMemberBS: // DynamoDB keeps no order
		return map[string]any{"BS": slices.SortedFunc(slices.Values(v.Value), bytes.Compare)}
	case *types.AttributeValueMemberBOOL:
		return map[string]any{"BOOL": v.Value}
	case *types.AttributeValueMemberNULL:
		return map[string]any{"NULL": v.Value}
	case *types.AttributeValueMemberM:
		return map[string]any{"M": plain(v.Value)}
	case *types.AttributeValueMemberL:
		list := []any{}
		for _, element := range v.Value {
			list = append(list, plainValue(element))
		}
		return map[string]any{"L": list}
	}
	return map[string]any{fmt.Sprintf("%T", attr): attr}
}
