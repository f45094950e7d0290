package engine_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/homeops/ddbpatterns/dynamotest/internal/engine"
)

var (
	plain   = aws.String("plain")
	musicT  = aws.String("music")
	compare = cmpopts.IgnoreUnexported(types.AttributeValueMemberS{}, types.AttributeValueMemberN{}, types.AttributeValueMemberB{},
		types.AttributeValueMemberBOOL{}, types.AttributeValueMemberNULL{}, types.AttributeValueMemberL{}, types.AttributeValueMemberM{},
		types.AttributeValueMemberSS{}, types.AttributeValueMemberNS{}, types.AttributeValueMemberBS{})
)

func TestAnItemComesBackAsItWasPut(t *testing.T) {
	t.Parallel()
	db := connect(newEngine(t, engine.Options{}))
	want := item("id", "åäö \x00 \" \\ \U0001F9F9", "n", &types.AttributeValueMemberN{Value: "-12345678901234567890.5"},
		"b", &types.AttributeValueMemberB{Value: []byte{0, 255, 1}}, "yes", &types.AttributeValueMemberBOOL{Value: true},
		"null", &types.AttributeValueMemberNULL{Value: true}, "empty", "",
		"list", &types.AttributeValueMemberL{Value: []types.AttributeValue{av("x"), av(1)}},
		"map", &types.AttributeValueMemberM{Value: item("y", "z")}, "ss", []string{"a", "b"},
		"ns", &types.AttributeValueMemberNS{Value: []string{"1", "2"}}, "bs", &types.AttributeValueMemberBS{Value: [][]byte{{1}, {2}}})
	put(t, db, "plain", want)
	out, err := db.GetItem(t.Context(), &dynamodb.GetItemInput{TableName: plain, Key: map[string]types.AttributeValue{"id": want["id"]}})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, out.Item, compare); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

// spell writes an item as "name=value …".
func spell(it map[string]types.AttributeValue) string {
	words := strings.Fields(names(it))
	for i, name := range words {
		words[i] += "=" + text(it[name])
	}
	return strings.Join(words, " ")
}

func TestUpdateCreatesWhatIsNotThere(t *testing.T) {
	t.Parallel()
	db := connect(newEngine(t, engine.Options{}))
	for _, tt := range []struct {
		id, update string
		values     map[string]types.AttributeValue
		want       string
	}{
		{"a", "", nil, "id=a"},
		{"b", "SET v = :v", item(":v", "x"), "id=b v=x"},
		{"c", "REMOVE v", nil, ""},
		{"d", "ADD v :v", item(":v", 3), "id=d v=3"},
		{"e", "DELETE v :v", item(":v", []string{"x"}), ""},
		{"f", "REMOVE v, m.x", nil, ""},
		{"g", "REMOVE v SET w = :v", item(":v", "x"), "id=g w=x"},
	} {
		in := &dynamodb.UpdateItemInput{TableName: plain, Key: item("id", tt.id), ExpressionAttributeValues: tt.values, ReturnValues: "ALL_NEW"}
		if tt.update != "" {
			in.UpdateExpression = &tt.update
		}
		out, err := db.UpdateItem(t.Context(), in)
		if err != nil {
			t.Fatal(err)
		}
		if got := spell(out.Attributes); got != tt.want {
			t.Errorf("%q makes %q, want %q", tt.update, got, tt.want)
		}
	}
	if n := len(scanAll(t.Context(), t, db, dynamodb.ScanInput{TableName: plain})); n != 4 {
		t.Errorf("%d items are there, want 4", n)
	}
}

// Removing from a missing item, by any kind of request, makes no item and
// succeeds. Its condition is checked.
func TestAnUpdateThatOnlyTakesAwayMakesNothing(t *testing.T) {
	t.Parallel()
	eng := newEngine(t, engine.Options{})
	for op, body := range map[string]string{
		"UpdateItem":         `{"TableName":"music","Key":{"artist":{"S":"a"},"song":{"N":"1"}},"AttributeUpdates":{"year":{"Action":"DELETE"},"x":{"Action":"DELETE","Value":{"SS":["y"]}}},"ReturnValues":"ALL_NEW","ReturnItemCollectionMetrics":"SIZE"}`,
		"TransactWriteItems": `{"TransactItems":[{"Update":{"TableName":"music","Key":{"artist":{"S":"a"},"song":{"N":"1"}},"UpdateExpression":"REMOVE #y","ExpressionAttributeNames":{"#y":"year"},"ConditionExpression":"attribute_not_exists(artist)"}}]}`,
	} {
		if out := do(t, eng, op, body); len(out) != 0 {
			t.Errorf("%s replies %v", op, out)
		}
	}
	if n := do(t, eng, "Scan", `{"TableName":"music"}`)["Count"]; n != 0.0 {
		t.Errorf("%v items are there", n)
	}
	testRefusals(t, eng, []refusal{
		{"a condition", "UpdateItem", `{"TableName":"plain","Key":{"id":{"S":"a"}},"UpdateExpression":"REMOVE v","ConditionExpression":"attribute_exists(id)"}`, "ConditionalCheckFailed", "failed"},
		{"the key", "UpdateItem", `{"TableName":"plain","Key":{"id":{"S":"a"}},"UpdateExpression":"REMOVE id"}`, "Validation", "part of the key"},
	})
}

