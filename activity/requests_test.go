package activity_test

import (
	"context"
	"fmt"
	"regexp"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/google/go-cmp/cmp"

	"github.com/homeops/ddbpatterns/activity"
)

// recorder keeps the expressions of the requests.
type recorder struct {
	activity.API
	sent []string
}

func (r *recorder) note(op string, names map[string]string, expressions ...*string) {
	for _, e := range expressions {
		if e != nil {
			op += " | " + *e
		}
	}
	for _, name := range regexp.MustCompile(`[#:]?\w+`).FindAllString(op, -1) {
		if _, known := names[name]; name[0] == '#' && !known {
			op += " UNKNOWN " + name
		}
	}
	r.sent = append(r.sent, op)
}

func (r *recorder) PutItem(ctx context.Context, in *dynamodb.PutItemInput, opts ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error) {
	r.note("PutItem", in.ExpressionAttributeNames, in.ConditionExpression)
	return r.API.PutItem(ctx, in, opts...)
}

func (r *recorder) TransactWriteItems(ctx context.Context, in *dynamodb.TransactWriteItemsInput, opts ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error) {
	for _, one := range in.TransactItems {
		if one.Delete != nil {
			r.note("Delete", one.Delete.ExpressionAttributeNames, one.Delete.ConditionExpression)
			continue
		}
		r.note("Put", one.Put.ExpressionAttributeNames, one.Put.ConditionExpression)
	}
	return r.API.TransactWriteItems(ctx, in, opts...)
}

func (r *recorder) DeleteItem(ctx context.Context, in *dynamodb.DeleteItemInput, opts ...func(*dynamodb.Options)) (*dynamodb.DeleteItemOutput, error) {
	r.note("DeleteItem", in.ExpressionAttributeNames, in.ConditionExpression)
	return r.API.DeleteItem(ctx, in, opts...)
}

func (r *recorder) Query(ctx context.Context, in *dynamodb.QueryInput, opts ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error) {
	op := fmt.Sprintf("Query %s forward %v consistent %v limit %d", aws.ToString(in.IndexName), aws.ToBool(in.ScanIndexForward), aws.ToBool(in.ConsistentRead), aws.ToInt32(in.Limit))
	r.note(op, in.ExpressionAttributeNames, in.KeyConditionExpression, in.FilterExpression, in.ProjectionExpression)
	return r.API.Query(ctx, in, opts...)
}

// The requests are exactly these: every attribute's name is aliased, nothing is
// filtered after it was paid for, and the query for a last activity reads four
// rows.
func TestRequests(t *testing.T) {
	t.Parallel()
	db, acts := open(t, nil)
	api := &recorder{API: db.Client()}
	acts, err := activity.New(api, acts.Table().Name, nil)
	if err != nil {
		t.Fatal(err)
	}
	two := setOf(t, 7, 2)
	for range 2 {
		if _, err := acts.RecordAll(t.Context(), two); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := acts.RecordAll(t.Context(), setOf(t, 8, 1)); err != nil {
		t.Fatal(err)
	}
	newest := activity.Range{NewestFirst: true, Limit: 1}
	collect(t, acts.ByName(t.Context(), home, "diskning", newest))
	collect(t, acts.ByActorAndName(t.Context(), home, martin, "diskning", newest))
	collect(t, acts.ByActor(t.Context(), martin, activity.Range{}))
	everything(t, acts)
	collect(t, acts.InScope(t.Context(), home, activity.Range{From: monday, Limit: 50}))
	if _, err := acts.Count(t.Context(), activity.Filter{Scope: home, Name: "diskning"}); err != nil {
		t.Fatal(err)
	}
	if _, err := acts.Retract(t.Context(), activity.Retract{Scope: home, Event: two[1].Event}); err != nil {
		t.Fatal(err)
	}
	if _, err := acts.Retract(t.Context(), activity.Retract{Scope: home, Event: two[1].Event, Tombstone: true}); err != nil {
		t.Fatal(err)
	}
	if err := acts.DeleteEvent(t.Context(), home, two[0].Event); err != nil {
		t.Fatal(err)
	}
	if err := acts.Delete(t.Context(), home, setOf(t, 8, 1)[0].Event); err != nil {
		t.Fatal(err)
	}
	if _, err := acts.Erase(t.Context(), home); err != nil {
		t.Fatal(err)
	}
	if _, err := acts.EraseActor(t.Context(), martin); err != nil {
		t.Fatal(err)
	}
	const (
		put   = " | attribute_not_exists(#id) OR #ttl BETWEEN :one AND :now"
		query = " | #partition = :partition AND #sort BETWEEN :from AND :to"
	)
	want := []string{
		"Put" + put, "Put" + put,
		"Put" + put, "Put" + put,
		"Query  forward false consistent true limit 0" + query, // OfEvent: forward is the default
		"PutItem" + put,
		"Query chatId-activity-index forward false consistent false limit 4" + query,
		"Query chatUser-activity-index forward false consistent false limit 4" + query,
		"Query userId-timestamp-index forward true consistent false limit 4" + query,
		"Query  forward true consistent true limit 4" + query,
		"Query  forward true consistent false limit 50" + query,
		"Query chatId-activity-index forward true consistent false limit 16384" + query + " | #scope, #id, #time, #name, #nameTime, #ttl, #retractedAt",
		"PutItem | attribute_exists(#id) AND attribute_not_exists(#retractedAt) AND NOT #ttl BETWEEN :one AND :now",
		"PutItem | attribute_not_exists(#retractedAt) OR #ttl BETWEEN :one AND :now",
		"Query  forward false consistent true limit 0" + query,
		"Delete | #written = :written", "Delete | #written = :written",
		"Query  forward false consistent true limit 0" + query,
		"DeleteItem | #written = :written",
		"Query  forward false consistent true limit 0 | #partition = :partition | #key0, #key1",
		"Query userId-timestamp-index forward false consistent false limit 0 | #partition = :partition | #key0, #key1",
	}
	if diff := cmp.Diff(want, api.sent); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
}
