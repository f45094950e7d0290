package facts_test

import (
	"encoding/json"
	"regexp"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/dynamotest/internal/facts"
)

// dynamotest answers as DynamoDB was seen to answer.
func TestFactsHold(t *testing.T) {
	t.Parallel()
	all, err := facts.All()
	if err != nil {
		t.Fatal(err)
	}
	server := dynamotest.NewServer(nil)
	runner, err := facts.NewRunner(facts.Over(server.Transport(), "http://dynamotest.invalid", nil), "inmemory")
	if err != nil {
		t.Fatal(err)
	}
	for _, fact := range all {
		differs, err := runner.Run(t.Context(), fact)
		if err != nil {
			t.Fatal(err)
		}
		if differs != "" {
			t.Errorf("%s: %s", fact.ID, differs)
		}
	}
	if err := runner.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff(0, len(server.Tables())); diff != "" {
		t.Errorf("tables are left: %s", diff)
	}
}

// Each fact has its source and when AWS gave the answer, and no two have the same
// id.
func TestFactsAreWhole(t *testing.T) {
	t.Parallel()
	all, err := facts.All()
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 1400 {
		t.Errorf("only %d facts", len(all))
	}
	name := regexp.MustCompile(`^[A-Za-z][\w-]*/\S+$`)
	seen := regexp.MustCompile(`^20\d\d-\d\d(-\d\d)?$`)
	ids := map[string]bool{}
	for _, fact := range all {
		if ids[fact.ID] || !name.MatchString(fact.ID) {
			t.Errorf("%q is another fact's id, or not a good one", fact.ID)
		}
		ids[fact.ID] = true
		if fact.Source == "" || fact.Seen != "" && !seen.MatchString(fact.Seen) {
			t.Errorf("%s: source %q, seen %q", fact.ID, fact.Source, fact.Seen)
		}
		checked := false
		for _, step := range fact.Steps {
			checked = checked || len(step.Expect) > len(`{"ok": true}`)
			if step.Op == "" || !json.Valid(step.Body) || !json.Valid(step.Expect) {
				t.Errorf("%s: a step is not whole: %+v", fact.ID, step)
			}
		}
		if last := fact.Steps[len(fact.Steps)-1]; !checked && string(last.Expect) != `{"ok": true}` {
			t.Errorf("%s expects nothing", fact.ID)
		}
	}
}
