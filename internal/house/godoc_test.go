package house

import (
	"go/ast"
	"go/doc"
	"go/doc/comment"
	"path"
	"regexp"
	"strings"
	"testing"
)

// Text that looks like a doc link in a package's comment is a doc link: its
// name exists. Text that is indented by less than a tab does not become code by
// accident.
func TestGodocRendersAsMeant(t *testing.T) {
	t.Parallel()
	folders := map[string][]*ast.File{}
	for _, f := range sources(t) {
		if !f.test && !f.nested {
			folders[path.Dir(f.path)] = append(folders[path.Dir(f.path)], f.file)
		}
	}
	fset := sources(t)[0].fset
	links := 0
	for folder, files := range folders {
		pkg, err := doc.NewFromFiles(fset, files, path.Join(module, folder), doc.AllDecls|doc.PreserveAST)
		if err != nil {
			t.Fatal(err)
		}
		for name, text := range docsOf(pkg) {
			for _, block := range pkg.Parser().Parse(text).Content {
				links += checkBlock(t, folder+": "+name, block)
			}
		}
	}
	if links < 500 {
		t.Errorf("%d doc links: the test does not see the comments", links)
	}
}

// docsOf returns the doc comments of a package, by the name that they describe.
func docsOf(pkg *doc.Package) map[string]string {
	docs := map[string]string{"package": pkg.Doc}
	values := func(all []*doc.Value) {
		for _, v := range all {
			docs[strings.Join(v.Names, ", ")] = v.Doc
		}
	}
	functions := func(all []*doc.Func) {
		for _, f := range all {
			docs[f.Recv+"."+f.Name] = f.Doc
		}
	}
	values(pkg.Consts)
	values(pkg.Vars)
	functions(pkg.Funcs)
	for _, typ := range pkg.Types {
		docs[typ.Name] = typ.Doc
		values(typ.Consts)
		values(typ.Vars)
		functions(typ.Funcs)
		functions(typ.Methods)
	}
	return docs
}

// unresolved matches text that was meant as a doc link.
var unresolved = regexp.MustCompile(`\[\*?([a-z]+\.)?[A-Z]\w*(\.[A-Z]\w*)?\]`)

// checkBlock returns how many doc links a block has.
func checkBlock(t *testing.T, where string, block comment.Block) (links int) {
	t.Helper()
	var text []comment.Text
	switch block := block.(type) {
	case *comment.Paragraph:
		text = block.Text
	case *comment.Heading:
		text = block.Text
	case *comment.List:
		for _, item := range block.Items {
			for _, inner := range item.Content {
				links += checkBlock(t, where, inner)
			}
		}
	}
	for _, part := range text {
		switch part := part.(type) {
		case *comment.DocLink:
			links++
		case comment.Plain:
			if found := unresolved.FindString(string(part)); found != "" {
				t.Errorf("%s: %s leads nowhere", where, found)
			}
		}
	}
	return links
}
