package demo_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/homeops/ddbpatterns/examples/quill/demo"
	"github.com/homeops/ddbpatterns/examples/quill/demo/stream"
	"github.com/homeops/ddbpatterns/examples/quill/fact"
	"github.com/homeops/ddbpatterns/examples/quill/intake"
	"github.com/homeops/ddbpatterns/examples/quill/outbox"
	"github.com/homeops/ddbpatterns/examples/quill/post"
)

// small is a report that adds up.
func small() demo.Report {
	return demo.Report{
		OldRows: 2, Forged: 1,
		Want:   stream.Want{Received: 10, New: 2, Duplicate: 4, Refused: 3, Waiting: 1, Old: 1, Later: 1},
		Events: intake.Counts{Received: 10, New: 2, Duplicate: 4, Refused: 3, Waiting: 1, Old: 1, Later: 1, Forged: 1},
		Facts:  post.Counts{Sums: outbox.Sums{Posted: 1, Recovered: 1, RowsReposted: 7, DimensionRows: 8}},
		Stored: demo.Stored{
			Marks: 5, Older: 2, Facts: 2, Known: 1, Refusals: 3,
			Tables: []demo.Table{{Name: fact.Communications, Rows: 2, Keys: 2}, {Name: fact.Contacts, Rows: 9, Keys: 1}},
		},
	}
}

// The check notices each wrong figure.
func TestJudge(t *testing.T) {
	t.Parallel()
	facts := []string{"ALOWARE:CALL:1", "ALOWARE:CALL:2"}
	if wrong := demo.Judged(small(), facts, []string{facts[1], facts[0]}, facts); len(wrong) > 0 {
		t.Fatalf("what adds up does not: %q", wrong)
	}
	for says, change := range map[string]func(*demo.Report){
		"the webhook counted":               func(r *demo.Report) { r.Events.Old++ },
		"counts do not add up":              func(r *demo.Report) { r.Events.Refused++; r.Want.Refused++ },
		"the ledger has 6 marks":            func(r *demo.Report) { r.Stored.Marks++ },
		"of the pipeline before":            func(r *demo.Report) { r.Stored.Older-- },
		"the outbox has 0 refusals":         func(r *demo.Report) { r.Stored.Refusals = 0 },
		"the outbox has 4 refusals":         func(r *demo.Report) { r.Stored.Refusals++ },
		"1 facts are not posted":            func(r *demo.Report) { r.Stored.Pending++ },
		"1 rows of facts are in Power BI":   func(r *demo.Report) { r.Stored.Tables[0].Twice++ },
		"reports 3 facts, and Power BI has": func(r *demo.Report) { r.Facts.Posted++ },
		"Forged:1 Unread:0}, not {":         func(r *demo.Report) { r.Forged, r.Again = 0, 0 },
	} {
		r := small()
		change(&r)
		if wrong := demo.Judged(r, facts, facts, facts); !slices.ContainsFunc(wrong, func(w string) bool { return strings.Contains(w, says) }) {
			t.Errorf("%s: %q", says, wrong)
		}
	}
	others := []string{"ALOWARE:CALL:1", "ALOWARE:CALL:3"}
	if wrong := demo.Judged(small(), facts, others, facts); len(wrong) != 1 || !strings.Contains(wrong[0], "the outbox has 2 facts, which are not") {
		t.Errorf("another fact is stored: %q", wrong)
	}
	if wrong := demo.Judged(small(), facts, facts, others[:1]); len(wrong) != 1 || !strings.Contains(wrong[0], "Power BI has 1 facts, which are not") {
		t.Errorf("another fact is posted: %q", wrong)
	}
}
