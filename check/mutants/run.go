package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
)

type outcome int

const (
	killed outcome = iota
	survived
	invalid // the list is wrong: no mutant ran
)

func (o outcome) String() string { return [...]string{"killed", "SURVIVED", "ERROR"}[o] }

type result struct {
	mutant
	outcome outcome
	by      string // the test that failed, or what is wrong
	took    time.Duration
}

type runner struct {
	root    string
	jobs    int
	timeout time.Duration
	out     io.Writer
}

// unmutated runs the tests of the packages without a mutant: a test that fails
// anyway kills nothing. It passes no flags to go test, so that tests that just
// passed do not run again.
func (r runner) unmutated(ctx context.Context, list []mutant) error {
	var packages []string
	for _, m := range list {
		packages = append(packages, m.pkg())
	}
	slices.Sort(packages)
	cmd := exec.CommandContext(ctx, "go", append([]string{"test"}, slices.Compact(packages)...)...)
	cmd.Dir = r.root
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("the tests fail without any mutant: %w\n%s", err, out)
	}
	return nil
}

// all tries every mutant and prints each result as it comes.
func (r runner) all(ctx context.Context, list []mutant) ([]result, error) {
	results := make([]result, len(list))
	next := make(chan int)
	var wg sync.WaitGroup
	var mu sync.Mutex
	for range r.jobs {
		wg.Go(func() {
			for i := range next {
				results[i] = r.try(ctx, list[i])
				if ctx.Err() != nil {
					continue
				}
				mu.Lock()
				fmt.Fprintf(r.out, "%-8s %s: %s (%.1f s)\n", results[i].outcome, list[i], results[i].by, results[i].took.Seconds())
				mu.Unlock()
			}
		})
	}
	for i := range list {
		next <- i
	}
	close(next)
	wg.Wait()
	return results, ctx.Err()
}

func (r runner) try(ctx context.Context, m mutant) result {
	began := time.Now()
	res := result{mutant: m}
	var err error
	res.outcome, res.by, err = r.test(ctx, m)
	if err != nil {
		res.outcome, res.by = invalid, err.Error()
	}
	res.took = time.Since(began)
	return res
}

// test builds the tests of the mutant's package and runs them. Its error means
// that the list is wrong.
func (r runner) test(ctx context.Context, m mutant) (outcome, string, error) {
	dir, err := os.MkdirTemp("", "mutant")
	if err != nil {
		return invalid, "", err
	}
	defer os.RemoveAll(dir)
	root, err := filepath.Abs(r.root)
	if err != nil {
		return invalid, "", err
	}
	overlay, err := m.overlay(root, dir)
	if err != nil {
		return invalid, "", err
	}
	build := exec.CommandContext(ctx, "go", "test", "-c", "-overlay", overlay, "-ldflags=-s -w", "-o", binary(dir), m.pkg())
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		return invalid, "", fmt.Errorf("does not compile: %s", strings.ReplaceAll(message(out), changed(dir), m.file))
	}
	if _, err := os.Stat(binary(dir)); err != nil {
		return invalid, "", errors.New("the package has no tests")
	}
	by := r.run(ctx, dir, filepath.Join(root, filepath.FromSlash(m.pkg())), overlay)
	if by == "" {
		return survived, "no test fails", nil
	}
	return killed, by, nil
}

// The files of a mutant's folder.
func binary(dir string) string  { return filepath.Join(dir, "mutant.test") }
func changed(dir string) string { return filepath.Join(dir, "mutant.go") }

// message returns what the go command says, in one line and without the
// package.
func message(out []byte) string {
	var lines []string
	for line := range strings.Lines(string(out)) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "# ") {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "; ")
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
	replace := map[string]string{filepath.Join(root, filepath.FromSlash(m.file)): changed(dir)}
	data, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	file := filepath.Join(dir, "overlay.json")
	return file, os.WriteFile(file, data, 0o600)
}

// run runs the tests in the package's folder until the first one fails. It
// returns the name of that test, or what else ended the run, or "" if all tests
// pass.
func (r runner) run(ctx context.Context, dir, folder, overlay string) string {
	// This is longer than the tests' own limit, for a program that does not end by
	// itself.
	ctx, cancel := context.WithTimeout(ctx, r.timeout+10*time.Second)
	defer cancel()
	output := &watch{failed: cancel}
	cmd := exec.CommandContext(ctx, binary(dir), "-test.failfast", "-test.paniconexit0", "-test.timeout="+r.timeout.String())
	cmd.Dir = folder
	cmd.Stdout, cmd.Stderr = output, output
	cmd.WaitDelay = time.Second
	// The files that an interrupted test leaves behind are deleted with dir. If
	// a test builds a program of the module, that build has the mutant, too.
	cmd.Env = append(os.Environ(), "TMPDIR="+dir, "GOFLAGS="+os.Getenv("GOFLAGS")+" -overlay="+overlay)
	if err := cmd.Run(); err != nil {
		return output.reason(err)
	}
	return ""
}

var (
	failedTest = regexp.MustCompile(`(?m)^--- FAIL: (\S+)`)
	hungTest   = regexp.MustCompile(`(?m)^panic: test timed out.*\n\s*running tests:\n\s*(\S+)`)
	crash      = regexp.MustCompile(`(?m)^(?:panic|fatal error): .*`)
)

// watch keeps what tests print, and calls failed after the first failure:
// otherwise all parallel tests that wait for their turn would still run.
type watch struct {
	failed func()
	text   bytes.Buffer
}

func (w *watch) Write(p []byte) (int, error) {
	w.text.Write(p)
	if bytes.Contains(p, []byte("FAIL")) && failedTest.Match(w.text.Bytes()) {
		w.failed()
	}
	return len(p), nil
}

func (w *watch) reason(err error) string {
	text := w.text.Bytes()
	if m := failedTest.FindSubmatch(text); m != nil {
		return string(m[1])
	}
	if m := hungTest.FindSubmatch(text); m != nil {
		return string(m[1]) + " hangs"
	}
	if line := crash.Find(text); line != nil {
		return strings.TrimSpace(string(line))
	}
	return err.Error()
}
