package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// tiny is a module of its own with the given list, or with the module's list
// for "".
func tiny(t *testing.T, list string, flags ...string) options {
	t.Helper()
	root := t.TempDir()
	if err := os.CopyFS(root, os.DirFS(filepath.Join("testdata", "tiny"))); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(root, "go.mod"), "module example.com/tiny\n\ngo 1.26\n")
	file := filepath.Join(root, "mutants.txt")
	if list != "" {
		write(t, file, list)
	}
	o, err := parseFlags(append([]string{"-file", file}, flags...))
	if err != nil {
		t.Fatal(err)
	}
	o.root = root
	return o
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestEachKindOfMutant(t *testing.T) {
	t.Parallel()
	o := tiny(t, "", "-timeout", "2s")
	before, err := os.ReadFile(filepath.Join(o.root, "max", "max.go"))
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	err = command(t.Context(), &out, o)
	if err == nil || err.Error() != "1 survived, 2 errors" {
		t.Errorf("the command ends with %v", err)
	}
	for _, want := range []string{
		"killed   max/max.go: a test fails: TestOf (",
		"killed   max/max.go: a loop without an end: TestBelow hangs (",
		"killed   max/max.go: a crash: panic: runtime error: index out of range [1] with length 1",
		"SURVIVED max/max.go: nobody looks: no test fails (",
		"ERROR    max/max.go: a name that is none: does not compile: max/max.go:18:9: undefined: counter (",
		"ERROR    bare/bare.go: no tests: the package has no tests (",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("nowhere %q", want)
		}
	}
	rows := map[string]string{}
	for line := range strings.Lines(out.String()) {
		if f := strings.Fields(line); len(f) == 5 {
			rows[f[0]] = strings.Join(f[1:4], " ")
		}
	}
	if diff := cmp.Diff(map[string]string{"package": "killed SURVIVED ERROR", "max": "3 1 1", "bare": "0 0 1", "all": "3 1 2"}, rows); diff != "" {
		t.Errorf("counts: %s", diff)
	}
	if t.Failed() {
		t.Log(out.String())
	}
	if after, err := os.ReadFile(filepath.Join(o.root, "max", "max.go")); err != nil || string(after) != string(before) {
		t.Errorf("the tree was touched: %v", err)
	}
}

func TestAllKilledIsSuccess(t *testing.T) {
	t.Parallel()
	if err := command(t.Context(), t.Output(), tiny(t, "", "-run", "a test fails", "-j", "1")); err != nil {
		t.Error(err)
	}
}

func TestTestsThatFailAnywayKillNothing(t *testing.T) {
	t.Parallel()
	err := command(t.Context(), t.Output(), tiny(t, "red/red.go: two\n\treturn 1\n\treturn 2\n"))
	if err == nil || !strings.Contains(err.Error(), "the tests fail without any mutant") || !strings.Contains(err.Error(), "TestRed") {
		t.Errorf("the command ends with %v", err)
	}
}

// The list fits the code as it is: a change of a line must change the line's
// mutants, too.
func TestTheListFits(t *testing.T) {
	t.Parallel()
	const root = "../.."
	text, err := os.ReadFile(filepath.Join(root, "check", "mutants.txt"))
	if err != nil {
		t.Fatal(err)
	}
	list, err := parse(string(text))
	if err != nil {
		t.Fatal(err)
	}
	if err := fits(root, list); err != nil {
		t.Error(err)
	}
}

func TestTextsStandInTheirFilesOnce(t *testing.T) {
	t.Parallel()
	const list = `max/max.go: gone
	if a >= b {
	if a <= b {
max/max.go: too often
	count
	counter
max/min.go: no file
	return a
	return b
max/max.go: fine
	return "max"
	return "min"
`
	// It fails even if another part runs.
	err := command(t.Context(), t.Output(), tiny(t, list, "-run", "fine", "-list"))
	if err == nil {
		t.Fatal("the list passes")
	}
	for _, want := range []string{
		"line 1: max/max.go: gone: the old text must be in the file once, and is in it 0 times: if a >= b {",
		"line 4: max/max.go: too often: the old text must be in the file once, and is in it 5 times: count",
		"line 7: open ",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%v\ndoes not say %q", err, want)
		}
	}
	if strings.Contains(err.Error(), "fine") {
		t.Errorf("%v\nblames a good entry", err)
	}
}

func TestParse(t *testing.T) {
	t.Parallel()
	list, err := parse("# comment\n\n a/b.go: x: y [histories: ledger] \n\t\told  text\t\n\tnew\n# comment\nc.go: z\n\t# no comment\n\t1\nc.go: gone\n\told\n\t\n\n")
	if err != nil {
		t.Fatal(err)
	}
	want := []mutant{
		{line: 3, file: "a/b.go", what: "x: y [histories: ledger]", old: "old  text", new: "new"},
		{line: 7, file: "c.go", what: "z", old: "# no comment", new: "1"},
		{line: 10, file: "c.go", what: "gone", old: "old"},
	}
	if diff := cmp.Diff(want, list, cmp.AllowUnexported(mutant{})); diff != "" {
		t.Error(diff)
	}
	if got := want[0].pkg() + " " + want[1].pkg(); got != "./a ./." {
		t.Errorf("packages %s", got)
	}
}

func TestParseNamesEveryBadEntry(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, list, want string }{
		{"no name", "a.go\n\tx\n\ty\n", "line 1: want FILE: WHAT"},
		{"text alone", "\tx\n", "line 1: want FILE: WHAT"},
		{"no text", "a.go: n\n", "line 1: a.go: n: 0 lines that begin with a tab"},
		{"three texts", "a.go: n\n\tx\n\ty\n\tz\n", "line 1: a.go: n: 3 lines"},
		{"no change", "a.go: n\n\tx\n\tx\n", "line 1: a.go: n: the new text is the old one"},
		{"twice", "a.go: n\n\tx\n\ty\na.go: o\n\tx\n\ty\n", "line 4: a.go: o: the same as line 1"},
		{"the second, too", "a.go\nb.go: n\n\n\tx\n", "line 2: b.go: n: 0 lines"},
	} {
		if _, err := parse(test.list); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %s", test.name, err, test.want)
		}
	}
}

func TestPartsShareTheList(t *testing.T) {
	t.Parallel()
	var list []mutant
	for i := range 10 {
		list = append(list, mutant{line: i})
	}
	var got []string
	for _, text := range []string{"1/3", "2/3", "3/3", "1/1"} {
		p, err := parsePart(text)
		if err != nil {
			t.Fatal(err)
		}
		var lines strings.Builder
		for _, m := range p.of(list) {
			lines.WriteByte(byte('0' + m.line))
		}
		got = append(got, lines.String())
	}
	if diff := cmp.Diff([]string{"0369", "147", "258", "0123456789"}, got); diff != "" {
		t.Error(diff)
	}
	for _, bad := range []string{"", "1", "0/3", "4/3", "x/3", "1/0"} {
		if _, err := parsePart(bad); err == nil {
			t.Errorf("%q is a part", bad)
		}
	}
}
