package main

import (
	"maps"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Each known difference explains its example, and no difference planted into it:
// neither the same one with the servers' answers exchanged, unless it can occur
// either way, nor one with another answer of dynamotest.
func TestKnownDifferencesExplainNothingElse(t *testing.T) {
	t.Parallel()
	examples, err := readExamples("testdata/known.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range known {
		t.Run(k.name, func(t *testing.T) {
			t.Parallel()
			e, ok := examples[k.name]
			if !ok {
				t.Fatal("there is no example")
			}
			seen := e.difference()
			if names, all := explain(seen); !all || !cmp.Equal(names, []string{k.name}) {
				t.Errorf("its example is explained by %q", names)
			}
			for plant, d := range planted(seen, k.either) {
				if names, all := explain(d); all {
					t.Errorf("%s is explained by %q:\n%s\n%s\n%s", plant, names, d.request, d.ours, d.theirs)
				}
			}
		})
	}
}

// planted returns differences like one that was seen, but without a reason.
func planted(seen difference, either bool) map[string]difference {
	out := map[string]difference{}
	if !either {
		exchanged := seen
		exchanged.ours, exchanged.theirs = seen.theirs, seen.ours
		out["the exchange"] = exchanged
	}
	failed := seen
	failed.ours = answer{status: http.StatusInternalServerError, kind: "InternalServerError", body: object{}}
	out["a failure"] = failed
	if !seen.theirs.ok() {
		return out
	}
	refused := seen
	refused.ours = answer{status: http.StatusBadRequest, kind: "RequestLimitExceeded", message: "planted", body: object{}}
	out["a refusal"] = refused
	if seen.ours.ok() {
		more := seen
		more.ours.body = maps.Clone(seen.ours.body)
		more.ours.body["Planted"] = true
		out["a member"] = more
	}
	return out
}