func TestRefusedItems(t *testing.T) {
	t.Parallel()
	eng := newEngine(t, engine.Options{})
	put := func(attributes string) string { return `{"TableName":"plain","Item":{` + attributes + `}}` }
	song := func(attributes string) string { return `{"TableName":"music","Item":{` + attributes + `}}` }
	get := func(key string) string { return `{"TableName":"music","Key":{` + key + `}}` }
	update := func(expression, values string) string {
		return fmt.Sprintf(`{"TableName":"music","Key":{"artist":{"S":"a"},"song":{"N":"1"}},"UpdateExpression":%q,"ExpressionAttributeValues":{%s}}`, expression, values)
	}
	only := func(expression, condition string) string {
		return fmt.Sprintf(`{"TableName":"music","Key":{"artist":{"S":"a"},"song":{"N":"1"}},"UpdateExpression":%q,"ConditionExpression":%q}`, expression, condition)
	}
	do(t, eng, "PutItem", song(`"artist":{"S":"a"},"song":{"N":"1"},"year":{"N":"2000"},"words":{"S":"la"}`))
	deep := strings.Repeat(`{"L":[`, 32) + `{"S":"x"}` + strings.Repeat(`]}`, 32)
	testRefusals(t, eng, []refusal{
		{"no table", "PutItem", `{"TableName":"nowhere","Item":{"id":{"S":"x"}}}`, "ResourceNotFound", "Requested resource not found"},
		{"no item", "PutItem", `{"TableName":"plain"}`, "Validation", "Value null at 'item'"},
		{"no key", "PutItem", put(`"x":{"S":"y"}`), "Validation", "Missing the key id in the item"},
		{"key of another type", "PutItem", put(`"id":{"N":"1"}`), "Validation", "Type mismatch for key id expected: S actual: N"},
		{"empty key", "PutItem", put(`"id":{"S":""}`), "Validation", "empty string value. Key: id"},
		{"long partition key", "PutItem", put(`"id":{"S":"` + strings.Repeat("x", 2049) + `"}`), "Validation", "Size of hashkey has exceeded"},
		{"index key of another type", "PutItem", song(`"artist":{"S":"a"},"song":{"N":"1"},"genre":{"N":"1"}`), "Validation", "Type mismatch for Index Key genre Expected: S Actual: N IndexName: genre-year"},
		{"empty index key", "PutItem", song(`"artist":{"S":"a"},"song":{"N":"1"},"genre":{"S":""}`), "Validation", "IndexName: genre-year, IndexKey: genre"},
		{"too large", "PutItem", put(`"id":{"S":"x"},"v":{"S":"` + strings.Repeat("x", 400<<10) + `"}`), "Validation", "Item size has exceeded"},
		{"too deep", "PutItem", put(`"id":{"S":"x"},"v":` + deep), "Validation", "Nesting Levels have exceeded"},
		{"empty set", "PutItem", put(`"id":{"S":"x"},"v":{"SS":[]}`), "Validation", "An string set  may not be empty"},
		{"39 digits", "PutItem", put(`"id":{"S":"x"},"v":{"N":"` + strings.Repeat("1", 39) + `"}`), "Validation", "38 significant digits"},
		{"index key of another type in a put that would fail", "PutItem", `{"TableName":"music","Item":{"artist":{"S":"a"},"song":{"N":"1"},"genre":{"N":"1"}},"ConditionExpression":"attribute_not_exists(artist)"}`, "Validation", "Type mismatch for Index Key"},
		{"part of a key", "GetItem", get(`"artist":{"S":"a"}`), "Validation", "The provided key element does not match the schema"},
		{"more than a key", "GetItem", get(`"artist":{"S":"a"},"song":{"N":"1"},"x":{"S":"y"}`), "Validation", "The provided key element does not match the schema"},
		{"other key", "DeleteItem", get(`"artist":{"S":"a"},"title":{"N":"1"}`), "Validation", "The provided key element does not match the schema"},
		{"key update", "UpdateItem", update("SET song = :v", `":v":{"N":"2"}`), "Validation", "Cannot update attribute song. This attribute is part of the key"},
		{"update inside a key", "UpdateItem", update("SET song.x = :v", `":v":{"N":"2"}`), "Validation", "Cannot update attribute song. This attribute is part of the key"},
		{"update inside a key in a transaction", "TransactWriteItems", `{"TransactItems":[{"Update":` + update("SET song[0] = :v", `":v":{"N":"2"}`) + `}]}`, "TransactionCanceled", "[ValidationError]"},
		{"index key update of another type", "UpdateItem", update("SET genre = :v", `":v":{"N":"2"}`), "Validation", "The update expression attempted to update the secondary index key to unsupported type"},
		{"empty index key update", "UpdateItem", update("SET genre = :v", `":v":{"S":""}`), "Validation", "The update expression attempted to update a secondary index key to a value that is not supported. The AttributeValue for a key attribute cannot contain an empty string value."},
		{"long index key update", "UpdateItem", update("SET genre = :v", `":v":{"S":"`+strings.Repeat("x", 2049)+`"}`), "Validation", "The update expression attempted to update the secondary index key beyond allowed size limits"},
		{"index key of another type in older words", "UpdateItem", `{"TableName":"music","Key":{"artist":{"S":"a"},"song":{"N":"1"}},"AttributeUpdates":{"genre":{"Value":{"N":"2"}}}}`, "Validation", "Type mismatch for Index Key genre"},
		{"empty index key in a transaction", "TransactWriteItems", `{"TransactItems":[{"Put":` + song(`"artist":{"S":"b"},"song":{"N":"1"},"genre":{"S":""}`) + `}]}`, "Validation", "IndexName: genre-year, IndexKey: genre"},
		{"index key update of another type in a transaction", "TransactWriteItems", `{"TransactItems":[{"Update":` + update("SET genre = :v", `":v":{"N":"2"}`) + `}]}`, "TransactionCanceled", "[ValidationError]"},
		{"update to something too large", "UpdateItem", update("SET v = :v", `":v":{"S":"`+strings.Repeat("x", 409_590)+`"}`), "Validation", "Item size to update has exceeded"},
		{"overlapping paths", "UpdateItem", update("SET m = :v, m.x = :v", `":v":{"S":"x"}`), "Validation", "Two document paths overlap"},
		{"unused value", "UpdateItem", update("SET v = :v", `":v":{"S":"x"},":w":{"S":"x"}`), "Validation", "Value provided in ExpressionAttributeValues unused in expressions: keys: {:w}"},
		{"reserved word", "UpdateItem", update("SET count = :v", `":v":{"S":"x"}`), "Validation", "reserved keyword: count"},
		{"missing operand", "UpdateItem", update("SET v = nothing + :v", `":v":{"N":"1"}`), "Validation", "refers to an attribute that does not exist"},
		{"path into a key", "UpdateItem", `{"TableName":"music","Key":{"artist":{"S":"a"},"song":{"N":"1"}},"UpdateExpression":"SET v = artist.x"}`, "Validation", "not allowed: Key: artist"},
		{"change inside an index key", "UpdateItem", only("REMOVE genre.x", "attribute_exists(artist)"), "Validation", "IndexKey: genre"},
		{"change inside an index key under a false condition", "UpdateItem", only("REMOVE genre.x", "attribute_exists(w)"), "ConditionalCheckFailed", ""},
		{"read inside an index key under a false condition", "UpdateItem", only("SET v = genre.x", "attribute_exists(w)"), "ConditionalCheckFailed", ""},
		{"read inside a key under a false condition", "UpdateItem", only("SET v = artist.x", "attribute_exists(w)"), "ConditionalCheckFailed", ""},
		{"change inside a key under a false condition", "UpdateItem", only("REMOVE artist.x", "attribute_exists(w)"), "ConditionalCheckFailed", ""},
		{"condition inside an index key", "UpdateItem", only("REMOVE genre.x", "attribute_exists(genre.y)"), "Validation", "IndexKey: genre"},
		{"condition inside a key and change of it", "UpdateItem", only("REMOVE artist.x", "attribute_exists(artist.y)"), "Validation", "not allowed: Key: artist"},
		{"change inside an index key in a transaction under a false condition", "TransactWriteItems", `{"TransactItems":[{"Update":` + only("REMOVE genre.x", "attribute_exists(w)") + `}]}`, "TransactionCanceled", "[ConditionalCheckFailed]"},
		{"path into an index key", "GetItem", `{"TableName":"music","Key":{"artist":{"S":"a"},"song":{"N":"1"}},"ProjectionExpression":"genre.x"}`, "Validation", "IndexKey: genre"},
		{"names without an expression", "GetItem", `{"TableName":"plain","Key":{"id":{"S":"a"}},"ExpressionAttributeNames":{"#x":"y"}}`, "Validation", "can only be specified when using expressions"},
		{"no names", "GetItem", `{"TableName":"plain","Key":{"id":{"S":"a"}},"ProjectionExpression":"x","ExpressionAttributeNames":{}}`, "Validation", "ExpressionAttributeNames must not be empty"},
		{"a bad value", "UpdateItem", update("SET v = :v", `":v":{"N":"x"}`), "Validation", "1 validation error detected: The parameter cannot be converted to a numeric value: x"},
		{"a value without a key", "UpdateItem", update("SET v = :v", `":v":{"N":"1"},"":{"N":"1"}`), "Validation", "ExpressionAttributeValues contains invalid key: The expression attribute map contains an empty key;"},
		{"no name in a value", "UpdateItem", update("SET v = :v", `":v":{"M":{"":{"N":"1"}}}`), "Validation", "1 validation error detected: Empty attribute name"},
		{"no name", "PutItem", `{"TableName":"plain","Item":{"id":{"S":"x"},"":{"N":"1"}}}`, "Validation", "Empty attribute name"},
		{"no name inside", "PutItem", `{"TableName":"nowhere","Item":{"id":{"S":"x"},"l":{"L":[{"M":{"":{"N":"1"}}}]}}}`, "Validation", "Empty attribute name"},
		{"returns of a put", "PutItem", `{"TableName":"plain","Item":{"id":{"S":"x"}},"ReturnValues":"ALL_NEW"}`, "Validation", "ReturnValues can only be ALL_OLD or NONE"},
		{"unknown returns", "PutItem", `{"TableName":"plain","Item":{"id":{"S":"x"}},"ReturnValues":"SOME","ReturnConsumedCapacity":"x"}`, "Validation", "2 validation errors detected"},
		{
			"both kinds of parameter", "PutItem", `{"TableName":"plain","Item":{"id":{"S":"x"}},"Expected":{},"ConditionExpression":"attribute_exists(id)"}`, "Validation",
			"Non-expression parameters: {Expected} Expression parameters: {ConditionExpression}",
		},
		{"no JSON", "PutItem", `{"TableName":`, "Serialization", ""},
		{"wrong JSON", "PutItem", `{"TableName":5}`, "Serialization", "NUMBER_VALUE cannot be converted to String"},
		{"unknown operation", "Fly", `{}`, "UnknownOperation", `dynamotest does not have "Fly"`},
	})
}

