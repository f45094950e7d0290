// Command mutants breaks conditions of the library, one line at a time, and
// runs histories of the package until one is wrong. scripts/histories -mutants
// runs it.
//
// It uses the entries of check/mutants.txt whose names end in [histories:
// PACKAGE], and fails if one is not noticed.
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
}

func main() {
	root := flag.String("root", "../..", "of the repository")
	list := flag.String("file", "check/mutants.txt", "`list` of mutants, from the root")
	limit := flag.Int("n", 5000, "histories until a mutant counts as not noticed")
	only := flag.String("mutant", "", "only those whose file or name matches this `regexp`")
	flag.Parse()
	if err := run(*root, *list, *only, *limit, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "histories:", err)
		os.Exit(1)
	}
}

func run(root, list, only string, limit int, stories []string) error {
	re, err := regexp.Compile(only)
	if err != nil {
		return err
	}
	all, err := read(filepath.Join(root, list))
	if err != nil {
		return err
	}
	began, ran, unnoticed := time.Now(), 0, 0
	for _, m := range all {
		if !re.MatchString(m.file+": "+m.name) || len(stories) > 0 && !slices.Contains(stories, m.story) {
			continue
		}
		ran++
		since := time.Now()
		verdict, err := m.run(root, limit)
		if err != nil {
			return fmt.Errorf("%s: %s: %w", m.file, m.name, err)
		}
		if verdict == "" {
			unnoticed++
			verdict = "NOT NOTICED"
		}
		fmt.Printf("%-12s %s: %s (%.0f s)\n", verdict, m.file, m.name, time.Since(since).Seconds())
	}
	fmt.Printf("%d mutants, %d not noticed in %d histories, %.0f s\n", ran, unnoticed, limit, time.Since(began).Seconds())
	switch {
	case ran == 0:
		return fmt.Errorf("%s: no mutant is chosen", list)
	case unnoticed > 0:
		return errors.New("a mutant was not noticed")
	}
	return nil
}

var tagged = regexp.MustCompile(`^(\S+): (.*) \[histories: (\w+)\]`)

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
		all = append(all, mutant{
			file: head[1], name: head[2], story: head[3],
			old: strings.TrimSpace(lines[i+1]), new: strings.TrimSpace(lines[i+2]),
		})
	}
	return all, nil
}

var after = regexp.MustCompile(`after (\d+) histories`)

// run returns after how many histories the mutant was noticed, "" for never.
func (m mutant) run(root string, limit int) (string, error) {
	dir, err := os.MkdirTemp("", "histories")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	overlay, err := m.overlay(root, dir)
	if err != nil {
		return "", err
	}
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
