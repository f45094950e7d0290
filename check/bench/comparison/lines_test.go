package comparison_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"strings"
	"testing"
)

// lengths are the lines of code of each form, without imports, comments and empty
// lines.
func lengths(t *testing.T) []string {
	t.Helper()
	_, more := mended(t)
	rows := []string{"| form | lines |", "|---|--:|"}
	for _, f := range forms {
		n := fmt.Sprint(len(code(t, f.file)[""]))
		if f.file == "mended.go" {
			n = fmt.Sprintf("%d, and %d of the mends", len(code(t, "raw.go")[""]), more)
		}
		rows = append(rows, fmt.Sprintf("| %s: [%s](../check/bench/comparison/%s) | %s |", f.name, f.file, f.file, n))
	}
	return rows
}

// mended are the changes of the mended form, and how many lines they take.
func mended(t *testing.T) (rows []string, all int) {
	t.Helper()
	rows = []string{"| mend | lines |", "|---|--:|"}
	rest := code(t, "mended.go")
	delete(rest, "")
	for _, m := range []struct {
		what string
		in   []string
	}{
		{"a claim knows its own row, by its nonce", []string{"claim"}},
		{"the client sends again what met a transaction", []string{"Mended", "NewMended"}},
		{"the claim is renewed during the work, whose context ends with it", []string{"Do", "renewed", "renew", "ErrLeaseLost"}},
		{"`Take` knows its own row, by its nonce, and refuses a day whose row may be deleted", []string{"Take", "ErrTooOld"}},
	} {
		n := 0
		for _, name := range m.in {
			n += len(added(t, name))
			delete(rest, name)
		}
		all += n
		rows = append(rows, fmt.Sprintf("| %s | %d |", m.what, n))
	}
	if len(rest) > 0 {
		t.Errorf("of no mend: %v", rest)
	}
	return rows, all
}

// added are the lines of a declaration in mended.go that raw.go does not have in
// the declaration of that name.
func added(t *testing.T, name string) []string {
	t.Helper()
	had := map[string]int{}
	for _, line := range code(t, "raw.go")[name] {
		had[line]++
	}
	var more []string
	for _, line := range code(t, "mended.go")[name] {
		line = strings.ReplaceAll(strings.ReplaceAll(line, "(m Mended)", "(r Raw)"), "m.", "r.")
		if had[line]--; had[line] < 0 {
			more = append(more, line)
		}
	}
	return more
}

// code returns the lines of code of each declaration, and of all of them as "".
func code(t *testing.T, file string) map[string][]string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	files := token.NewFileSet()
	parsed, err := parser.ParseFile(files, file, text, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string][]string{}
	keep := func(name string, n ast.Node) {
		for line := range strings.SplitSeq(string(text[files.Position(n.Pos()).Offset:files.Position(n.End()).Offset]), "\n") {
			if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "//") {
				found[name] = append(found[name], line)
			}
		}
	}
	for _, d := range parsed.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			keep("", d)
			keep(d.Name.Name, d)
		case *ast.GenDecl:
			if d.Tok == token.IMPORT {
				continue
			}
			keep("", d)
			for _, s := range d.Specs {
				switch s := s.(type) {
				case *ast.ValueSpec:
					keep(s.Names[0].Name, s)
				case *ast.TypeSpec:
					keep(s.Name.Name, s)
				}
			}
		}
	}
	return found
}
