package house

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The table of the cookbook leads to each recipe, and each file of its package is one
// that a page shows or names.
func TestCookbookIsWhole(t *testing.T) {
	t.Parallel()
	page := read(t, "docs/cookbook.md")
	headings := regexp.MustCompile(`(?m)^## (.+)$`).FindAllStringSubmatch(page, -1)
	if len(headings) < 5 {
		t.Fatalf("%d recipes", len(headings))
	}
	for _, m := range headings {
		slug := strings.ReplaceAll(regexp.MustCompile(`[^a-z0-9 -]`).ReplaceAllString(strings.ToLower(m[1]), ""), " ", "-")
		if !strings.Contains(page, "](#"+slug+") |") {
			t.Errorf("the table has no link to #%s", slug)
		}
	}

	pages, err := filepath.Glob("docs/cookbook*.md")
	if err != nil {
		t.Fatal(err)
	}
	var all string
	for _, file := range pages {
		all += read(t, file)
	}
	files, err := filepath.Glob("examples/cookbook/*.go")
	if err != nil || len(files) < 4 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, file := range files {
		code := !strings.HasSuffix(file, "_test.go") && !strings.HasSuffix(file, "/doc.go")
		if code && !strings.Contains(all, filepath.ToSlash(file)) {
			t.Errorf("no page of the cookbook shows or names %s", file)
		}
	}
}