func TestLargestItem(t *testing.T) {
	t.Parallel()
	eng := newEngine(t, engine.Options{})
	room := 400<<10 - len("id") - len("x") - len("v")
	for over := range 2 {
		res := eng.Do(t.Context(), "PutItem", []byte(`{"TableName":"plain","Item":{"id":{"S":"x"},"v":{"S":"`+strings.Repeat("x", room+over)+`"}}}`))
		if refused := res.Err != nil; refused != (over > 0) {
			t.Errorf("%d bytes over 400 KB: %v", over, res.Err)
		}
	}
}

func TestANewItemsKeyCanBeRead(t *testing.T) {
	t.Parallel()
	db := connect(newEngine(t, engine.Options{}))
	out, err := db.UpdateItem(t.Context(), &dynamodb.UpdateItemInput{
		TableName: plain, Key: item("id", "k"), ReturnValues: types.ReturnValueAllNew,
		UpdateExpression:          aws.String("SET #copy = id, #own = if_not_exists(id, :other) REMOVE gone.deep"),
		ExpressionAttributeNames:  map[string]string{"#copy": "copy", "#own": "own"},
		ExpressionAttributeValues: item(":other", "no"),
	})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(item("id", "k", "copy", "k", "own", "k"), out.Attributes, compare); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}
