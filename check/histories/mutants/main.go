// Command mutants breaks conditions of the library, one line at a time, and
// runs histories of the package until one is wrong. scripts/histories -mutants
// runs it. With -proof it runs the tests of internal/proof instead, twice, which must
// find the same schedule; scripts/proof -controls does that.
//
// It uses the entries of check/mutants.txt whose names end in [histories:
// PACKAGE], and fails if one is not noticed. Those with [not proved: REASON] are listed
// with -proof, and not run.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// mutant is a line of a file, its replacement, and the package whose histories
// must notice.
type mutant struct {
	file, name, story, old, new string
	unproved                    string // why the proof does not find it
}

func main() {
	root := flag.String("root", "../..", "of the repository")
	list := flag.String("file", "check/mutants.txt", "`list` of mutants, from the root")
	limit := flag.Int("n", 5000, "histories until a mutant counts as not noticed")
	proof := flag.Bool("proof", false, "run the proof in place of histories")
	parallel := flag.Int("p", 1, "how many mutants run at once")
	only := flag.String("mutant", "", "only those whose file or name matches this `regexp`")
	flag.Parse()
	judge := func(m mutant) (string, error) { return m.run(*root, *limit) }
	if *proof {
		judge = func(m mutant) (string, error) { return m.prove(*root) }
	}
	if err := run(*root, *list, *only, *parallel, judge, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "histories:", err)
		os.Exit(1)
	}
}

func run(root, list, only string, parallel int, judge func(mutant) (string, error), stories []string) error {
	re, err := regexp.Compile(only)
	if err != nil {
		return err
	}
	all, err := read(filepath.Join(root, list))
	if err != nil {
		return err
	}
	all = slices.DeleteFunc(all, func(m mutant) bool {
		return !re.MatchString(m.file+": "+m.name) || len(stories) > 0 && !slices.Contains(stories, m.story)
	})
	if len(all) == 0 {
		return fmt.Errorf("%s: no mutant is chosen", list)
	}
	began := time.Now()
	unnoticed, failed := judgeAll(all, parallel, judge)
	fmt.Printf("%d mutants, %d not noticed, %d not judged, %.0f s\n", len(all), unnoticed, failed, time.Since(began).Seconds())
	if unnoticed+failed > 0 {
		return errors.New("a mutant was not noticed, or not judged")
	}
	return nil
}

// judgeAll judges so many mutants at a time, and prints the verdicts in their order.
func judgeAll(all []mutant, parallel int, judge func(mutant) (string, error)) (unnoticed, failed int) {
	lines, places := make([]chan string, len(all)), make(chan struct{}, parallel)
	for i := range all {
		lines[i] = make(chan string, 1)
	}
	go func() {
		for i, m := range all {
			places <- struct{}{}
			go func() {
				lines[i] <- line(m, judge)
				<-places
			}()
		}
	}()
	for i := range all {
		line := <-lines[i]
		fmt.Println(line)
		if strings.Contains(line, notNoticed) {
			unnoticed++
		}
		if strings.Contains(line, notJudged) {
			failed++
		}
	}
	return unnoticed, failed
}

// line judges a mutant, and returns a line of a table.
func line(m mutant, judge func(mutant) (string, error)) string {
	since := time.Now()
	verdict, err := judge(m)
	switch {
	case err != nil:
		verdict = notJudged + err.Error()
	case verdict == "":
		verdict = notNoticed
	}
	return fmt.Sprintf("| %s: %s | %s | %.0f s |", m.file, m.name, verdict, time.Since(since).Seconds())
}

const notNoticed, notJudged = "NOT NOTICED", "NOT JUDGED: "

var (
	tagged   = regexp.MustCompile(`^(\S+): (.*) \[histories: (\w+)\]`)
	unproved = regexp.MustCompile(`\[not proved: ([^\]]+)\]`)
)

// read returns the entries of the list for histories.
func read(path string) ([]mutant, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var all []mutant
	lines := strings.Split(string(text), "\n")
	for i, line := range lines {
		head := tagged.FindStringSubmatch(strings.TrimSpace(line))
		if head == nil || strings.HasPrefix(line, "#") {
			continue
		}
		if i+2 >= len(lines) || !strings.HasPrefix(lines[i+1], "\t") || !strings.HasPrefix(lines[i+2], "\t") {
			return nil, fmt.Errorf("%s:%d: want two lines that begin with a tab", path, i+1)
		}
		m := mutant{
			file: head[1], name: head[2], story: head[3],
			old: strings.TrimSpace(lines[i+1]), new: strings.TrimSpace(lines[i+2]),
		}
		if reason := unproved.FindStringSubmatch(line); reason != nil {
			m.unproved = reason[1]
		}
		all = append(all, m)
	}
	return all, nil
}

var after = regexp.MustCompile(`after (\d+) histories`)

