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
	if list != "" {
		write(t, filepath.Join(root, "mutants.txt"), list)
	}
	o, err := parseFlags(append([]string{"-root", root}, flags...))
	if err != nil {
		t.Fatal(err)
	}
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
	if err == nil || err.Error() != "1 survived, 2 errors, 1 hang" {
		t.Errorf("the command ends with %v", err)
	}
	for _, want := range []string{
		"killed   max/max.go: a test fails: TestOf (",
		"HANGS    max/max.go: a loop without an end: TestBelow (",
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
		if f := strings.Fields(line); len(f) == 6 {
			rows[f[0]] = strings.Join(f[1:5], " ")
		}
	}
	if diff := cmp.Diff(map[string]string{"package": "killed HANGS SURVIVED ERROR", "max": "2 1 1 1", "bare": "0 0 0 1", "all": "2 1 1 2"}, rows); diff != "" {
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

// A package of another module tests a mutant of this one, which a replace brings
// to it. Tests that take long run last, and must notice alone, too.
func TestOtherModulesTests(t *testing.T) {
	t.Parallel()
	o := tiny(t, "")
	write(t, filepath.Join(o.root, "mutants.txt"), "# none here\n")
	house := filepath.Join(o.root, "house")
	if err := os.MkdirAll(filepath.Join(house, "slow"), 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(house, "go.mod"), "module example.com/house\n\ngo 1.26\n\nrequire example.com/tiny v0.0.0\n\nreplace example.com/tiny => ../\n")
	write(t, filepath.Join(house, "slow", "slow_test.go"), `package slow

import (
	"testing"
	"time"

	"example.com/tiny/max"
)

func TestQuick(t *testing.T) {}

func TestSlow(t *testing.T) {
	t.Run("part", func(t *testing.T) {
		t.Parallel()
		time.Sleep(400 * time.Millisecond)
		if max.Name() != "max" {
			t.Error("another name")
		}
	})
}
`)
	write(t, filepath.Join(house, "mutants.txt"), "max/max.go: a name [by ./house/slow]\n\t\"max\"\n\t\"min\"\n")
	var out strings.Builder
	if err := command(t.Context(), &out, o); err != nil || !strings.Contains(out.String(), "a name [by ./house/slow]: TestSlow (") {
		t.Errorf("%v\n%s", err, out.String())
	}
}

// What was killed does not run again, what survived does.
func TestResume(t *testing.T) {
	t.Parallel()
	o := tiny(t, "", "-resume", "folder/log", "-run", "nobody|crash")
	for _, want := range []string{" 0 of them resumed", " 1 of them resumed"} {
		var out strings.Builder
		err := command(t.Context(), &out, o)
		if err == nil || err.Error() != "1 survived, 0 errors, 0 hang" || !strings.Contains(out.String(), want) {
			t.Errorf("%v, and nowhere %q\n%s", err, want, out.String())
		}
	}
	if text, err := os.ReadFile(filepath.Join(o.root, "folder", "log")); err != nil || strings.Count(string(text), "\n") != 3 {
		t.Errorf("not three results: %v\n%s", err, text)
	}
}

// The lists fit the code as it is: a change of a line must change the line's
// mutants, too.
func TestTheListFits(t *testing.T) {
	t.Parallel()
	if list, err := lists("../.."); err != nil || len(list) == 0 {
		t.Errorf("%d mutants: %v", len(list), err)
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
max/max.go: no folder [by ./maximum]
	return "max"
	return "mix"
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
		"mutants.txt:1: max/max.go: gone: the old text must be in the file once, and is in it 0 times: if a >= b {",
		"mutants.txt:4: max/max.go: too often: the old text must be in the file once, and is in it 5 times: count",
		"mutants.txt:7: open ",
		"mutants.txt:10: stat ",
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
	list, err := parse("l", "# comment\n\n a/b.go: x: y [by ./d/e] [histories: ledger] \n\t\told  text\t\n\tnew\n# comment\nc.go: z [by .]\n\t# no comment\n\t1\nc.go: gone\n\told\n\t\n\n")
	if err != nil {
		t.Fatal(err)
	}
	want := []mutant{
		{at: "l:3", File: "a/b.go", What: "x: y [by ./d/e] [histories: ledger]", By: "d/e", Old: "old  text", New: "new"},
		{at: "l:7", File: "c.go", What: "z [by .]", By: ".", Old: "# no comment", New: "1"},
		{at: "l:10", File: "c.go", What: "gone", Old: "old"},
	}
	if diff := cmp.Diff(want, list, cmp.AllowUnexported(mutant{})); diff != "" {
		t.Error(diff)
	}
	if got := want[0].pkg() + " " + want[2].pkg() + " " + (mutant{File: "a/b.go"}).pkg(); got != "d/e . a" {
		t.Errorf("packages %s", got)
	}
}

func TestParseNamesEveryBadEntry(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, list, want string }{
		{"no name", "a.go\n\tx\n\ty\n", "l:1: want FILE: WHAT"},
		{"text alone", "\tx\n", "l:1: want FILE: WHAT"},
		{"no text", "a.go: n\n", "l:1: a.go: n: 0 lines that begin with a tab"},
		{"three texts", "a.go: n\n\tx\n\ty\n\tz\n", "l:1: a.go: n: 3 lines"},
		{"no change", "a.go: n\n\tx\n\tx\n", "l:1: a.go: n: the new text is the old one"},
		{"twice", "a.go: n\n\tx\n\ty\na.go: o\n\tx\n\ty\n", "l:4: a.go: o: the same as l:1"},
		{"a name twice", "a.go: n [by .]\n\tx\n\ty\na.go: n [histories: a]\n\tz\nb.go: n\n\tx\n", "l:4: a.go: n [histories: a]: named as l:1"},
		{"the second, too", "a.go\nb.go: n\n\n\tx\n", "l:2: b.go: n: 0 lines"},
	} {
		if _, err := parse("l", test.list); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %s", test.name, err, test.want)
		}
	}
}

func TestPartsShareTheList(t *testing.T) {
	t.Parallel()
	var list []mutant
	for i := range 10 {
		list = append(list, mutant{at: string(rune('0' + i))})
	}
	var got []string
	for _, text := range []string{"1/3", "2/3", "3/3", "1/1"} {
		p, err := parsePart(text)
		if err != nil {
			t.Fatal(err)
		}
		var lines strings.Builder
		for _, m := range p.of(list) {
			lines.WriteString(m.at)
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
