package ddbpatterns_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"go/importer"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite testdata/api.txt")

const apiFile = "testdata/api.txt"

// testdata/api.txt lists what the packages export, with a line for each name
// that a user's code can use, so that a review shows each change.
func TestExportedAPI(t *testing.T) {
	t.Parallel()
	var lines []string
	for _, pkg := range publicPackages(t) {
		lines = append(lines, exported(pkg)...)
	}
	slices.Sort(lines)
	got := strings.Join(lines, "\n") + "\n"
	if *update {
		if err := os.WriteFile(apiFile, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(strings.Split(read(t, apiFile), "\n"), strings.Split(got, "\n")); diff != "" {
		t.Errorf("the exported API changed; if it must, run go test -run TestExportedAPI . -update\n%s", diff)
	}
}

// publicPackages returns the packages that a user can import, as the compiler
// saw them, with methods of embedded types and values of constants.
func publicPackages(t *testing.T) []*types.Package {
	t.Helper()
	sources(t) // go test's cache notices files that this process reads, not those that go list reads
	cmd := exec.CommandContext(t.Context(), "go", "list", "-export", "-deps", "-json=ImportPath,Name,Export", "./...")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	exports := map[string]string{}
	var public []string
	for list := json.NewDecoder(bytes.NewReader(out)); ; {
		var pkg struct{ ImportPath, Name, Export string }
		if err := list.Decode(&pkg); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		exports[pkg.ImportPath] = pkg.Export
		folder, ours := strings.CutPrefix(pkg.ImportPath, module+"/")
		if ours && pkg.Name != "main" && !strings.Contains(folder, "internal/") && !strings.HasPrefix(folder, "examples/") {
			public = append(public, pkg.ImportPath)
		}
	}
	gc := importer.ForCompiler(token.NewFileSet(), "gc", func(path string) (io.ReadCloser, error) {
		return os.Open(exports[path])
	})
	var pkgs []*types.Package
	for _, path := range public {
		pkg, err := gc.Import(path)
		if err != nil {
			t.Fatal(err)
		}
		pkgs = append(pkgs, pkg)
	}
	return pkgs
}

// unnamed matches the compiler's names for unnamed results.
var unnamed = regexp.MustCompile(`#rv\d+ `)

// exported returns a line for each exported name of pkg, including each method
// and field of its types.
func exported(pkg *types.Package) []string {
	var lines []string
	prefix := strings.TrimPrefix(pkg.Path(), module+"/")
	add := func(format string, args ...any) {
		line := unnamed.ReplaceAllString(fmt.Sprintf(format, args...), "")
		lines = append(lines, prefix+": "+line)
	}
	name := func(p *types.Package) string {
		if p == pkg {
			return ""
		}
		return p.Name()
	}
	for _, n := range pkg.Scope().Names() {
		object := pkg.Scope().Lookup(n)
		if !object.Exported() {
			continue
		}
		switch object := object.(type) {
		case *types.Const:
			add("const %s %s = %s", n, types.TypeString(object.Type(), name), object.Val().ExactString())
		case *types.TypeName:
			for _, line := range typeLines(object, name) {
				add("%s", line)
			}
		default:
			add("%s", types.ObjectString(object, name))
		}
	}
	return lines
}

// typeLines returns the head of a type, then its fields and methods.
func typeLines(object *types.TypeName, name types.Qualifier) []string {
	n := object.Name()
	if object.IsAlias() {
		return []string{fmt.Sprintf("type %s = %s", n, types.TypeString(types.Unalias(object.Type()), name))}
	}
	head, inside := "type "+types.TypeString(object.Type(), name), []string(nil)
	switch under := object.Type().Underlying().(type) {
	case *types.Struct:
		head += " struct"
		for i := range under.NumFields() {
			if f := under.Field(i); f.Exported() {
				embedded := map[bool]string{true: "embeds ", false: f.Name() + " "}[f.Embedded()]
				inside = append(inside, fmt.Sprintf("type %s, %s%s", n, embedded, types.TypeString(f.Type(), name)))
			}
		}
	case *types.Interface:
		head += " interface"
	default:
		head += " " + types.TypeString(under, name)
	}
	return append(append([]string{head}, inside...), methodLines(object, name)...)
}

// methodLines returns the methods of a type and of a pointer to it, including
// those of embedded types that are not exported.
func methodLines(object *types.TypeName, name types.Qualifier) []string {
	var lines []string
	value := types.NewMethodSet(object.Type())
	all := value
	if !types.IsInterface(object.Type()) {
		all = types.NewMethodSet(types.NewPointer(object.Type()))
	}
	for m := range all.Methods() {
		if !m.Obj().Exported() {
			if types.IsInterface(object.Type()) {
				lines = append(lines, fmt.Sprintf("type %s, a method of its own package", object.Name()))
			}
			continue
		}
		if of, ok := object.Type().Underlying().(*types.Struct); ok && len(m.Index()) > 1 && of.Field(m.Index()[0]).Exported() {
			continue // it is listed with the embedded type
		}
		receiver := object.Name()
		if value.Lookup(nil, m.Obj().Name()) == nil {
			receiver = "*" + receiver
		}
		signature := strings.TrimPrefix(types.TypeString(m.Type(), name), "func")
		lines = append(lines, fmt.Sprintf("method (%s) %s%s", receiver, m.Obj().Name(), signature))
	}
	return lines
}
