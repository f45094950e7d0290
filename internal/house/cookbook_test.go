package house

import (
	"path/filepath"
	"strings"
	"testing"
)

// Each file of the cookbook's package is one that a page shows or names.
func TestCookbookIsWhole(t *testing.T) {
	t.Parallel()
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
