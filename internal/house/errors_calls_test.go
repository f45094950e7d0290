package house

import (
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A calls is what the functions and variables of the library's packages refer to:
// other functions, other variables, and the error types that they make values of.
// What a function passes to errors.Is and its like is asked about, not returned,
// and is left out. A call through an interface leads nowhere.
type calls map[string][]string

// libraryCalls type-checks the packages that a user imports, dynamotest left out,
// and the internal packages that they are made of.
func libraryCalls(t *testing.T) calls {
	t.Helper()
	all, lookup := packages(t)
	needed := map[string]bool{}
	for _, name := range strings.Fields("activity alias counter ema ledger limit memory message pattern record schema") {
		needed[module+"/"+name] = true
	}
	c := calls{}
	for _, pkg := range slices.Backward(all) { // what it imports comes before it
		if !needed[pkg.ImportPath] || !strings.HasPrefix(pkg.ImportPath, module+"/") {
			continue
		}
		for _, name := range pkg.Imports {
			needed[name] = true
		}
		fset := token.NewFileSet()
		var files []*ast.File
		for _, name := range pkg.GoFiles {
			file, err := parser.ParseFile(fset, filepath.Join(pkg.Dir, name), nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			files = append(files, file)
		}
		info := &types.Info{Uses: map[*ast.Ident]types.Object{}, Defs: map[*ast.Ident]types.Object{}, Types: map[ast.Expr]types.TypeAndValue{}}
		conf := types.Config{Importer: importer.ForCompiler(fset, "gc", lookup)}
		if _, err := conf.Check(pkg.ImportPath, fset, files, info); err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			c.add(file, info)
		}
	}
	return c
}

// add notes what the declarations of a file refer to.
func (c calls) add(file *ast.File, info *types.Info) {
	for _, decl := range file.Decls {
		switch decl := decl.(type) {
		case *ast.FuncDecl:
			c.note(symbol(info.Defs[decl.Name]), decl, info)
		case *ast.GenDecl:
			for _, spec := range decl.Specs {
				value, ok := spec.(*ast.ValueSpec)
				if !ok {
					continue
				}
				for _, name := range value.Names {
					c.note(symbol(info.Defs[name]), value, info)
				}
			}
		}
	}
}

// note notes what a declaration refers to.
func (c calls) note(from string, decl ast.Node, info *types.Info) {
	ast.Inspect(decl, func(node ast.Node) bool {
		switch node := node.(type) {
		case *ast.CallExpr:
			if asks(node.Fun, info) {
				ast.Inspect(node.Args[0], func(n ast.Node) bool { c.refer(from, n, info); return true })
				return false
			}
		default:
			c.refer(from, node, info)
		}
		return true
	})
}

// refer notes what one identifier or literal refers to.
func (c calls) refer(from string, node ast.Node, info *types.Info) {
	switch node := node.(type) {
	case *ast.Ident:
		if to := symbol(info.Uses[node]); to != "" && to != from {
			c[from] = append(c[from], to)
		}
	case *ast.CompositeLit: // an error comes with what it unwraps to
		if named, ok := info.Types[node].Type.(*types.Named); ok {
			made := inPackage(named.Obj().Pkg(), named.Obj().Name())
			c[from] = append(c[from], made, made+".Unwrap")
		}
	}
}

// asks reports whether the function is errors.Is, errors.As or errors.AsType.
func asks(fun ast.Expr, info *types.Info) bool {
	if index, ok := fun.(*ast.IndexExpr); ok {
		fun = index.X
	}
	selected, ok := fun.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	of := info.Uses[selected.Sel]
	return of != nil && of.Pkg() != nil && of.Pkg().Path() == "errors" && slices.Contains([]string{"Is", "As", "AsType"}, of.Name())
}

// symbol is counter.ErrFull of a package's variable, ledger.Do of a function and
// ledger.Store.Claim of a method; "" of all else.
func symbol(object types.Object) string {
	switch object := object.(type) {
	case *types.Func:
		object = object.Origin()
		name := object.Name()
		if of := object.Signature().Recv(); of != nil {
			typ := of.Type()
			if pointer, ok := typ.(*types.Pointer); ok {
				typ = pointer.Elem()
			}
			named, ok := typ.(*types.Named)
			if !ok {
				return ""
			}
			name = named.Obj().Name() + "." + name
		}
		return inPackage(object.Pkg(), name)
	case *types.Var:
		if object.Pkg() != nil && object.Parent() == object.Pkg().Scope() {
			return inPackage(object.Pkg(), object.Name())
		}
	}
	return ""
}

func inPackage(pkg *types.Package, name string) string {
	if pkg == nil || !strings.HasPrefix(pkg.Path(), module+"/") {
		return ""
	}
	return strings.TrimPrefix(pkg.Path(), module+"/") + "." + name
}

// replayed is the ledger's list of errors that a replay may have been. That a
// PermanentError may hold them does not make them errors of every call of the ledger.
const replayed = "ledger.ownErrors"

// reach reports whether one symbol leads to another.
func (c calls) reach(from, to string) bool {
	seen := map[string]bool{}
	for next := []string{from}; len(next) > 0; {
		at := next[len(next)-1]
		next = next[:len(next)-1]
		if at == to {
			return true
		}
		if !seen[at] && at != replayed {
			seen[at] = true
			next = append(next, c[at]...)
		}
	}
	return false
}
