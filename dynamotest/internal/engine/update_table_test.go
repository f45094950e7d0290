package engine

import (
	"io"
	"log/slog"
	"sync"
	"testing"

	"github.com/homeops/ddbpatterns/dynamotest/internal/api"
)

// An UpdateTable that is refused has not read the items: a new index is filled
// only after all other checks. In this test a read of the items panics.
func TestARefusedUpdateBuildsNoIndex(t *testing.T) {
	t.Parallel()
	e := New(Options{Log: slog.New(slog.NewTextHandler(io.Discard, nil))})
	if !puts(0, 0, 0)[0].do(e) {
		t.Fatal("no table")
	}
	e.tables["plain"].items.Set("a trap", nil)
	const index = `{"TableName":"plain","AttributeDefinitions":[{"AttributeName":"n","AttributeType":"S"}],"GlobalSecondaryIndexUpdates":[
		{"Create":{"IndexName":"by-n","KeySchema":[{"AttributeName":"n","KeyType":"HASH"}],"Projection":{"ProjectionType":"ALL"}}}]`
	for body, want := range map[string]string{
		index + `,"StreamSpecification":{"StreamEnabled":false}}`: api.ValidationException,
		index + `}`: api.InternalServerError, // the read panics
	} {
		if res := e.Do(t.Context(), "UpdateTable", []byte(body)); res.Err == nil || res.Err.Code != want {
			t.Errorf("%s: %v, want %s", body, res.Err, want)
		}
	}
}

// Plans are made and replies are written without a lock, while definitions are
// replaced. The race detector finds reads of data that may change.
func TestDefinitionsAreReplacedBeside(t *testing.T) {
	t.Parallel()
	e := newUsers(t)
	perform(t, e, "UpdateTable", byName)
	const tags = `{"ResourceArn":"arn:aws:dynamodb:us-east-1:123456789012:table/users"`
	var beside []func()
	for op, body := range map[string]string{
		"DescribeTable": `{"TableName":"users"}`, "DescribeTimeToLive": `{"TableName":"users"}`, "DescribeContinuousBackups": `{"TableName":"users"}`, "ListTagsOfResource": tags + `}`,
	} {
		rep, err := e.perform(t.Context(), operations[op], &Call{Operation: op}, []byte(body))
		if err != nil {
			t.Fatal(err)
		}
		beside = append(beside, func() { rep(new(api.Writer)) })
	}
	p, release := holdAnna(t, e)
	defer release()
	beside = append(beside, p.evaluate)
	var all sync.WaitGroup
	for _, do := range beside {
		all.Go(do)
	}
	perform(t, e, "UpdateTable", `{"TableName":"users","GlobalSecondaryIndexUpdates":[{"Update":{"IndexName":"by-name","WarmThroughput":{"ReadUnitsPerSecond":14000}}}]}`)
	perform(t, e, "UpdateTimeToLive", `{"TableName":"users","TimeToLiveSpecification":{"AttributeName":"until","Enabled":false}}`)
	perform(t, e, "UpdateContinuousBackups", `{"TableName":"users","PointInTimeRecoverySpecification":{"PointInTimeRecoveryEnabled":true}}`)
	perform(t, e, "TagResource", tags+`,"Tags":[{"Key":"team","Value":"shop"}]}`)
	perform(t, e, "UntagResource", tags+`,"TagKeys":["team"]}`)
	all.Wait()
	if err := p.errs[0]; err != nil {
		t.Error(err)
	}
}