// run returns after how many histories the mutant was noticed, "" for never.
func (m mutant) run(root string, limit int) (string, error) {
	dir, overlay, err := m.overlaid(root)
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	name := strings.ToUpper(m.story[:1]) + m.story[1:]
	test := exec.Command("go", "test", "-count=1", "-vet=off", "-overlay", overlay, "-run", "^Test"+name+"$", ".", "-histories", fmt.Sprint(limit), "-timeout", "1h")
	test.Dir = filepath.Join(root, "check", "histories")
	out, err := test.CombinedOutput()
	if err == nil {
		return "", nil
	}
	if strings.Contains(string(out), "is not a request") {
		return "", fmt.Errorf("the mutant sends invalid requests, which every test notices:\n%s", out)
	}
	if found := after.FindSubmatch(out); found != nil {
		return string(found[1]), nil
	}
	return "", fmt.Errorf("the tests fail for another reason:\n%s", out)
}

var caught = regexp.MustCompile(`caught: Test(.*)`)

// prove returns the schedule that shows the mutant, "" if none does.
func (m mutant) prove(root string) (string, error) {
	if m.unproved != "" {
		return "not proved: " + m.unproved, nil
	}
	dir, overlay, err := m.overlaid(root)
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	binary := filepath.Join(dir, "proof.test")
	build := exec.Command("go", "test", "-c", "-ldflags=-s -w", "-o", binary, "-overlay", overlay, "./internal/proof")
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w\n%s", err, out)
	}
	tests := `^Test\w*` + strings.ToUpper(m.story[:1]) + m.story[1:] + "$"
	if strings.HasPrefix(m.file, "record/") {
		tests = "^Test(Ring|Exact|Pattern|Ema|Set)$"
	}
	for _, of := range append(m.lastTime(root), [2]string{tests, "1"}, [2]string{tests, "2"}) {
		first, err := search(binary, of[0], of[1])
		if err != nil {
			return "", err
		}
		if first == "" {
			continue
		}
		again, err := search(binary, of[0], of[1])
		if err == nil && again != first {
			err = fmt.Errorf("caught by %s, and then by %s", first, again)
		}
		return first, err
	}
	return "", nil
}

// lastTime returns the test that caught the mutant last, as the page has it, and the
// depth of its search: most are caught there again, in a fraction of the time.
func (m mutant) lastTime(root string) [][2]string {
	page, _ := os.ReadFile(filepath.Join(root, "docs", "proof.md")) // without it, all tests are searched
	_, line, _ := strings.Cut(string(page), "\n| "+m.file+": "+m.name+" | ")
	found := noticed.FindStringSubmatch(line)
	if found == nil {
		return nil
	}
	depth := "2"
	if found[2] == "orders" || found[2] == "short" {
		depth = "1"
	}
	parts := strings.Split(regexp.QuoteMeta(found[1]), "/")
	return [][2]string{{"^Test" + strings.Join(parts, "$/^") + "$", depth}}
}

var noticed = regexp.MustCompile(`^(\S+)/(\w+), schedule`)

// search runs the tests and returns what caught the mutant.
func search(binary, tests, depth string) (string, error) {
	out, _ := exec.Command(binary, "-test.run", tests, "-test.timeout", "1h", "-proof.control", depth).CombinedOutput() // fails if it is caught
	if line := caught.FindSubmatch(out); line != nil {
		return string(line[1]), nil
	}
	if strings.Contains(string(out), "no tests to run") { // what caught it last is gone
		return "", nil
	}
	if !strings.HasSuffix(string(out), "PASS\n") {
		return "", fmt.Errorf("the tests fail for another reason, or do not run:\n%s", out)
	}
	return "", nil
}

// overlaid makes a folder for the overlay of the mutant.
func (m mutant) overlaid(root string) (dir, overlay string, err error) {
	if dir, err = os.MkdirTemp("", "mutants"); err != nil {
		return "", "", err
	}
	if overlay, err = m.overlay(root, dir); err != nil {
		os.RemoveAll(dir)
	}
	return dir, overlay, err
}

// overlay writes the changed file, and the JSON that names it to the compiler.
func (m mutant) overlay(root, dir string) (string, error) {
	path, err := filepath.Abs(filepath.Join(root, m.file))
	if err != nil {
		return "", err
	}
	source, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	if n := strings.Count(string(source), m.old); n != 1 {
		return "", fmt.Errorf("the old text must be in the file once, and is in it %d times: %s", n, m.old)
	}
	changed := filepath.Join(dir, filepath.Base(m.file))
	if err := os.WriteFile(changed, []byte(strings.Replace(string(source), m.old, m.new, 1)), 0o600); err != nil {
		return "", err
	}
	replace, err := json.Marshal(map[string]any{"Replace": map[string]string{path: changed}})
	if err != nil {
		return "", err
	}
	overlay := filepath.Join(dir, "overlay.json")
	return overlay, os.WriteFile(overlay, replace, 0o600)
}
