package comparison_test

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

const page = "../../docs/comparison.md"

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
		"lengths": lengths(t), "mends": mends, "alike": alike(seen), "different": different(seen),
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
