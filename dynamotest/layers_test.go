package dynamotest_test

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const module = "github.com/homeops/ddbpatterns/"

// layers are the packages of dynamotest, each with the packages of this module
// that it may import: never from a layer above its own, and never from the rest
// of the library.
var layers = map[string]string{
	// ground
	"internal/jsonx": "",
	"internal/attr":  "jsonx",
	"internal/tree":  "",
	// languages
	"internal/expr":    "attr",
	"internal/partiql": "attr expr",
	// requests
	"internal/api": "attr expr jsonx",
	// rooms
	"internal/latch":      "",
	"internal/capacity":   "api",
	"internal/keys":       "api attr",
	"internal/bind":       "api attr expr partiql",
	"internal/target":     "api attr bind partiql",
	"internal/journal":    "api attr jsonx",
	"internal/catalog":    "api attr keys",
	"internal/stream":     "api attr catalog journal keys tree",
	"internal/throughput": "api attr capacity catalog keys",
	// state, plan, commit, operations
	"internal/engine": "api attr bind capacity catalog expr journal jsonx keys latch partiql stream target throughput tree",
	// faults and transport
	"internal/fault": "api attr keys target",
	"internal/wire":  "api capacity engine",
	// for tests
	".":              "api attr capacity engine fault target wire",
	"cmd/dynamotest": ".",
	// answers that DynamoDB was seen to give
	"internal/facts": "",
	"cmd/facts":      "facts",
	"explore":        ". api attr internal/network target",
}

// sources returns the files of dynamotest without its tests, by folder.
func sources(t *testing.T) map[string][]string {
	t.Helper()
	files := map[string][]string{}
	err := filepath.WalkDir(".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go"):
			folder := path.Dir(filepath.ToSlash(name))
			files[folder] = append(files[folder], name)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func parse(t *testing.T, file string) (*token.FileSet, *ast.File) {
	t.Helper()
	set := token.NewFileSet()
	parsed, err := parser.ParseFile(set, file, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	return set, parsed
}

// A package imports only what its layer may. dynamotest imports nothing of the
// rest of the library, whose tests use it.
func TestLayers(t *testing.T) {
	t.Parallel()
	got := map[string]string{}
	for folder, files := range sources(t) {
		if strings.HasPrefix(folder, "tools/") {
			continue // nothing can import a command
		}
		var imports []string
		for _, file := range files {
			_, parsed := parse(t, file)
			for _, spec := range parsed.Imports {
				imported, _ := strconv.Unquote(spec.Path.Value)
				name, ours := strings.CutPrefix(imported, module)
				if name == "dynamotest" {
					name = "."
				}
				name = strings.TrimPrefix(name, "dynamotest/internal/")
				if ours && !slices.Contains(imports, name) {
					imports = append(imports, name)
				}
			}
		}
		slices.Sort(imports)
		got[folder] = strings.Join(imports, " ")
	}
	if diff := cmp.Diff(layers, got); diff != "" {
		t.Errorf("packages and what they import (-allowed +found):\n%s", diff)
	}
}

// Limits that keep files and functions easy to read.
const (
	mostLines      = 400 // of a file that are not blank
	mostBody       = 60  // of a function
	mostComplexity = 15  // of a function
)

// intricate are the functions above the limit, each with the reason.
var intricate = map[string]string{}

// notBlank counts the lines that are not blank.
func notBlank(text []byte) (n int) {
	for line := range bytes.Lines(text) {
		if len(bytes.TrimSpace(line)) > 0 {
			n++
		}
	}
	return n
}

func TestFilesAndFunctionsAreShort(t *testing.T) {
	t.Parallel()
	found := map[string]bool{}
	for _, files := range sources(t) {
		for _, file := range files {
			content, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if n := notBlank(content); n > mostLines {
				t.Errorf("%s has %d lines, more than %d", file, n, mostLines)
			}
			set, parsed := parse(t, file)
			for name, f := range functions(set, parsed) {
				name = path.Dir(filepath.ToSlash(file)) + ": " + name
				if n := notBlank(content[set.Position(f.Pos()).Offset:set.Position(f.End()).Offset]); n > mostBody {
					t.Errorf("%s has %d lines, more than %d", name, n, mostBody)
				}
				if n := complexity(f); n > mostComplexity {
					found[name] = true
					if intricate[name] == "" {
						t.Errorf("%s has a complexity of %d, more than %d", name, n, mostComplexity)
					}
				}
			}
		}
	}
	for name := range intricate {
		if !found[name] {
			t.Errorf("%s is simple enough: it needs no reason", name)
		}
	}
}

// functions returns the functions of a file by name, and function literals in its
// variables by their first line.
func functions(set *token.FileSet, file *ast.File) map[string]ast.Node {
	all := map[string]ast.Node{}
	for _, decl := range file.Decls {
		if f, ok := decl.(*ast.FuncDecl); ok {
			name := f.Name.Name
			for all[name] != nil {
				name += "'" // a method of another type
			}
			all[name] = f
			continue
		}
		ast.Inspect(decl, func(n ast.Node) bool {
			if f, ok := n.(*ast.FuncLit); ok {
				all[fmt.Sprintf("line %d", set.Position(f.Pos()).Line)] = f
			}
			return true
		})
	}
	return all
}

// complexity counts the ways through a function: one, and one more for each
// branch, case and operator that decides.
func complexity(f ast.Node) int {
	n := 1
	ast.Inspect(f, func(node ast.Node) bool {
		switch node := node.(type) {
		case *ast.IfStmt, *ast.ForStmt, *ast.RangeStmt:
			n++
		case *ast.CaseClause:
			if node.List != nil {
				n++
			}
		case *ast.CommClause:
			if node.Comm != nil {
				n++
			}
		case *ast.BinaryExpr:
			if node.Op == token.LAND || node.Op == token.LOR {
				n++
			}
		}
		return true
	})
	return n
}
