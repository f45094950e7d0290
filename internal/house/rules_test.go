package house

import (
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
	"sync"
	"testing"
)

const module = "github.com/homeops/ddbpatterns"

// recordPackages have one record type each.
var recordPackages = []string{"activity", "alias", "counter", "ema", "ledger", "limit", "memory", "message", "pattern"}

// The house rules of CONTRIBUTING.md that the syntax of a file shows.
var rules = []struct {
	rule   string
	covers func(f source) bool
	except []string // files, or folders with a slash at the end
	breaks func(f source) []ast.Node
}{
	{
		rule:   "randomness is for jitter: import math/rand in internal/ddb alone",
		covers: source.isCode,
		except: []string{"internal/ddb/", "dynamotest/"},
		breaks: imports("math/rand", "math/rand/v2"),
	},
	{
		rule: "internal/ddb alone knows the SDK's exceptions",
		covers: func(f source) bool {
			return f.isCode() && (f.in(recordPackages...) || f.in("internal", "record", "schema"))
		},
		except: []string{"internal/ddb/"},
		breaks: selectors(func(of, name string) bool { return of == "types" && strings.HasSuffix(name, "Exception") }),
	},
	{
		rule:   "environment variables are read in examples, and by dynamotest.Open",
		covers: source.isCode,
		except: []string{"examples/", "dynamotest/open.go", "check/mutants/"}, // a command, which passes its environment on
		breaks: selectors(func(of, name string) bool {
			return of == "os" && slices.Contains([]string{"Getenv", "LookupEnv", "Environ"}, name)
		}),
	},
	{
		rule: "a test sleeps in a bubble of testing/synctest only",
		covers: func(f source) bool {
			return f.test && !f.imports("testing/synctest") && !f.imports(module+"/dynamotest/explore")
		},
		breaks: selectors(func(of, name string) bool { return of == "time" && name == "Sleep" }),
	},
	{
		rule:   "time/tzdata is for the program to import, not for the library",
		covers: source.isCode,
		except: []string{"examples/"},
		breaks: imports("time/tzdata"),
	},
	{
		rule:   "an application imports what a user can import",
		covers: func(f source) bool { return f.isCode() && f.in("examples") },
		breaks: imports(module + "/internal/"),
	},
	{
		rule:   "a service does not import its demonstration",
		covers: func(f source) bool { return f.isCode() && f.in("examples") },
		except: []string{
			"examples/homeops/demo/", "examples/homeops/run/", "examples/homeops/aws/", "examples/quill/demo/", "examples/quill/run/",
		},
		breaks: imports(module+"/examples/homeops/demo/", module+"/examples/quill/demo/"),
	},
	{
		rule:   "what tests share is for tests",
		covers: source.isCode,
		except: forTests,
		breaks: imports(below(module+"/", forTests)...),
	},
}

// forTests are packages that only tests import.
var forTests = []string{
	"examples/homeops/queue/queuetest", "examples/internal/serving/servingtest", "internal/golden", "internal/pricetest",
	"internal/itemtest", "internal/recordtest", "internal/stacktest",
}

func below(root string, folders []string) (all []string) {
	for _, folder := range folders {
		all = append(all, root+folder)
	}
	return all
}

func TestHouseRules(t *testing.T) {
	t.Parallel()
	for _, r := range rules {
		for _, f := range sources(t) {
			if !r.covers(f) || f.in(r.except...) {
				continue
			}
			for _, node := range r.breaks(f) {
				t.Errorf("%s: %s", f.at(node), r.rule)
			}
		}
	}
}

// A record package has time.Now once, as the default of Config.Now. It has no other
// call that reads the machine's clock.
func TestRecordPackagesReadOneClock(t *testing.T) {
	t.Parallel()
	now := selectors(func(of, name string) bool { return of == "time" && name == "Now" })
	hidden := selectors(func(of, name string) bool { return of == "time" && (name == "Since" || name == "Until") })
	for _, pkg := range append(recordPackages, "record") {
		var found []string
		for _, f := range sources(t) {
			if f.isCode() && f.in(pkg) {
				for _, node := range hidden(f) {
					t.Errorf("%s: the clock is that of Config.Now", f.at(node))
				}
				for _, node := range now(f) {
					found = append(found, f.at(node))
				}
			}
		}
		if len(found) > 1 {
			t.Errorf("%s: time.Now stands more than once: %q", pkg, found)
		}
	}
}

const (
	longestFile     = 400 // lines that are not blank
	longestFunction = 60
)

