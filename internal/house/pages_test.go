package house

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// everyPage returns the repository's pages, including those of nested modules.
func everyPage(t *testing.T) []string {
	t.Helper()
	names, err := walked()
	if err != nil {
		t.Fatal(err)
	}
	found := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return filepath.Ext(name) != ".md" })
	if len(found) < 20 {
		t.Fatalf("%d pages: the test does not see the repository", len(found))
	}
	return found
}

// Every relative link of a page leads to an existing file, and its anchor to a
// heading there.
func TestLinksLeadSomewhere(t *testing.T) {
	t.Parallel()
	link := regexp.MustCompile(`(?:\]\(|(?:src|href|srcset)=")([^)#" ]*)(#[^)" ]*)?[)"]`)
	for _, page := range append(everyPage(t), "llms.txt") {
		for _, m := range link.FindAllStringSubmatch(withoutCode(read(t, page)), -1) {
			if strings.Contains(m[1], ":") { // on the web
				continue
			}
			target := filepath.Join(filepath.Dir(page), m[1])
			if m[1] == "" {
				target = page
			}
			if _, err := os.Stat(target); err != nil {
				t.Errorf("%s: %v", page, err)
				continue
			}
			if m[2] != "" && !anchors(read(t, target))[m[2]] {
				t.Errorf("%s: %s has no heading %s", page, target, m[2])
			}
		}
	}
}

// anchors returns the headings of a page, in GitHub's form for links.
func anchors(page string) map[string]bool {
	found := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^#+ (.*)$`).FindAllStringSubmatch(page, -1) {
		text := regexp.MustCompile(`[^\pL\pN _-]`).ReplaceAllString(strings.ToLower(m[1]), "")
		found["#"+strings.ReplaceAll(text, " ", "-")] = true
	}
	for _, m := range regexp.MustCompile(`<a (?:id|name)="([^"]+)"`).FindAllStringSubmatch(page, -1) {
		found["#"+m[1]] = true
	}
	return found
}

// llms.txt and the page of errors name only what exists, and llms.txt most calls that
// a program makes.
func TestPagesNameWhatExists(t *testing.T) {
	t.Parallel()
	api := read(t, apiFile)
	for _, page := range []string{"llms.txt", "docs/errors.md"} {
		named := regexp.MustCompile("`\\*?([a-z]+)\\.([A-Z]\\w+)(?:\\.([A-Z]\\w+))?").FindAllStringSubmatch(read(t, page), -1)
		if len(named) < 60 {
			t.Errorf("%s has %d names", page, len(named))
		}
		for _, m := range named {
			line := fmt.Sprintf(`(?m)^(?:\w+/)?%s: (func|type|var|const|method .*\)) %s\b`, m[1], m[2])
			if m[3] != "" {
				line = fmt.Sprintf(`(?m)^(?:\w+/)?%s: method \(\*?%s\) %s\(`, m[1], m[2], m[3])
			}
			if !slices.Contains([]string{"errors", "ev", "dynamodb"}, m[1]) && !regexp.MustCompile(line).MatchString(api) {
				t.Errorf("%s names %s, which does not exist", page, m[0])
			}
		}
	}
	for _, m := range regexp.MustCompile(`(?m)^(\w+): func New\b`).FindAllStringSubmatch(api, -1) {
		if !strings.Contains(read(t, "llms.txt"), "`"+m[1]+".") {
			t.Errorf("llms.txt has no call of %s", m[1])
		}
	}
}
