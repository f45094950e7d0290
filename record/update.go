package record

import (
	"context"
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

// update writes the step if the row has not changed.
func (r *Rows[T]) update(ctx context.Context, key, row Item, s step) error {
	return r.send(ctx, r.counting(key, row, s))
}

// counting returns the write of the step. Its condition is that the row has not
// changed.
func (r *Rows[T]) counting(key, row Item, s step) *dynamodb.UpdateItemInput {
	names := map[string]string{
		"#type": attrType, "#version": attrVersion, "#updatedAt": attrUpdatedAt, "#count": r.kind.Count,
	}

	values := Item{
		":type": s.becomes[attrType], ":version": s.becomes[attrVersion],
		":updatedAt": s.becomes[attrUpdatedAt], ":count": s.becomes[r.kind.Count],
	}

	set := setExact
	if !r.kind.exact() {
		set, names["#recent"], values[":recent"] = setCounted, attrRecent, s.becomes[attrRecent]
	}

	condition := ifBare
	switch {
	case len(row) == 0:
		condition = ifNone
	case item.Has(row, attrVersion) && item.Has(row, attrRecent):
		condition, values[":stood"], values[":ring"] = ifRing, row[attrVersion], row[attrRecent]
	case item.Has(row, attrVersion):
		condition, values[":stood"], names["#recent"] = ifNoRing, row[attrVersion], attrRecent
	case item.Has(row, r.kind.Count):
		condition, values[":stood"] = ifCount, row[r.kind.Count]
	}

	if item.Has(row, attrVersion) && item.Has(row, r.kind.Count) {
		condition, values[":stoodCount"] = condition+andCount, row[r.kind.Count]
	}

	if condition == ifNone || condition == ifBare {
		names["#pk"] = attrPK
	}
	return &dynamodb.UpdateItemInput{
		TableName:                 aws.String(r.table),
		Key:                       key,
		UpdateExpression:          aws.String(withOwn(set, s.own, names, values)),
		ConditionExpression:       aws.String(condition),
		ExpressionAttributeNames:  names,
		ExpressionAttributeValues: values,
	}
}

// send sends the update. The error of a refusal has the existing row: see
// [ddb.Refused].
func (r *Rows[T]) send(ctx context.Context, in *dynamodb.UpdateItemInput) error {
	in.ReturnValuesOnConditionCheckFailure = types.ReturnValuesOnConditionCheckFailureAllOld
	_, err := r.api.UpdateItem(ctx, in)
	return err
}

// withOwn adds the record's own attributes to an update, in the order of their
// names, so that the same changes always are the same expression.
func withOwn(set string, own Item, names map[string]string, values Item) string {
	attributes := make([]string, 0, len(own))
	for attribute := range own {
		attributes = append(attributes, attribute)
	}

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
