// Package backfill makes the update that gives a row of an older system what it
// lacks.
package backfill

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/homeops/ddbpatterns/internal/ddb"
	"github.com/homeops/ddbpatterns/internal/item"
)

// Update returns an update that sets the wanted attributes that the row lacks or
// has with another value, and false if the row has them all. DynamoDB refuses the
// update unless these attributes, and those in from, which the wanted ones were
// made from, are still as in row. The row must have at least one of them: otherwise
// the update would bring back a row that is deleted meanwhile. It is an error if
// the row has no room for them, by its size as stored in the table.
func Update(stored func(ddb.Item) ddb.Item, table string, row ddb.Item, key []string, want ddb.Item, from ...string) (*dynamodb.UpdateItemInput, bool, error) {
	attributes := slices.Concat(slices.Sorted(maps.Keys(want)), from)
	condition, names, values := Unchanged(row, attributes)
	var sets []string

	for i, name := range attributes {
		if value, wanted := want[name]; wanted && !reflect.DeepEqual(row[name], value) {
			sets = append(sets, fmt.Sprintf("#%d = :new%d", i, i))
			values[fmt.Sprintf(":new%d", i)] = value
		}
	}

	if sets == nil {
		return nil, false, nil
	}

	whole := maps.Clone(row)
	maps.Copy(whole, want)
	if size := item.Size(stored(whole)); size > item.MaxSize {
		return nil, false, fmt.Errorf("the row would have %d bytes, and DynamoDB accepts at most %d", size, item.MaxSize)
	}

	in := &dynamodb.UpdateItemInput{
		TableName: aws.String(table), Key: ddb.Item{},
		UpdateExpression: aws.String("SET " + strings.Join(sets, ", ")), ConditionExpression: aws.String(condition),
		ExpressionAttributeNames: names, ExpressionAttributeValues: values,
	}

	for _, name := range key {
		in.Key[name] = row[name]
	}
	return in, true, nil
}

// Unchanged is the condition that the attributes are as in row, with its names and
// values.
func Unchanged(row ddb.Item, attributes []string) (condition string, names map[string]string, values ddb.Item) {
	names, values = map[string]string{}, ddb.Item{}
	var holds []string
	for i, name := range attributes {
		names[fmt.Sprintf("#%d", i)] = name
		if stands, found := row[name]; found {
			holds = append(holds, fmt.Sprintf("#%d = :old%d", i, i))
			values[fmt.Sprintf(":old%d", i)] = stands
		} else {
			holds = append(holds, fmt.Sprintf("attribute_not_exists(#%d)", i))
		}
	}
	return strings.Join(holds, " AND "), names, values
}
