package explore_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/dynamotest/explore"
)

// Algorithms of others, written anew from their documents, and what became of the
// documents' claims. docs/proof.md has the list.

var othersLong = flag.Bool("others.long", false, "exhaust all claims about the algorithms of others")

// claim is what a document says of its algorithm.
type claim struct {
	says    string
	rows    []row // stand at the beginning
	cfg     explore.Config
	long    bool // without -others.long, only so many schedules run
	program func(*explore.Schedule)

	// What the explorer finds, and the shortest schedule; "" if the claim holds.
	but, after string
}

type row = map[string]types.AttributeValue

// judge checks that the claim holds in every schedule, or breaks in the one that it
// names, and that the same schedule breaks it again.
func judge(t *testing.T, claims ...claim) {
	t.Helper()
	for _, c := range claims {
		t.Run(c.says, func(t *testing.T) {
			t.Parallel()
			c.cfg.Server = seeded(t, c.rows...)
			c.cfg.Schedules, c.cfg.Within = 1_000_000, 30*time.Minute
			short := c.long && !*othersLong
			if short {
				c.cfg.Schedules = 50
			}
			r := explore.Run(t, c.cfg, c.program)
			if c.but == "" {
				switch t.Log("holds:", r); {
				case r.Failure != nil:
					t.Errorf("%v, %s\n%s", r, r.Failure.Schedule, r.Failure.Drawing)
				case !r.Exhausted && !short:
					t.Error(r)
				}
				return
			}
			if r.Failure == nil {
				t.Fatalf("%v, want %s", r, c.but)
			}
			t.Logf("%v\n%s", r, r.Failure.Drawing)
			c.cfg.Replay = c.after
			again := explore.Run(t, c.cfg, c.program).Failure
			if r.Failure.Schedule != c.after || again == nil || !strings.Contains(again.Error(), c.but) {
				t.Errorf("%s: %v; want %s: %s, and %v", r.Failure.Schedule, r.Failure, c.after, c.but, again)
			}
		})
	}
}

// attrs makes attributes of names and values.
func attrs(pairs ...any) row {
	made := row{}
	for i := 0; i < len(pairs); i += 2 {
		switch v := pairs[i+1].(type) {
		case string:
			made[pairs[i].(string)] = &types.AttributeValueMemberS{Value: v}
		default:
			made[pairs[i].(string)] = &types.AttributeValueMemberN{Value: fmt.Sprint(v)}
		}
	}
	return made
}

// text is an attribute's string or number, "" if it is absent.
func text(v types.AttributeValue) string {
	switch v := v.(type) {
	case *types.AttributeValueMemberS:
		return v.Value
	case *types.AttributeValueMemberN:
		return v.Value
	}
	return ""
}

// get reads a row.
func get(ctx context.Context, p *explore.Process, pk string, consistent bool) (row, error) {
	out, err := p.Client().GetItem(ctx, &dynamodb.GetItemInput{TableName: aws.String("counts"), Key: key(pk), ConsistentRead: &consistent})
	if err != nil {
		return nil, err
	}
	return out.Item, nil
}

// putIf writes a row under a condition. If the row stands in the way, putIf returns it
// with the error.
func putIf(ctx context.Context, p *explore.Process, item row, condition string, values row) (row, error) {
	in := &dynamodb.PutItemInput{
		TableName: aws.String("counts"), Item: item, ConditionExpression: &condition, ExpressionAttributeValues: values,
		ExpressionAttributeNames: names(condition), ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	}
	_, err := p.Client().PutItem(ctx, in)
	var refused *types.ConditionalCheckFailedException
	if errors.As(err, &refused) {
		return refused.Item, err
	}
	return nil, err
}

// update changes a row, under a condition unless it is "".
func update(ctx context.Context, p *explore.Process, pk, expression, condition string, values row) (row, error) {
	in := &dynamodb.UpdateItemInput{
		TableName: aws.String("counts"), Key: key(pk), UpdateExpression: &expression,
		ExpressionAttributeNames: names(expression + condition), ExpressionAttributeValues: values, ReturnValues: types.ReturnValueUpdatedNew,
	}
	if condition != "" {
		in.ConditionExpression = &condition
	}
	out, err := p.Client().UpdateItem(ctx, in)
	if err != nil {
		return nil, err
	}
	return out.Attributes, nil
}

var name = regexp.MustCompile(`#\w+`)

// names are the names that an expression has for attributes.
func names(expression string) map[string]string {
	var of map[string]string
	for _, name := range name.FindAllString(expression, -1) {
		if of == nil {
			of = map[string]string{}
		}
		of[name] = name[1:]
	}
	return of
}

// noted counts the notes that contain a text.
func noted(v *explore.View, text string) int {
	n := 0
	for _, note := range v.Notes() {
		if strings.Contains(note, text) {
			n++
		}
	}
	return n
}
