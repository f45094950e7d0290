package golden

import (
	"cmp"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/homeops/ddbpatterns/internal/ddb"
)

var (
	tables  = regexp.MustCompile(`(?m)^\| (attribute|index) \|.*\n((?:\|.*\n)+)`)
	leading = regexp.MustCompile("(?m)^\\| `([^` ]+)` \\|")
)

// Renamed gives another name to each attribute and index in the package's section of
// FORMAT.md, and to those that the section has only in its text.
func Renamed(t testing.TB, pkg string, more ...string) map[string]string {
	t.Helper()
	page, err := os.ReadFile("../FORMAT.md")
	if err != nil {
		t.Fatal(err)
	}

	_, section, found := strings.Cut(string(page), "(package `"+pkg+"`)\n")
	if !found {
		t.Fatalf("FORMAT.md has no section of package %s", pkg)
	}

	section, _, _ = strings.Cut(section, "\n## ")
	for _, table := range tables.FindAllStringSubmatch(section, -1) {
		for _, name := range leading.FindAllStringSubmatch(table[2], -1) {
			more = append(more, name[1])
		}
	}

	names := map[string]string{}
	for _, name := range more {
		names[name] = "my-" + strings.ToUpper(name)
	}

	return names
}

// Original is a row of renamed attributes with the names of FORMAT.md. It fails the
// test if the row has another name than the new ones. Names that begin with e_ are
// those of a counter's events, and with t_ those of limits, which have no others.
func Original(t testing.TB, names map[string]string, row ddb.Item) ddb.Item {
	t.Helper()
	known := map[string]string{}
	for name, other := range names {
		known[other] = name
	}

	original := ddb.Item{}
	for name, value := range row {
		if _, ok := known[name]; !ok && !strings.HasPrefix(name, "e_") && !strings.HasPrefix(name, "t_") {
			t.Errorf("a row has the attribute %s", name)
		}
		original[cmp.Or(known[name], name)] = value
	}

	return original
}

// Story is told twice: with the names of FORMAT.md, and with others. It makes a
// store with the names in a table of its own, uses it, and notes what it answers. It
// returns the table, whose rows are compared, too.
type Story func(t testing.TB, names map[string]string, note func(answer ...any)) (*dynamodb.Client, string)

// WithOtherNames fails the test if the story is another with the names.
func WithOtherNames(t *testing.T, names map[string]string, story Story) {
	t.Helper()
	var answers, rows [2][]string
	for i, set := range []map[string]string{nil, names} {
		db, table := story(t, set, func(answer ...any) { answers[i] = append(answers[i], fmt.Sprintf("%+v", answer)) })
		out, err := db.Scan(t.Context(), &dynamodb.ScanInput{TableName: &table})
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range out.Items {
			if set != nil {
				row = Original(t, names, row)
			}
			rows[i] = append(rows[i], Format(row))
		}
		slices.Sort(rows[i])
	}

	for i := range max(len(answers[0]), len(answers[1])) {
		if answers[0][i] != answers[1][i] {
			t.Errorf("answer %d is\n%s, with other names\n%s", i, answers[0][i], answers[1][i])
		}
	}

	if len(rows[0]) == 0 || !slices.Equal(rows[0], rows[1]) {
		t.Errorf("the rows are\n%s\nwith other names\n%s", rows[0], rows[1])
	}
}
