package house

import (
	"encoding/json"
	"go/ast"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/homeops/ddbpatterns/internal/pricetest"
)

// A Go snippet of a page follows a comment that names its file, and is in that file
// to the letter.
var snippet = regexp.MustCompile("(?s)(?:<!-- from ([^ ]+) -->\n)?```go\n(.*?)```")

func TestSnippetsAreCode(t *testing.T) {
	t.Parallel()
	var found [][]string
	var all string
	for _, page := range everyPage(t) {
		text := read(t, page)
		all += text
		of := snippet.FindAllStringSubmatch(text, -1)
		if blocks := strings.Count(text, "```go\n"); len(of) != blocks {
			t.Errorf("%s has %d snippets in %d blocks of Go", page, len(of), blocks)
		}
		found = append(found, of...)
	}
	if len(found) < 10 {
		t.Fatalf("%d snippets", len(found))
	}
	for _, m := range found {
		file, code := m[1], m[2]
		if file == "" {
			t.Errorf("a snippet without its file:\n%s", code)
			continue
		}
		if !strings.Contains(read(t, file), code) {
			t.Errorf("not in %s:\n%s", file, code)
		}
		if tests, err := filepath.Glob(filepath.Dir(file) + "/*_test.go"); err != nil || len(tests) == 0 {
			t.Errorf("nothing checks what %s does: %v", file, err)
		}
	}
	for _, f := range sources(t) { // the cookbook is whole
		if f.in("examples/cookbook") && !f.test && path.Base(f.path) != "doc.go" && !strings.Contains(all, f.path) {
			t.Errorf("no page shows or names %s", f.path)
		}
	}
}

// pages returns the README, those of general packages, and the pages in docs.
func pages(t *testing.T) []string {
	t.Helper()
	general := regexp.MustCompile(`^(docs/|[a-z]*/?README\.md$)`)
	return slices.DeleteFunc(everyPage(t), func(page string) bool { return !general.MatchString(page) })
}

// General packages have general examples: orders, customers, devices, in tables
// that the example names itself.
func TestExamplesAreOfNoOneApplication(t *testing.T) {
	t.Parallel()
	private := regexp.MustCompile(`(?i)homeops["\-]|Quill|aloware|hubspot|telegram|household|-100123|disk[ane]|tvätt|städ|\bchores?\b`)
	texts := 0
	check := func(where, text string) {
		texts++
		if found := private.FindAllString(text, -1); len(found) > 0 {
			slices.Sort(found)
			t.Errorf("%s speaks of %q", where, slices.Compact(found))
		}
	}
	for _, f := range sources(t) {
		example := strings.HasPrefix(path.Base(f.path), "example") && strings.Count(f.path, "/") == 1 && f.test ||
			f.in("examples/first", "examples/cookbook", "examples/payout", "examples/moving", "examples/points", "examples/rating", "examples/stock", "verdict")
		switch {
		case example && !f.nested:
			check(f.path, read(t, f.path))
		case !f.test && !f.nested && strings.Count(f.path, "/") == 1: // a package's code has the format's defaults
			for _, group := range f.file.Comments {
				check(f.at(group), group.Text())
			}
		}
	}
	for _, page := range pages(t) {
		if page != "README.md" && page != "docs/guarantees.md" { // these also say what the applications are and hold
			check(page, read(t, page))
		}
	}
	if texts < 500 {
		t.Errorf("%d texts: the test does not see them", texts)
	}
}

