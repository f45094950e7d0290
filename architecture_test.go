package ddbpatterns_test

import (
	"go/ast"
	"os"
	"path"
	"regexp"
	"strings"
	"testing"
)

// A row of a walk: what happens, the functions that do it, their files.
var walkRow = regexp.MustCompile("(?m)^\\| [^|]*\\| (`[^|]+`) \\| (`[^|]+`) \\|$")

var quoted = regexp.MustCompile("`([^`\n]+)`")

func TestWalksNameWhatExists(t *testing.T) {
	t.Parallel()
	declared := map[string]map[string]bool{} // functions and methods, by file
	for _, f := range sources(t) {
		declared[f.path] = map[string]bool{}
		for _, decl := range f.file.Decls {
			if fn, ok := decl.(*ast.FuncDecl); ok {
				declared[f.path][fn.Name.Name] = true
			}
		}
	}
	rows := walkRow.FindAllStringSubmatch(read(t, "ARCHITECTURE.md"), -1)
	if len(rows) < 30 {
		t.Fatalf("%d steps", len(rows))
	}
	for _, row := range rows {
		files := quoted.FindAllStringSubmatch(row[2], -1)
		for _, fn := range quoted.FindAllStringSubmatch(row[1], -1) {
			found := false
			for _, file := range files {
				found = found || declared[file[1]][fn[1]]
			}
			if !found {
				t.Errorf("ARCHITECTURE.md: there is no function %s in %s", fn[1], row[2])
			}
		}
	}
}

// What stands in quotes and has a slash is a path.
func TestArchitectureNamesPathsThatExist(t *testing.T) {
	t.Parallel()
	for _, m := range quoted.FindAllStringSubmatch(read(t, "ARCHITECTURE.md"), -1) {
		if !strings.Contains(m[1], "/") {
			continue
		}
		if _, err := os.Stat(m[1]); err != nil {
			t.Errorf("ARCHITECTURE.md: %v", err)
		}
	}
}

// Each package has its floor. dynamotest's stand in its own test.
func TestEachPackageHasAFloor(t *testing.T) {
	t.Parallel()
	text, _, _ := strings.Cut(read(t, "ARCHITECTURE.md"), "## The order of locks")
	seen := map[string]bool{}
	for _, f := range sources(t) {
		pkg := path.Dir(f.path)
		if seen[pkg] {
			continue
		}
		seen[pkg] = true
		if pkg == "." || f.nested || f.in("dynamotest/", "examples/homeops/") {
			continue
		}
		if !regexp.MustCompile(`(^|[\s` + "`" + `])` + regexp.QuoteMeta(pkg) + `[\s,` + "`" + `]`).MatchString(text) {
			t.Errorf("ARCHITECTURE.md: %s has no floor", pkg)
		}
	}
}
