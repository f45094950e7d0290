package house

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// everyPage returns the repository's pages, including those of nested modules.
func everyPage(t *testing.T) []string {
	t.Helper()
	var found []string
	for _, folder := range []string{"", "*/", "*/*/", "*/*/*/", "*/*/*/*/"} {
		of, err := filepath.Glob(folder + "*.md")
		if err != nil {
			t.Fatal(err)
		}
		for _, page := range of {
			if !strings.HasPrefix(page, ".") { // what scripts install
				found = append(found, page)
			}
		}
	}
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

// llms.txt names only calls that exist, and most calls that a program makes.
func TestCallsForAssistants(t *testing.T) {
	t.Parallel()
	text, api := read(t, "llms.txt"), read(t, apiFile)
	found := 0
	for _, m := range regexp.MustCompile("`(\\w+)\\.([A-Z]\\w+)(?:\\.([A-Z]\\w+))?`").FindAllStringSubmatch(text, -1) {
		pkg, name, method := m[1], m[2], m[3]
		line := fmt.Sprintf(`(?m)^%s: (func|type|var|const) %s\b`, pkg, name)
		if method != "" {
			line = fmt.Sprintf(`(?m)^%s: method \(\*?%s\) %s\(`, pkg, name, method)
		}
		if !regexp.MustCompile(line).MatchString(api) {
			t.Errorf("llms.txt: %s does not exist", m[0])
		}
		found++
	}
	if found < 60 {
		t.Errorf("%d calls", found)
	}
	for _, m := range regexp.MustCompile(`(?m)^(\w+): func New\b`).FindAllStringSubmatch(api, -1) {
		if !strings.Contains(text, "`"+m[1]+".") {
			t.Errorf("llms.txt has no call of %s", m[1])
		}
	}
}