// The README's prices are those of the doc comments, which other tests measure.
func TestReadmePrices(t *testing.T) {
	t.Parallel()
	type priced struct{ pkg, fn, name, price string }
	var rows []priced
	readme := read(t, "README.md")
	for _, m := range regexp.MustCompile("(?m)^\\| \\[(\\w+)\\]\\(\\w+/doc\\.go\\) \\|[^|]*\\| `(\\w+)` ([^|]*?) \\|$").FindAllStringSubmatch(readme, -1) {
		rows = append(rows, priced{m[1], m[2], "", m[3]})
	}
	packages := len(rows)
	for _, m := range task.FindAllStringSubmatch(readme, -1) {
		if pkg, fn, _ := strings.Cut(m[2], "."); m[4] != "–" {
			rows = append(rows, priced{pkg, fn, m[3], m[4]})
		}
	}
	if packages < 10 || len(rows)-packages < 15 {
		t.Fatalf("%d prices, %d of them of packages", len(rows), packages)
	}
	for _, row := range rows {
		said, ok := pricetest.Parse("Price: " + price.FindString(row.price) + ".")
		if !ok {
			t.Errorf("%s.%s: no price in %q", row.pkg, row.fn, row.price)
			continue
		}
		doc := docComment(t, row.pkg, row.fn)
		name := ""
		if row.name != "" {
			name = "Exact" + row.name
		}
		if want, ok := pricetest.ParseAll(doc)[name]; !ok || want != said {
			t.Errorf("%s.%s: the README says %v, its doc comment %v", row.pkg, row.fn, said, want)
		}
	}
}

// The README's text of the crash is that of the run.
func TestReadmeShowsTheCrash(t *testing.T) {
	t.Parallel()
	if run := read(t, "docs/failures/crash.txt"); !strings.Contains(read(t, "README.md"), "```\n"+run+"```\n") {
		t.Errorf("the README's text below the picture is not docs/failures/crash.txt:\n%s", run)
	}
}

// task is a row of the README's first table: what one wants, the call, perhaps a field
// of its argument, its price.
var task = regexp.MustCompile("(?m)^\\| ([^|]+?) \\| `(\\w+\\.\\w+)`(?: with `(\\w+)`)? \\| ([^|]+?) \\|$")

// The root's documentation names the same call for the same task as the README, and
// both name the same packages.
func TestDocAgreesWithReadme(t *testing.T) {
	t.Parallel()
	readme, doc := read(t, "README.md"), read(t, "doc.go")
	var want, got []string
	for _, m := range task.FindAllStringSubmatch(readme, -1) {
		want = append(want, m[1]+" → "+m[2])
	}
	for _, m := range regexp.MustCompile(`(?m)^//\t(\S.*?) {2,}(\w+\.[A-Z]\w+)(?:, with \w+)?$`).FindAllStringSubmatch(doc, -1) {
		got = append(got, m[1]+" → "+m[2])
	}
	if diff := cmp.Diff(want, got); diff != "" || len(want) < 15 {
		t.Errorf("%d tasks, README.md -, doc.go +:\n%s", len(want), diff)
	}
	names := func(of, pattern string) []string {
		var all []string
		for _, m := range regexp.MustCompile(pattern).FindAllStringSubmatch(of, -1) {
			all = append(all, m[1])
		}
		return all
	}
	if diff := cmp.Diff(names(readme, `(?m)^\| \[(\w+)\]\(\w+/doc\.go\) \|`), names(doc, `(?m)^//   - (\w+): `)); diff != "" {
		t.Errorf("packages, README.md -, doc.go +:\n%s", diff)
	}
	if diff := cmp.Diff(names(readme, `(?m)^\| \*\*(\w+)\*\* \|`), names(doc, `(?m)^// (\w+):$`)); diff != "" {
		t.Errorf("groups, README.md -, doc.go +:\n%s", diff)
	}
}

var price = regexp.MustCompile(`^\d+ requests?(?:, [\d.]+ RCU)?(?:, [\d.]+ WCU)?`)

// docComment returns the doc comment of the package's function or method that sends
// requests.
func docComment(t *testing.T, pkg, fn string) string {
	t.Helper()
	for _, f := range sources(t) {
		for _, decl := range f.file.Decls {
			of, ok := decl.(*ast.FuncDecl)
			if ok && !f.test && path.Base(path.Dir(f.path)) == pkg && of.Name.Name == fn && strings.Contains(of.Doc.Text(), "Price: ") {
				return of.Doc.Text()
			}
		}
	}
	t.Errorf("%s has no %s", pkg, fn)
	return ""
}

