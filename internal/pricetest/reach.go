package pricetest

import (
	"go/ast"
	"maps"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/homeops/ddbpatterns/"

// operations are those that read and write rows.
var operations = []string{
	"BatchGetItem", "BatchWriteItem", "DeleteItem", "GetItem", "PutItem", "Query", "Scan", "TransactWriteItems", "UpdateItem",
}

// calls are the names that functions use, of other functions and of operations.
// A method has only its name here, whatever its type, so that no call is
// missed.
type calls map[string][]string

// reachable returns the operations that each exported function of the package in
// the current folder can send, according to the source: only those that take a
// context can send any. It follows calls through this package and the imported
// packages that have an API of their own.
func reachable(t *testing.T) map[string][]string {
	t.Helper()
	graph, loaded := calls{}, map[string]bool{}
	graph.load(t, ".", loaded)

	// An exact Kind of package record is only for packages that take a client of
	// transactions.
	transacts := slices.ContainsFunc(sources(t, "."), func(file *ast.File) (found bool) {
		ast.Inspect(file, func(n ast.Node) bool {
			id, ok := n.(*ast.Ident)
			found = found || ok && (id.Name == "TransactWriteItems" || id.Name == "Retention")
			return true
		})
		return found
	})

	reach := map[string][]string{}
	for _, file := range sources(t, ".") {
		for _, decl := range file.Decls {
			if fn, ok := decl.(*ast.FuncDecl); ok && public(fn) {
				seen := map[string]bool{}
				graph.follow(node(file.Name.Name, fn), seen)
				reach[nameOf(fn)] = slices.DeleteFunc(slices.Sorted(maps.Keys(seen)), func(name string) bool {
					return !takesContext(fn) || !slices.Contains(operations, name) || name == "TransactWriteItems" && !transacts
				})
			}
		}
	}

	return reach
}

// node is "pkg.Func", or ".method".
func node(pkg string, fn *ast.FuncDecl) string {
	if fn.Recv != nil {
		return "." + fn.Name.Name
	}
	return pkg + "." + fn.Name.Name
}

func (c calls) follow(name string, seen map[string]bool) {
	for _, next := range c[name] {
		if !seen[next] {
			seen[next] = true
			c.follow(next, seen)
		}
	}
}

func (c calls) load(t *testing.T, folder string, loaded map[string]bool) {
	t.Helper()
	for _, file := range sources(t, folder) {
		packages := map[string]bool{}
		for _, spec := range file.Imports {
			name, _ := strconv.Unquote(spec.Path.Value)
			below, ours := strings.CutPrefix(name, module)
			packages[path.Base(name)] = true
			if from := path.Join(root(t), below); ours && !loaded[below] && sends(t, from) && (below != "record" || asks(file)) {
				loaded[below] = true
				c.load(t, from, loaded)
			}
		}

		for _, decl := range file.Decls {
			if fn, ok := decl.(*ast.FuncDecl); ok && fn.Body != nil {
				c.add(file.Name.Name, fn, packages)
			}
		}
	}
}

// add adds the names that a function uses.
func (c calls) add(pkg string, fn *ast.FuncDecl, packages map[string]bool) {
	from := node(pkg, fn)
	var visit func(ast.Node) bool
	visit = func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Ident:
			c[from] = append(c[from], pkg+"."+n.Name)
		case *ast.SelectorExpr:
			of, ok := n.X.(*ast.Ident)
			switch {
			case ok && packages[of.Name]:
				c[from] = append(c[from], of.Name+"."+n.Sel.Name)
			case slices.Contains(operations, n.Sel.Name):
				c[from] = append(c[from], n.Sel.Name)
			default:
				c[from] = append(c[from], "."+n.Sel.Name)
			}
			ast.Inspect(n.X, visit)
			return false
		}
		return true
	}

	ast.Inspect(fn.Body, visit)
}

// silent are the names of package record with which a package that has no Rows makes
// its actions and filters. Nothing that they name sends a request.
var silent = []string{"API", "Action", "Compare", "ErrContended", "Item", "NewAction"}

// asks reports whether the file uses more of package record than silent names.
func asks(file *ast.File) (found bool) {
	ast.Inspect(file, func(n ast.Node) bool {
		if selector, ok := n.(*ast.SelectorExpr); ok {
			of, ok := selector.X.(*ast.Ident)
			found = found || ok && of.Name == "record" && !slices.Contains(silent, selector.Sel.Name)
		}
		return true
	})
	return found
}

// sends reports whether a package has an API of its own.
func sends(t *testing.T, folder string) bool {
	t.Helper()
	return slices.ContainsFunc(sources(t, folder), func(file *ast.File) bool {
		return slices.ContainsFunc(file.Decls, func(decl ast.Decl) bool {
			of, ok := decl.(*ast.GenDecl)
			return ok && len(of.Specs) == 1 && isAPI(of.Specs[0])
		})
	})
}

func isAPI(spec ast.Spec) bool {
	of, ok := spec.(*ast.TypeSpec)
	return ok && of.Name.Name == "API"
}

// root is the folder of the root module, which may be above another.
func root(t *testing.T) string {
	t.Helper()
	for up := "."; ; up = path.Join("..", up) {
		if _, err := os.Stat(path.Join(up, "internal/pricetest")); err == nil {
			return up
		}
		if strings.Count(up, "..") > 9 {
			t.Fatal("no internal/pricetest above the package")
		}
	}
}
