package house

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
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite the golden list")

const apiFile = "internal/house/testdata/api.txt"

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
		t.Errorf("the exported API changed; if it must, run go test ./internal/house -run TestExportedAPI -update\n%s", diff)
	}
}

// listed is a package of the module, or one that those import.
type listed struct {
	ImportPath, Name, Dir, Export string
	GoFiles, Imports              []string
}

var listAll = sync.OnceValues(func() ([]listed, error) {
	cmd := exec.Command("go", "list", "-export", "-deps", "-json=ImportPath,Name,Dir,Export,GoFiles,Imports", "./...")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, err
	}
	var all []listed
	for list := json.NewDecoder(bytes.NewReader(out)); ; {
		var pkg listed
		if err := list.Decode(&pkg); err == io.EOF {
			return all, nil
		} else if err != nil {
			return nil, err
		}
		all = append(all, pkg)
	}
})

// packages returns every package after those that it imports, as the go command
// lists them, and what opens their compiled declarations.
func packages(t *testing.T) ([]listed, importer.Lookup) {
	t.Helper()
	sources(t) // go test's cache sees what this process reads, not what go list does
	all, err := listAll()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	exports := map[string]string{}
	for _, pkg := range all {
		exports[pkg.ImportPath] = pkg.Export
	}
	return all, func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) }
}

// publicPackages returns the packages that a user can import, as the compiler
// saw them, with methods of embedded types and values of constants.
func publicPackages(t *testing.T) []*types.Package {
	t.Helper()
	all, lookup := packages(t)
	gc := importer.ForCompiler(token.NewFileSet(), "gc", lookup)
	var public []*types.Package
	for _, pkg := range all {
		folder, ours := strings.CutPrefix(pkg.ImportPath, module+"/")
		if !ours || pkg.Name == "main" || strings.Contains(folder, "internal/") || strings.HasPrefix(folder, "examples/") {
			continue
		}
		typed, err := gc.Import(pkg.ImportPath)
		if err != nil {
			t.Fatal(err)
		}
		public = append(public, typed)
	}
	return public
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
// those of embedded types.
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
		receiver := object.Name()
		if value.Lookup(nil, m.Obj().Name()) == nil {
			receiver = "*" + receiver
		}
		signature := strings.TrimPrefix(types.TypeString(m.Type(), name), "func")
		lines = append(lines, fmt.Sprintf("method (%s) %s%s", receiver, m.Obj().Name(), signature))
	}
	return lines
}