// Every page that says how many facts dynamotest is held to has the count of the page
// about them.
func TestPagesHaveTheCountOfFacts(t *testing.T) {
	t.Parallel()
	m := regexp.MustCompile(`(?m)^\| all \| (\d+)(\d{3}) \|`).FindStringSubmatch(read(t, "dynamotest/EMULATION.md"))
	if m == nil {
		t.Fatal("dynamotest/EMULATION.md has no line for all facts")
	}
	var said []string
	for _, page := range pages(t) {
		for _, claim := range regexp.MustCompile(`held\s+to\s+([\d,]+)\s+facts`).FindAllStringSubmatch(read(t, page), -1) {
			said = append(said, page)
			if want := m[1] + "," + m[2]; claim[1] != want {
				t.Errorf("%s says %q, not %s", page, claim[0], want)
			}
		}
	}
	if len(said) < 2 {
		t.Errorf("only %v say how many facts dynamotest is held to", said)
	}
}

func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// Every test that docs/guarantees.md, docs/failures.md and the decisions name is there.
func TestKnownFlawsHaveTheirTests(t *testing.T) {
	t.Parallel()
	text := read(t, "docs/guarantees.md") + read(t, "docs/failures.md")
	decisions, err := filepath.Glob("docs/decisions/*.md")
	if err != nil || len(decisions) == 0 {
		t.Fatalf("%d decisions, %v", len(decisions), err)
	}
	for _, file := range decisions {
		decision := read(t, file)
		if !strings.Contains(decision, "\n**Shown by** `") {
			t.Errorf("%s does not say which test shows it", file)
		}
		text += decision
	}
	named := regexp.MustCompile("`([a-z/0-9]+)\\.(Test\\w+)`").FindAllStringSubmatch(text, -1)
	if len(named) < 150 {
		t.Fatalf("%d tests are named", len(named))
	}
	for _, m := range named {
		files, err := filepath.Glob(m[1] + "/*_test.go")
		if err != nil {
			t.Fatal(err)
		}
		found := slices.ContainsFunc(files, func(file string) bool {
			return strings.Contains(read(t, file), "\nfunc "+m[2]+"(t *testing.T)")
		})
		if !found {
			t.Errorf("%s has no %s", m[1], m[2])
		}
	}
}

// foreign are attributes of golden items with names from a Config or of a record of
// one's own, and one of another writer, which the library keeps.
var foreign = map[string]bool{"orders": true, "points": true, "tenant": true, "account": true, "accountName": true, "note": true}

// FORMAT.md names every attribute of every golden item.
func TestFormatNamesEveryAttribute(t *testing.T) {
	t.Parallel()
	format := read(t, "FORMAT.md")
	goldens, err := filepath.Glob("*/testdata/*.json")
	if err != nil {
		t.Fatal(err)
	}
	goldens = append(goldens, "examples/homeops/dmstatus/testdata/status.json", "examples/homeops/moved/testdata/moved.json",
		"examples/homeops/promise/testdata/active.json", "examples/homeops/promise/testdata/fulfilled.json",
		"examples/homeops/week/testdata/balance.json", "examples/homeops/week/testdata/summary.json")
	if len(goldens) < 15 {
		t.Fatalf("%d golden items", len(goldens))
	}
	for _, file := range goldens {
		var row map[string]any
		if err := json.Unmarshal([]byte(read(t, file)), &row); err != nil {
			t.Errorf("%s: %v", file, err)
		}
		for attribute := range row {
			known := strings.Contains(format, "`"+attribute+"`") || foreign[attribute] || strings.HasPrefix(attribute, "e_") || strings.HasPrefix(attribute, "t_")
			if !known {
				t.Errorf("%s has %s, which FORMAT.md does not name", file, attribute)
			}
		}
	}
}
