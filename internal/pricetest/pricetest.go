// Package pricetest holds the published prices to what calls really cost. It
// reads the Price lines out of a package's doc comments and measures a call
// for each.
//
// The form of a line, whose first sentence is read and whose rest is for
// people:
//
//	Price: 2 requests, 1 RCU, 1 WCU. A conflict adds 1 request and 1 WCU.
package pricetest

import (
	"context"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/homeops/ddbpatterns/dynamotest"
)

// Case measures one exported function or method, "Store.Take" or "Do".
type Case struct {
	Func string
	// Call makes the first, uncontended call on rows up to 1 KB. What it needs
	// stands before: set it up in the test.
	Call func(ctx context.Context) error
	// Local is what DynamoDB Local is known to report instead, and Why.
	Local *dynamotest.Price
	Why   string
}

// Run parses the package in the current folder and fails for every exported
// function that takes a context and has no Price line or no Case, for every
// Case without a line, and for every call that costs something else.
func Run(t *testing.T, db *dynamotest.DB, cases []Case) {
	t.Helper()
	published := parse(t)
	for _, c := range cases {
		want, ok := published[c.Func]
		if !ok {
			t.Errorf("%s: has a case and no Price line", c.Func)
			continue
		}
		delete(published, c.Func)
		t.Run(c.Func, func(t *testing.T) {
			var err error
			cost := db.Meter(func() { err = c.Call(t.Context()) })
			if err != nil {
				t.Fatal(err)
			}
			if c.Local != nil && !db.InProcess() {
				if c.Why == "" {
					t.Error("a difference of DynamoDB Local without its reason")
				}
				want = *c.Local
			}
			cost.Want(t, want)
		})
	}
	for name := range published {
		t.Errorf("%s: has a Price line and no case", name)
	}
}

// parse returns the published prices by function.
func parse(t *testing.T) map[string]dynamotest.Price {
	t.Helper()
	published := map[string]dynamotest.Price{}
	files, err := fs.Glob(os.DirFS("."), "*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		for _, decl := range file.Decls {
			fn, ok := decl.(*ast.FuncDecl)
			if !ok || !public(fn) || !takesContext(fn) {
				continue
			}
			price, ok := Parse(fn.Doc.Text())
			if !ok {
				t.Errorf("%s: takes a context and its doc comment has no Price line", nameOf(fn))
				continue
			}
			published[nameOf(fn)] = price
		}
	}
	return published
}

func public(fn *ast.FuncDecl) bool {
	return fn.Name.IsExported() && (fn.Recv == nil || ast.IsExported(receiver(fn)))
}

func receiver(fn *ast.FuncDecl) string {
	kind := fn.Recv.List[0].Type
	if star, ok := kind.(*ast.StarExpr); ok {
		kind = star.X
	}
	if generic, ok := kind.(*ast.IndexExpr); ok {
		kind = generic.X
	}
	return kind.(*ast.Ident).Name
}

func nameOf(fn *ast.FuncDecl) string {
	if fn.Recv == nil {
		return fn.Name.Name
	}
	return receiver(fn) + "." + fn.Name.Name
}

func takesContext(fn *ast.FuncDecl) bool {
	if len(fn.Type.Params.List) == 0 {
		return false
	}
	kind, ok := fn.Type.Params.List[0].Type.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	pkg, ok := kind.X.(*ast.Ident)
	return ok && pkg.Name == "context" && kind.Sel.Name == "Context"
}

var line = regexp.MustCompile(`(?m)^Price: (\d+) requests?(?:, ([\d.]+) RCU)?(?:, ([\d.]+) WCU)?[.;]`)

// Parse reads the Price line of a doc comment.
func Parse(doc string) (dynamotest.Price, bool) {
	match := line.FindStringSubmatch(doc)
	if match == nil {
		return dynamotest.Price{}, false
	}
	requests, _ := strconv.Atoi(match[1])
	rcu, _ := strconv.ParseFloat(match[2], 64)
	wcu, _ := strconv.ParseFloat(match[3], 64)
	return dynamotest.Price{Requests: requests, RCU: rcu, WCU: wcu}, true
}
