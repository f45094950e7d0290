package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/dynamotest/internal/facts"
)

func TestPageIsWrittenFromItsSources(t *testing.T) {
	t.Parallel()
	want, err := page(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(filepath.Join("..", "..", "EMULATION.md"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("run go run -C dynamotest/tools ./emulation:\n%s", diff)
	}
}

// An operation that dynamotest does not have is answered like one that DynamoDB
// does not know.
func TestWhatIsMissingIsUnknown(t *testing.T) {
	t.Parallel()
	there, missing := operations()
	if names := strings.Join(there, " "); len(there) < 20 || !strings.Contains(names, "PutItem") {
		t.Errorf("there are only %s", names)
	}
	runner, err := facts.NewRunner(facts.Over(dynamotest.NewServer(nil).Transport(), "http://dynamotest.invalid", nil), "inmemory")
	if err != nil {
		t.Fatal(err)
	}
	if len(missing) < 20 {
		t.Errorf("only %q are missing", missing)
	}
	for _, name := range missing {
		differs, err := runner.Run(t.Context(), facts.Fact{ID: name, Steps: []facts.Step{
			{Op: name, Body: []byte(`{}`), Expect: []byte(`{"error": "UnknownOperationException", "match": "` + name + `"}`)},
		}})
		if differs != "" || err != nil {
			t.Errorf("%s: %s, %v", name, differs, err)
		}
	}
}

func TestByFeature(t *testing.T) {
	t.Parallel()
	_, missing := operations()
	all, err := byFeature(missing)
	if err != nil || all[0] != (absence{"Vector search", "`SearchVectors`"}) {
		t.Errorf("%v, %v", all, err)
	}
	if _, err := byFeature(append(missing, "MakeCoffee")); err == nil {
		t.Error("an operation of no feature is not noticed")
	}
	if _, err := byFeature(missing[:1]); err == nil {
		t.Error("a feature without operations is not noticed")
	}
}

func TestTable(t *testing.T) {
	t.Parallel()
	ours := facts.Counts{{Group: "a", Held: 3, Of: 3}, {Group: "b", Held: 1, Of: 2}}
	others := []peer{{"X 1.0, today", facts.Counts{{Group: "a", Held: 2, Of: 3}, {Group: "b", Held: 0, Of: 1}}}, {"Y", facts.Counts{{Group: "b", Held: 2, Of: 2}}}}
	const want = "| facts | of | dynamotest | X 1.0, today | Y |\n|---|--:|--:|--:|--:|\n" +
		"| a | 3 | 3 | 2 |  |\n| b | 2 | 1 | 0 of 1 | 2 |\n| all | 5 | 4 | 2 of 4 | 2 of 2 |"
	if diff := cmp.Diff(want, table(ours, others)); diff != "" {
		t.Error(diff)
	}
}
