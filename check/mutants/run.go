package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

type outcome string

const (
	killed   outcome = "killed"
	hangs    outcome = "HANGS"
	survived outcome = "SURVIVED"
	invalid  outcome = "ERROR" // the list is wrong: no mutant ran
)

// result is a line of the file of -resume.
type result struct {
	Mutant  mutant
	Outcome outcome
	By      string // the test that failed, or what is wrong
	Seconds float64
}

type runner struct {
	root     string
	jobs     int
	timeout  time.Duration // 0 means three times the unmutated run
	out, log io.Writer
	clean    map[string]clean
}

// clean is the unmutated run of a package. Slow are its tests that take long:
// they run when the others have not noticed the mutant.
type clean struct {
	limit time.Duration
	slow  string
}

// each calls f for 0 to n-1, as many at once as there are jobs.
func (r runner) each(ctx context.Context, n int, f func(i int)) error {
	next := make(chan int)
	var wg sync.WaitGroup
	for range r.jobs {
		wg.Go(func() {
			for i := range next {
				if ctx.Err() == nil {
					f(i)
				}
			}
		})
	}
	for i := range n {
		next <- i
	}
	close(next)
	wg.Wait()
	return ctx.Err()
}

// unmutated runs the tests of the packages without a mutant, as many at once as
// later: a test that fails anyway kills nothing.
func (r runner) unmutated(ctx context.Context, list []mutant) error {
	var packages []string
	for _, m := range list {
		packages = append(packages, m.pkg())
	}
	slices.Sort(packages)
	packages = slices.Compact(packages)
	var mu sync.Mutex
	var failed []string
	err := r.each(ctx, len(packages), func(i int) {
		c, bad := r.measure(ctx, packages[i])
		mu.Lock()
		defer mu.Unlock()
		if r.clean[packages[i]] = c; bad != "" {
			failed = append(failed, bad)
		}
	})
	if err == nil && len(failed) > 0 {
		err = fmt.Errorf("the tests fail without any mutant: %s", strings.Join(failed, "\n"))
	}
	return err
}

func (r runner) measure(ctx context.Context, pkg string) (c clean, failed string) {
	dir, err := os.MkdirTemp("", "mutant")
	if err != nil {
		return c, err.Error()
	}
	defer os.RemoveAll(dir)
	program := trial{dir: dir, root: r.root, pkg: pkg, limit: max(r.timeout, 10*time.Minute)}
	if failed := program.build(ctx); failed == noTests {
		return c, "" // each of its mutants says so
	} else if failed != "" {
		return c, pkg + ": " + failed
	}
	began := time.Now()
	how, by, text := program.run(ctx, "-test.v")
	if how != survived {
		return c, fmt.Sprintf("%s: %s\n%s", pkg, by, text)
	}
	c.limit = r.timeout
	if c.limit == 0 {
		c.limit = max(3*time.Since(began), 10*time.Second)
	}
	var slow []string
	for _, m := range passedTest.FindAllStringSubmatch(text, -1) {
		if seconds, _ := strconv.ParseFloat(m[2], 64); seconds > 0.3 && !slices.Contains(slow, m[1]) {
			slow = append(slow, m[1])
		}
	}
	if slow != nil {
		c.slow = "^(" + strings.Join(slow, "|") + ")$"
	}
	return c, ""
}

// all tries every mutant, and prints and logs each result as it comes.
func (r runner) all(ctx context.Context, list []mutant) ([]result, error) {
	results := make([]result, len(list))
	var mu sync.Mutex
	var failed error
	err := r.each(ctx, len(list), func(i int) {
		began := time.Now()
		res := result{Mutant: list[i]}
		res.Outcome, res.By = r.try(ctx, list[i])
		res.Seconds = time.Since(began).Seconds()
		if ctx.Err() != nil {
			return
		}
		mu.Lock()
		defer mu.Unlock()
		results[i] = res
		fmt.Fprintf(r.out, "%-8s %s: %s (%.1f s)\n", res.Outcome, list[i], res.By, res.Seconds)
		if err := json.NewEncoder(r.log).Encode(res); err != nil {
			failed = err
		}
	})
	if err == nil {
		err = failed
	}
	return results, err
}

// try builds the tests of the mutant and runs them, those that take long last.
func (r runner) try(ctx context.Context, m mutant) (outcome, string) {
	dir, err := os.MkdirTemp("", "mutant")
	if err != nil {
		return invalid, err.Error()
	}
	defer os.RemoveAll(dir)
	overlay, err := m.overlay(r.root, dir)
	if err != nil {
		return invalid, err.Error()
	}
	c := r.clean[m.pkg()]
	program := trial{dir: dir, root: r.root, pkg: m.pkg(), limit: c.limit, overlay: overlay}
	if failed := program.build(ctx); failed != "" {
		return invalid, strings.ReplaceAll(failed, changed(dir), m.File)
	}
	if c.slow == "" {
		how, by, _ := program.run(ctx)
		return how, by
	}
	how, by, _ := program.run(ctx, "-test.skip="+c.slow)
	if how == survived {
		how, by, _ = program.run(ctx, "-test.run="+c.slow)
	}
	return how, by
}

// overlay writes the mutated file and the JSON that puts it in the place of the
// file of the tree.
func (m mutant) overlay(root, dir string) (string, error) {
	text, err := m.read(root)
	if err != nil {
		return "", err
	}
	if err := os.WriteFile(changed(dir), []byte(text), 0o600); err != nil {
		return "", err
	}
	replace := map[string]string{filepath.Join(root, filepath.FromSlash(m.File)): changed(dir)}
	data, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	file := filepath.Join(dir, "overlay.json")
	return file, os.WriteFile(file, data, 0o600)
}

func changed(dir string) string { return filepath.Join(dir, "mutant.go") }
