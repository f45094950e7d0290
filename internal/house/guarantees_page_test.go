package house

import (
	"regexp"
	"strings"
	"testing"
)

// Each guarantee of docs/guarantees.md names its test, and what is outside; each
// section says what peers do, and each claim about them has a source in the list.
func TestGuaranteesHaveTestsAndSources(t *testing.T) {
	t.Parallel()
	promises, rest, found := strings.Cut(read(t, "docs/guarantees.md"), "\n## Flaws we know")
	if !found {
		t.Fatal("docs/guarantees.md has no flaws")
	}
	test := regexp.MustCompile("`[a-z/0-9]+\\.Test\\w+`")
	for _, section := range strings.Split(promises, "\n## ")[1:] {
		title, text, _ := strings.Cut(section, "\n")
		_, peers, told := strings.Cut(text, "\n**Peers.** ")
		if !told || !strings.Contains(peers, "[S") {
			t.Errorf("%s: no source says what peers do", title)
		}
		rows := regexp.MustCompile(`(?m)^\| .* \|$`).FindAllString(text, -1)
		if len(rows) < 4 || strings.Count(rows[0], "|") != 5 {
			t.Errorf("%s: %d rows", title, len(rows))
			continue
		}
		for _, row := range rows[1:] { // the first is the heading
			cells := strings.Split(strings.Trim(row, "| "), " | ")
			if len(cells) != 4 || !test.MatchString(cells[2]) {
				t.Errorf("%s: a guarantee without its test: %s", title, row)
			}
		}
	}
	sources := regexp.MustCompile(`(?m)^\| (S\d+) \|`).FindAllStringSubmatch(rest, -1)
	cited := map[string]bool{}
	for _, m := range regexp.MustCompile(`\[(S\d+(?:, S\d+)*)\]`).FindAllStringSubmatch(promises, -1) {
		for _, source := range strings.Split(m[1], ", ") {
			cited[source] = true
		}
	}
	for _, m := range sources {
		if !cited[m[1]] {
			t.Errorf("nothing cites %s", m[1])
		}
		delete(cited, m[1])
	}
	for source := range cited {
		t.Errorf("%s is cited and not in the list", source)
	}
}
