package ddbpatterns_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/homeops/ddbpatterns/internal/pricetest"
)

// A Go snippet of the README follows a comment that names its file, and stands
// there to the letter.
var snippet = regexp.MustCompile("(?s)(?:<!-- from ([^ ]+) -->\n)?```go\n(.*?)```")

func TestReadmeSnippetsAreCode(t *testing.T) {
	t.Parallel()
	readme := read(t, "README.md")
	found := snippet.FindAllStringSubmatch(readme, -1)
	if len(found) < 2 {
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
	}
}

// The README's prices are those of the doc comments, which are measured.
func TestReadmePrices(t *testing.T) {
	t.Parallel()
	row := regexp.MustCompile("(?m)^\\| \\[(\\w+)\\] \\|[^|]*\\| `(\\w+)` ([^|]*?) \\|$")
	rows := row.FindAllStringSubmatch(read(t, "README.md"), -1)
	if len(rows) < 9 {
		t.Fatalf("%d prices", len(rows))
	}
	for _, m := range rows {
		said, ok := pricetest.Parse("Price: " + price.FindString(m[3]) + ".")
		if !ok {
			t.Errorf("%s.%s: no price in %q", m[1], m[2], m[3])
			continue
		}
		doc := comment(t, m[1], m[2])
		if want, ok := pricetest.Parse(doc); !ok || want != said {
			t.Errorf("%s.%s: the README says %v, its doc comment %v", m[1], m[2], said, want)
		}
	}
}

var price = regexp.MustCompile(`^\d+ requests?(?:, [\d.]+ RCU)?(?:, [\d.]+ WCU)?`)

// comment returns the doc comment of the package's function or method.
func comment(t *testing.T, pkg, fn string) string {
	t.Helper()
	files, err := filepath.Glob(pkg + "/*.go")
	if err != nil {
		t.Fatal(err)
	}
	head := regexp.MustCompile(`(?m)((?:^//.*\n)+)^func (?:\(\w+ \*?\w+\) )?` + fn + `\(ctx`)
	for _, file := range files {
		if m := head.FindStringSubmatch(read(t, file)); m != nil {
			return regexp.MustCompile(`(?m)^// ?`).ReplaceAllString(m[1], "")
		}
	}
	t.Errorf("%s has no %s", pkg, fn)
	return ""
}

// The README's count of conformance tests is that of the expected results.
func TestReadmeConformance(t *testing.T) {
	t.Parallel()
	passed, of := 0, 0
	for _, m := range regexp.MustCompile(`(?m)^tier\S+ (\d+)/(\d+)$`).FindAllStringSubmatch(read(t, "dynamotest/internal/emulation/results.txt"), -1) {
		p, _ := strconv.Atoi(m[1]) // digits
		n, _ := strconv.Atoi(m[2])
		passed, of = passed+p, of+n
	}
	if claim := fmt.Sprintf("passes all %d tests of a public conformance suite", passed); passed < of || !strings.Contains(read(t, "README.md"), claim) {
		t.Errorf("%d of %d pass, and the README does not say so", passed, of)
	}
}

// Every relative link of the documents leads somewhere.
func TestLinksLeadSomewhere(t *testing.T) {
	t.Parallel()
	link := regexp.MustCompile(`\]\(([^):#]+)\)`)
	for _, doc := range []string{"README.md", "CONTRIBUTING.md", "CHANGELOG.md", "FORMAT.md"} {
		for _, m := range link.FindAllStringSubmatch(read(t, doc), -1) {
			if _, err := os.Stat(m[1]); err != nil {
				t.Errorf("%s: %v", doc, err)
			}
		}
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

// Every test that CONTRIBUTING.md names is there.
func TestKnownFlawsHaveTheirTests(t *testing.T) {
	t.Parallel()
	named := regexp.MustCompile("`([a-z/0-9]+)\\.(Test\\w+)`").FindAllStringSubmatch(read(t, "CONTRIBUTING.md"), -1)
	if len(named) < 20 {
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

// foreign are attributes of golden items whose names a Config set, and one of
// another writer, which is kept.
var foreign = map[string]bool{"tenant": true, "account": true, "accountName": true, "note": true}

// FORMAT.md names every attribute of every golden item.
func TestFormatNamesEveryAttribute(t *testing.T) {
	t.Parallel()
	format := read(t, "FORMAT.md")
	goldens, err := filepath.Glob("*/testdata/*.json")
	if err != nil {
		t.Fatal(err)
	}
	goldens = append(goldens, "examples/homeops/dmstatus/testdata/status.json")
	if len(goldens) < 15 {
		t.Fatalf("%d golden items", len(goldens))
	}
	for _, file := range goldens {
		var row map[string]any
		if err := json.Unmarshal([]byte(read(t, file)), &row); err != nil {
			t.Errorf("%s: %v", file, err)
		}
		for attribute := range row {
			known := strings.Contains(format, "`"+attribute+"`") || foreign[attribute] || strings.HasPrefix(attribute, "e_")
			if !known {
				t.Errorf("%s has %s, which FORMAT.md does not name", file, attribute)
			}
		}
	}
}