// dynamotest's own test holds it to the same limits, and to less branching.
func TestFilesAndFunctionsAreShort(t *testing.T) {
	t.Parallel()
	check := func(name string, lines, most int) {
		if lines > most {
			t.Errorf("%s has %d lines, more than %d: split it", name, lines, most)
		}
	}
	for _, f := range sources(t) {
		if f.test || f.in("dynamotest/") {
			continue
		}
		check(f.path, f.lines(f.file.FileStart, f.file.FileEnd), longestFile)
		for _, decl := range f.file.Decls {
			if fn, ok := decl.(*ast.FuncDecl); ok {
				check(f.path+" "+fn.Name.Name, f.lines(fn.Pos(), fn.End()), longestFunction)
				continue
			}
			ast.Inspect(decl, func(n ast.Node) bool { // functions that variables hold
				if fn, ok := n.(*ast.FuncLit); ok {
					check(f.at(fn), f.lines(fn.Pos(), fn.End()), longestFunction)
				}
				return true
			})
		}
	}
}

// source is a Go file of the repository, which may be in a nested module.
type source struct {
	path string // from the module's root, with slashes
	test bool
	// nested is true in a nested module, such as check.
	nested bool
	text   string
	fset   *token.FileSet
	file   *ast.File
}

func (f source) isCode() bool { return !f.test }

// in reports whether f is one of the files, or below one of the folders.
func (f source) in(places ...string) bool {
	return slices.ContainsFunc(places, func(place string) bool {
		return f.path == place || strings.HasPrefix(f.path, strings.TrimSuffix(place, "/")+"/")
	})
}

func (f source) imports(pkg string) bool { return len(imports(pkg)(f)) > 0 }

func (f source) at(node ast.Node) string {
	return fmt.Sprintf("%s:%d", f.path, f.fset.Position(node.Pos()).Line)
}

// lines counts the lines between two places that are not blank.
func (f source) lines(from, to token.Pos) (n int) {
	for line := range strings.Lines(f.text[f.fset.Position(from).Offset:f.fset.Position(to).Offset]) {
		if strings.TrimSpace(line) != "" {
			n++
		}
	}
	return n
}

// renamed returns the original name of an import that f renames.
func (f source) renamed(name string) string {
	for _, spec := range f.file.Imports {
		if spec.Name != nil && spec.Name.Name == name {
			return path.Base(imported(spec))
		}
	}
	return name
}

// imports finds the imports of any of the packages, or of one below a place that
// ends in a slash.
func imports(pkgs ...string) func(f source) []ast.Node {
	return func(f source) []ast.Node {
		var found []ast.Node
		for _, spec := range f.file.Imports {
			if slices.ContainsFunc(pkgs, func(pkg string) bool { return within(imported(spec), pkg) }) {
				found = append(found, spec)
			}
		}
		return found
	}
}

// within reports whether pkg is place, or below it if place ends in a slash.
func within(pkg, place string) bool {
	return pkg == place || strings.HasSuffix(place, "/") && strings.HasPrefix(pkg+"/", place)
}

func imported(spec *ast.ImportSpec) string {
	name, _ := strconv.Unquote(spec.Path.Value) // the parser saw a string
	return name
}

// selectors finds expressions of the form of.name, such as time.Now.
func selectors(wanted func(of, name string) bool) func(f source) []ast.Node {
	return func(f source) []ast.Node {
		var found []ast.Node
		ast.Inspect(f.file, func(n ast.Node) bool {
			if s, ok := n.(*ast.SelectorExpr); ok {
				if of, ok := s.X.(*ast.Ident); ok && wanted(f.renamed(of.Name), s.Sel.Name) {
					found = append(found, s)
				}
			}
			return true
		})
		return found
	}
}

// sources returns every Go file, except those in testdata and in hidden
// folders.
func sources(t *testing.T) []source {
	t.Helper()
	all, err := parseAll()
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 300 {
		t.Fatalf("%d files: the test does not see the repository", len(all))
	}
	return all
}

// nested reports whether the folder is in a module of its own.
func nested(folder string) bool {
	if folder == "." {
		return false
	}
	_, absent := os.Stat(folder + "/go.mod")
	return absent == nil || nested(path.Dir(folder))
}

// walked are the names of all files, except those in testdata and in hidden folders.
var walked = sync.OnceValues(func() (names []string, err error) {
	err = filepath.WalkDir(".", func(name string, entry fs.DirEntry, err error) error {
		base := path.Base(name)
		switch {
		case err != nil:
			return err
		case !entry.IsDir():
			names = append(names, filepath.ToSlash(name))
		case name != "." && (strings.HasPrefix(base, ".") || base == "testdata" || base == "node_modules"):
			return filepath.SkipDir
		}
		return nil
	})
	return names, err
})

var parseAll = sync.OnceValues(func() (all []source, err error) {
	names, err := walked()
	fset := token.NewFileSet()
	for _, name := range names {
		if path.Ext(name) != ".go" || err != nil {
			continue
		}
		var file *ast.File
		var text []byte
		if text, err = os.ReadFile(name); err != nil {
			break
		}
		file, err = parser.ParseFile(fset, name, text, parser.ParseComments|parser.SkipObjectResolution)
		all = append(all, source{name, strings.HasSuffix(name, "_test.go"), nested(path.Dir(name)), string(text), fset, file})
	}
	return all, err
})
