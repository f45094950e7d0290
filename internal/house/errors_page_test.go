package house

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// An errorRow is a row of docs/errors.md.
type errorRow struct {
	name string   // counter.ErrFull, event.InputError
	by   []string // what returns it: counter.Take, record.ApplyItem.Outcome
}

// errorRows returns the rows of the page that begin with an error.
func errorRows(t *testing.T) []errorRow {
	t.Helper()
	var rows []errorRow
	for _, m := range regexp.MustCompile("(?m)^\\| `\\*?(\\w+)\\.(\\w+)` \\|.*\\| ([^|]*) \\|$").FindAllStringSubmatch(read(t, "docs/errors.md"), -1) {
		row := errorRow{name: m[1] + "." + m[2]}
		for _, by := range regexp.MustCompile("`([\\w.]+)`").FindAllStringSubmatch(m[3], -1) {
			if m[1] != "event" {
				by[1] = m[1] + "." + by[1]
			}
			row.by = append(row.by, by[1])
		}
		rows = append(rows, row)
	}
	return rows
}

// exportedErrors are the variables and types of testdata/api.txt that are errors.
func exportedErrors(t *testing.T) []string {
	t.Helper()
	var found []string
	line := regexp.MustCompile(`(?m)^(\w+): (?:var (Err\w+) error|method \(\*?(\w+)\) Error\(\) string)$`)
	for _, m := range line.FindAllStringSubmatch(read(t, apiFile), -1) {
		found = append(found, m[1]+"."+m[2]+m[3])
	}
	if len(found) < 25 {
		t.Fatalf("%d errors", len(found))
	}
	return found
}

// fallible are the functions and methods of testdata/api.txt whose last result is an
// error, or that yield one: ledger.Do, ledger.Store.Claim. Those that a caller
// implements, as API, are left out.
func fallible(t *testing.T) []string {
	t.Helper()
	var found []string
	line := regexp.MustCompile(`(?m)^(\w+): (?:func (\w+)|method \(\*?(\w+)\) (\w+)).*\berror[\])]?$`)
	for _, m := range line.FindAllStringSubmatch(read(t, apiFile), -1) {
		pkg, function, of, method := m[1], m[2], m[3], m[4]
		switch {
		case pkg == "dynamotest" || strings.HasSuffix(of, "API") || of == "Reader" || method == "Unwrap":
		case of != "":
			found = append(found, pkg+"."+of+"."+method)
		default:
			found = append(found, pkg+"."+function)
		}
	}
	return found
}

// judgedErrors are the errors in the page's table of verdicts, whose test of package
// verdict holds each of them to what Of answers.
func judgedErrors(t *testing.T) (names []string) {
	t.Helper()
	for _, row := range regexp.MustCompile(`(?m)^\| (?:Done|Poison|Retry) \| \d+ \| (.*) \|$`).FindAllStringSubmatch(read(t, "docs/errors.md"), -1) {
		for _, m := range regexp.MustCompile("`\\*?(\\w+\\.\\w+)`").FindAllStringSubmatch(row[1], -1) {
			names = append(names, m[1])
		}
	}
	return append(names, "event.LeftoverError") // judged thing by thing
}

// docs/errors.md has a row for each exported error, and for nothing else, and each
// has one verdict.
func TestErrorsPageHasEachError(t *testing.T) {
	t.Parallel()
	var named []string
	for _, row := range errorRows(t) {
		named = append(named, row.name)
	}
	exist, judged := exportedErrors(t), judgedErrors(t)
	slices.Sort(exist)
	slices.Sort(named)
	slices.Sort(judged)
	for what, got := range map[string][]string{"rows": named, "verdicts": slices.Compact(judged)} {
		if diff := cmp.Diff(exist, got); diff != "" {
			t.Errorf("docs/errors.md, %s of errors (-exist +got):\n%s", what, diff)
		}
	}
}

// notReturned are calls that can reach an error in the code and never return it.
var notReturned = map[string]string{
	// They replay the result that it holds.
	"ledger.DoneError": "Do DoTx",
	// It has no AtLeast.
	"record.FloorError": "ApplyAll",
}

// The last column names all calls of the error's package that return it and no other,
// by what the code can reach; for the errors of event, those of all packages.
func TestErrorsPageNamesTheCalls(t *testing.T) {
	t.Parallel()
	code, can := libraryCalls(t), fallible(t)
	for _, row := range errorRows(t) {
		if row.name == "event.InputError" { // of every call that takes input
			continue
		}
		pkg, _, _ := strings.Cut(row.name, ".")
		same := append(code[row.name], row.name) // pattern's ErrContended is record's
		want := map[string]bool{}
		for _, call := range can {
			if pkg != "event" && !strings.HasPrefix(call, pkg+".") {
				continue
			}
			if slices.ContainsFunc(same, func(name string) bool { return code.reach(call, name) }) {
				want[call] = true
			}
		}
		for _, but := range strings.Fields(notReturned[row.name]) {
			call := resolve(t, can, pkg+"."+but)
			if !want[call] {
				t.Errorf("notReturned: %s does not reach %s", call, row.name)
			}
			delete(want, call)
		}
		for _, by := range row.by {
			call := resolve(t, can, by)
			if call != "" && !want[call] {
				t.Errorf("docs/errors.md: %s does not return %s", by, row.name)
			}
			delete(want, call)
		}
		if len(want) > 0 {
			t.Errorf("docs/errors.md: %s is also returned by %v", row.name, slices.Sorted(maps.Keys(want)))
		}
	}
}

// resolve finds the one call that the page means: ledger.Claim is Store.Claim.
func resolve(t *testing.T, can []string, name string) string {
	t.Helper()
	pkg, rest, _ := strings.Cut(name, ".")
	var found []string
	for _, call := range can {
		if of, short, _ := strings.Cut(call, "."); of == pkg && (short == rest || strings.HasSuffix(short, "."+rest)) {
			found = append(found, call)
		}
	}
	if len(found) != 1 {
		t.Errorf("docs/errors.md names %s, which may be %v", name, found)
		return ""
	}
	return found[0]
}
