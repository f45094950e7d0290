package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestPageIsWrittenFromItsSources(t *testing.T) {
	t.Parallel()
	kept, err := os.ReadFile("results.txt")
	if err != nil {
		t.Fatal(err)
	}
	want, err := page(string(kept))
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(filepath.Join("..", "..", "EMULATION.md"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("run go run ./dynamotest/tools/emulation:\n%s", diff)
	}
}

func TestOperations(t *testing.T) {
	t.Parallel()
	there, missing := operations()
	for _, list := range [][]string{there, missing} {
		if len(list) < 20 {
			t.Errorf("only %q", list)
		}
	}
	if names := strings.Join(there, " "); !strings.Contains(names, "PutItem") || strings.Contains(names, "CreateBackup") {
		t.Errorf("there are %s", names)
	}
}

const sample = `{"testResults":[
	{"name":"/tmp/x/tests/tier2/streams/basic.test.ts","assertionResults":[
		{"fullName":"lists","status":"passed"},
		{"fullName":"reads","status":"failed","failureMessages":["Error: none\n at x"]},
		{"fullName":"describes","status":"skipped","failureMessages":[]}]},
	{"name":"/tmp/x/tests/tier1/query/a.test.ts","assertionResults":[{"fullName":"one","status":"passed"}]},
	{"name":"/tmp/x/tests/tier1/query/b.test.ts","assertionResults":[{"fullName":"two","status":"passed"}]}]}`

func TestParseRun(t *testing.T) {
	t.Parallel()
	got, err := parseRun([]byte(sample))
	if err != nil {
		t.Fatal(err)
	}
	want := results{
		{name: "tier1/query", passed: 2, total: 2},
		{name: "tier2/streams", passed: 1, total: 3, failed: []string{"basic: describes: skipped", "basic: reads: Error: none"}},
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(group{})); diff != "" {
		t.Error(diff)
	}
	kept, err := parseResults(got.String())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, kept, cmp.AllowUnexported(group{})); diff != "" {
		t.Errorf("kept and read again: %s", diff)
	}
	const table = "| tests | passed | of |\n|---|--:|--:|\n| tier1/query | 2 | 2 |\n| **tier1** | **2** | **2** |\n" +
		"| tier2/streams | 1 | 3 |\n| **tier2** | **1** | **3** |\n| **all** | **3** | **5** |\n"
	if diff := cmp.Diff(table, got.table()); diff != "" {
		t.Error(diff)
	}
	for _, bad := range []string{"", "{}", `{"testResults":[{"name":"elsewhere.ts"}]}`} {
		if _, err := parseRun([]byte(bad)); err == nil {
			t.Errorf("%q is a run", bad)
		}
	}
}

func TestCompare(t *testing.T) {
	t.Parallel()
	const expected = "a 3/4\n\tx: fails: for one reason\nb 2/2\n"
	for _, test := range []struct {
		name, run     string
		worse, better int
	}{
		{"the same", "a 3/4\n\tx: fails: for another\nb 2/2\n", 0, 0},
		{"better", "a 4/4\nb 2/2\n", 0, 1},
		{"worse", "a 2/4\nb 1/2\n", 2, 0},
		{"both", "a 4/4\nb 1/2\n", 1, 1},
		{"another failure", "a 3/4\n\tx: other: for one reason\nb 2/2\n", 1, 0},
		{"a test gone", "a 3/3\nb 2/2\n", 1, 0},
		{"a group gone", "a 3/4\n\tx: fails: for one reason\n", 1, 0},
		{"a group more", "a 3/4\n\tx: fails: for one reason\nb 2/2\nc 1/1\n", 1, 0},
	} {
		want, err := parseResults(expected)
		if err != nil {
			t.Fatal(err)
		}
		run, err := parseResults(test.run)
		if err != nil {
			t.Fatal(err)
		}
		worse, better := want.compare(run)
		if len(worse) != test.worse || len(better) != test.better {
			t.Errorf("%s: worse %q, better %q", test.name, worse, better)
		}
	}
}
