package stacktest

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/schema"
)

// Outcome is the result of a change.
type Outcome string

// Either DynamoDB refuses a change, or Diff names it, or the change says what
// DynamoDB does anyway.
const (
	Refused Outcome = "refused"
	Named   Outcome = "named"
	Same    Outcome = "same"
)

// Defaults are the properties that may be left out if they say what DynamoDB
// does anyway.
var Defaults = []string{
	"-DeletionProtectionEnabled", "-PointInTimeRecoverySpecification",
	"-PointInTimeRecoverySpecification.PointInTimeRecoveryEnabled", "-SSESpecification.SSEType",
}

// Check compares a table of a template with its definition. Deployed as it is, its
// Diff must be empty. For each of its Changes that can be deployed, Diff must name
// the change. Only Defaults may be left out. Check returns the outcomes of the
// changes, by [Change.Where].
func Check(t testing.TB, table schema.Table, properties map[string]any) map[string]map[Outcome]int {
	t.Helper()
	db := dynamotest.New(t, nil).Client()
	if err := Deploy(t.Context(), db, properties); err != nil {
		t.Fatalf("%v: %v", table, err)
	}

	if differences, err := schema.Diff(t.Context(), db, table); err != nil || len(differences) > 0 {
		t.Errorf("%v: differs as it is deployed: %v, %v", table, differences, err)
	}

	outcomes := map[string]map[Outcome]int{}
	for _, c := range Changes(properties) {
		if outcomes[c.Where] == nil {
			outcomes[c.Where] = map[Outcome]int{}
		}
		outcome := try(t, table, c)
		if outcome == Same && !slices.Contains(Defaults, c.Where) {
			t.Errorf("%v: %s: is not named", table, c.Where)
		}
		outcomes[c.Where][outcome]++
	}

	return outcomes
}

func try(t testing.TB, table schema.Table, c Change) Outcome {
	t.Helper()
	db := dynamotest.New(t, nil).Client()
	if err := Deploy(t.Context(), db, c.Properties); err != nil {
		return Refused
	}

	differences, err := schema.Diff(t.Context(), db, table)
	if err != nil {
		t.Fatalf("%v: %s: %v", table, c.Where, err)
	}

	if len(differences) == 0 {
		return Same
	}

	for _, d := range differences {
		if d.Table != table.Name || d.Want == d.Got || !slices.ContainsFunc(whats(c.Where), func(what string) bool { return strings.Contains(d.What, what) }) {
			t.Errorf("%v: %s: is named %+v", table, c.Where, d)
		}
	}

	// Verify must pass after Create mended or tolerated the change. Otherwise both
	// must fail.
	err = schema.Create(t.Context(), db, table)
	_, mismatch := errors.AsType[*schema.MismatchError](err)
	after := schema.Verify(t.Context(), db, table)
	if err != nil && !mismatch || (err == nil) != (after == nil) {
		t.Errorf("%v: %s: Create = %v, and then Verify = %v", table, c.Where, err, after)
	}

	return Named
}

// whats returns what Diff may call different after a change of a property.
func whats(where string) []string {
	for property, what := range map[string][]string{
		"TableName": {"table"}, "BillingMode": {"billing mode"}, "KeySchema": {"key"}, "AttributeDefinitions": {"key", "index"},
		"GlobalSecondaryIndexes": {"index"}, "DeletionProtectionEnabled": {"deletion protection"}, "TimeToLiveSpecification": {"TTL"},
		"PointInTimeRecoverySpecification": {"point-in-time recovery"}, "SSESpecification": {"KMS key"},
	} {
		if strings.HasPrefix(strings.TrimLeft(where, "-+"), property) {
			return what
		}
	}
	return nil
}
