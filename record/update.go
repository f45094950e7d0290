package record

import (
	"context"
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

// What must still stand for a write of Apply to take effect. A row of an older
// system has no version; its writers change the count, or bring one into being.
// Where they made a deleted row anew, its version and ring may be as before, by
// the same events again, over another count.
const (
	ifNone   = "attribute_not_exists(#pk)"
	ifRing   = "#version = :stood AND #recent = :ring"
	andCount = " AND #count = :stoodCount" // beside ifRing
	ifNoRing = "#version = :stood AND attribute_not_exists(#recent)"
	ifCount  = "attribute_not_exists(#version) AND #count = :stood"
	ifBare   = "attribute_exists(#pk) AND attribute_not_exists(#version) AND attribute_not_exists(#count)"
)

// update writes the step if the row still stands.
func (r *Rows[T]) update(ctx context.Context, key, row Item, s step) error {
	names := map[string]string{
		"#type": attrType, "#version": attrVersion, "#recent": attrRecent,
		"#updatedAt": attrUpdatedAt, "#count": r.kind.Count,
	}
	values := Item{
		":type": s.becomes[attrType], ":version": s.becomes[attrVersion], ":recent": s.becomes[attrRecent],
		":updatedAt": s.becomes[attrUpdatedAt], ":count": s.becomes[r.kind.Count],
	}
	condition := ifBare
	switch {
	case len(row) == 0:
		condition = ifNone
	case item.Has(row, attrVersion) && item.Has(row, attrRecent):
		condition, values[":stood"], values[":ring"] = ifRing, row[attrVersion], row[attrRecent]
		if item.Has(row, r.kind.Count) {
			condition, values[":stoodCount"] = ifRing+andCount, row[r.kind.Count]
		}
	case item.Has(row, attrVersion):
		condition, values[":stood"] = ifNoRing, row[attrVersion]
	case item.Has(row, r.kind.Count):
		condition, values[":stood"] = ifCount, row[r.kind.Count]
	}
	if condition == ifNone || condition == ifBare {
		names["#pk"] = attrPK
	}
	return r.send(ctx, &dynamodb.UpdateItemInput{
		Key:                       key,
		UpdateExpression:          aws.String(withOwn(setCounted, s.own, names, values)),
		ConditionExpression:       aws.String(condition),
		ExpressionAttributeNames:  names,
		ExpressionAttributeValues: values,
	})
}

// send sends the update. A refusal shows the row that stands.
func (r *Rows[T]) send(ctx context.Context, in *dynamodb.UpdateItemInput) error {
	in.TableName = aws.String(r.table)
	in.ReturnValuesOnConditionCheckFailure = types.ReturnValuesOnConditionCheckFailureAllOld
	_, err := r.api.UpdateItem(ctx, in)
	return err
}

// withOwn adds the record's own attributes to an update, in the order of their
// names, so that the same changes always are the same expression.
func withOwn(set string, own Item, names map[string]string, values Item) string {
	remove := ""
	for i, attribute := range slices.Sorted(maps.Keys(own)) {
		alias := "own" + strconv.Itoa(i)
		names["#"+alias] = attribute
		switch {
		case own[attribute] != nil:
			set += ", #" + alias + " = :" + alias
			values[":"+alias] = own[attribute]
		case remove == "":
			remove = " REMOVE #" + alias
		default:
			remove += ", #" + alias
		}
	}
	return set + remove
}
