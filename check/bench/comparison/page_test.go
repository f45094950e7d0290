package comparison_test

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

const page = "../../../docs/comparison.md"

var update = flag.Bool("update", false, "write the tables of "+page+" anew")

// The page's tables are what the forms did, and the lengths of their code.
func TestPageTellsWhatWasSeen(t *testing.T) {
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	seen := outcomes(t)
	if t.Failed() {
		return
	}
	mends, _ := mended(t)
	want := string(text)
	for name, lines := range map[string][]string{
		"lengths": lengths(t), "mends": mends, "alike": alike(seen), "different": different(seen), "facts": facts(t),
	} {
		want = replaced(t, want, name, lines)
	}
	if want == string(text) {
		return
	}
	if *update {
		if err := os.WriteFile(page, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	says := strings.Split(string(text), "\n")
	for line := range strings.SplitSeq(want, "\n") {
		if !slices.Contains(says, line) {
			t.Errorf("%s does not say\n%s", page, line)
		}
	}
	t.Error("after a look at what has changed: go test ./comparison -update")
}

// replaced returns the page with other lines between the comments of that name.
func replaced(t *testing.T, text, name string, lines []string) string {
	t.Helper()
	head, rest, ok := strings.Cut(text, "<!-- seen: "+name+" -->\n")
	_, tail, ended := strings.Cut(rest, "<!-- end -->")
	if !ok || !ended {
		t.Fatalf("%s has no place for %q", page, name)
	}
	return head + "<!-- seen: " + name + " -->\n" + strings.Join(lines, "\n") + "\n<!-- end -->" + tail
}

// alike are the disturbances that all forms take in the same way.
func alike(seen [][]string) []string {
	rows := []string{"| what happens | what all four do |", "|---|---|"}
	for i, cells := range seen {
		if one(cells) {
			rows = append(rows, fmt.Sprintf("| %s | %s |", disturbances[i].name, cells[0]))
		}
	}
	return rows
}

// different are the others.
func different(seen [][]string) []string {
	names := make([]string, len(forms))
	for j, f := range forms {
		names[j] = f.name
	}
	rows := []string{"| what happens | " + strings.Join(names, " | ") + " |", "|---" + strings.Repeat("|---", len(forms)) + "|"}
	for i, cells := range seen {
		if one(cells) {
			continue
		}
		said := slices.Clone(cells)
		for j := 1; j < len(said)-1; j++ {
			if cells[j] == cells[0] {
				said[j] = "as raw"
			}
		}
		rows = append(rows, "| "+disturbances[i].name+" | "+strings.Join(said, " | ")+" |")
	}
	return rows
}

func one(cells []string) bool { return len(slices.Compact(slices.Clone(cells))) == 1 }

// facts are a few lines of the table of dynamotest's own page, turned round.
func facts(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile("../../../dynamotest/EMULATION.md")
	if err != nil {
		t.Fatal(err)
	}
	groups := []string{"facts", "all", "transactions", "streams", "partiql"}
	found := map[string][]string{}
	for line := range strings.SplitSeq(string(text), "\n") {
		cells := strings.Split(strings.Trim(line, "| "), " | ")
		if len(cells) == 6 && found[cells[0]] == nil && slices.Contains(groups, cells[0]) {
			found[cells[0]] = cells[1:]
		}
	}
	rows := []string{"| server | facts held | of transactions | of streams | of PartiQL |", "|---|--:|--:|--:|--:|"}
	for i := 1; i < 5; i++ {
		row := "| " + found["facts"][i]
		for _, group := range groups[1:] {
			cell := found[group][i]
			if !strings.Contains(cell, " of ") { // a server that was asked fewer says so
				cell += " of " + found[group][0]
			}
			row += " | " + cell
		}
		rows = append(rows, row+" |")
	}
	return rows
}
