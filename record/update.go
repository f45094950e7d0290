package record

import (
	"maps"
	"slices"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/internal/item"
)

// setCounted begins the update expression of Apply; the record's own attributes
// follow. It sets and never replaces, so that attributes of another writer stay.
const setCounted = "SET #type = :type, #version = :version, #recent = :recent, #updatedAt = :updatedAt, #count = :count"

// The condition of a write of Apply. A row of an older system has no version;
// its writers change the count, or bring one into being. Where they made a
// deleted row anew, its version and ring may be as before, by the same events
// again, over another count.
const (
	ifNone   = "attribute_not_exists(#pk)"
	ifRing   = "#version = :stood AND #recent = :ring"
	andCount = " AND #count = :stoodCount" // beside ifRing and ifNoRing
	ifNoRing = "#version = :stood AND attribute_not_exists(#recent)"
	ifCount  = "attribute_not_exists(#version) AND #count = :stood"
	ifBare   = "attribute_exists(#pk) AND attribute_not_exists(#version) AND attribute_not_exists(#count)"
)

// counting returns the write of the step. Its condition is that the row has not
// changed.
func (w *writing[T]) counting(row Item, s step) *dynamodb.UpdateItemInput {
	set, count := setExact, w.kind.Count
	values := Item{
		":type": s.becomes[attrType], ":version": s.becomes[attrVersion],
		":updatedAt": s.becomes[attrUpdatedAt], ":count": s.becomes[count],
	}
	if !w.kind.exact() {
		set, values[":recent"] = setCounted, s.becomes[attrRecent]
	}

	condition := ifBare
	switch {
	case len(row) == 0:
		condition = ifNone
	case item.Has(row, attrVersion) && item.Has(row, attrRecent):
		condition, values[":stood"], values[":ring"] = ifRing, row[attrVersion], row[attrRecent]
	case item.Has(row, attrVersion):
		condition, values[":stood"] = ifNoRing, row[attrVersion]
	case item.Has(row, count):
		condition, values[":stood"] = ifCount, row[count]
	}

	if item.Has(row, attrVersion) && item.Has(row, count) {
		condition, values[":stoodCount"] = condition+andCount, row[count]
	}

	names := item.NamesIn(set, condition)
	names["#count"] = count
	return w.request(w.key, withOwn(set, s.own, names, values), condition, names, values)
}

// request is an update of a row. Its refusal brings the existing row: see
// [ddb.Refused].
func (r *Rows[T]) request(key Item, update, condition string, names map[string]string, values Item) *dynamodb.UpdateItemInput {
	return &dynamodb.UpdateItemInput{
		TableName:                           aws.String(r.table),
		Key:                                 key,
		UpdateExpression:                    aws.String(update),
		ConditionExpression:                 aws.String(condition),
		ExpressionAttributeNames:            names,
		ExpressionAttributeValues:           values,
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	}
}

// withOwn adds the record's own attributes to an update, in the order of their
// names, so that the same changes always are the same expression.
func withOwn(set string, own Item, names map[string]string, values Item) string {
	attributes := slices.AppendSeq(make([]string, 0, len(own)), maps.Keys(own))
	slices.Sort(attributes)

	remove := ""
	for i, attribute := range attributes {
		name, value := aliases(i)
		names[name] = attribute
		switch {
		case own[attribute] != nil:
			set += ", " + name + " = " + value
			values[value] = own[attribute]
		case remove == "":
			remove = " REMOVE " + name
		default:
			remove += ", " + name
		}
	}

	return set + remove
}

// The aliases of a record with few attributes of its own, which most are.
var (
	fewNames  = [...]string{"#own0", "#own1", "#own2", "#own3"}
	fewValues = [...]string{":own0", ":own1", ":own2", ":own3"}
)

// aliases returns the placeholders of the name and the value of the record's ith
// attribute.
func aliases(i int) (name, value string) {
	if i < len(fewNames) {
		return fewNames[i], fewValues[i]
	}
	return "#own" + strconv.Itoa(i), ":own" + strconv.Itoa(i)
}
