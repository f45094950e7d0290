package main

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// trial is a test program of a package, in a temporary folder of its own.
type trial struct {
	dir       string
	root, pkg string
	limit     time.Duration
	overlay   string // "" without a mutant
}

const noTests = "the package has no tests"

func (t trial) binary() string { return filepath.Join(t.dir, "mutant.test") }
func (t trial) folder() string { return filepath.Join(t.root, filepath.FromSlash(t.pkg)) }

// build returns what is wrong. Neither inlining nor vet is worth its time here.
func (t trial) build(ctx context.Context) (failed string) {
	// In the package's folder the go command finds the nearest go.mod above it.
	cmd := exec.CommandContext(ctx, "go", "test", "-c", "-vet=off", "-gcflags=-l", "-ldflags=-s -w", "-overlay="+t.overlay, "-o", t.binary(), ".")
	cmd.Dir = t.folder()
	if out, err := cmd.CombinedOutput(); err != nil {
		return "does not compile: " + message(out)
	}
	if _, err := os.Stat(t.binary()); err != nil {
		return noTests
	}
	return ""
}

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

// run runs tests in the package's folder until the first one fails. It returns
// the name of that test, or what else ended the run, and all that they printed.
func (t trial) run(ctx context.Context, args ...string) (how outcome, by, text string) {
	// This is longer than the tests' own limit, for a program that does not end by
	// itself.
	ctx, cancel := context.WithTimeout(ctx, t.limit+10*time.Second)
	defer cancel()
	output := &watch{failed: cancel}
	args = append(args, "-test.failfast", "-test.paniconexit0", "-test.timeout="+t.limit.String())
	cmd := exec.CommandContext(ctx, t.binary(), args...)
	cmd.Dir = t.folder()
	cmd.Stdout, cmd.Stderr = output, output
	cmd.WaitDelay = time.Second
	// The files that an interrupted test leaves behind are deleted with dir. If
	// a test builds a program of the module, that build has the mutant, too.
	cmd.Env = append(os.Environ(), "TMPDIR="+t.dir, "GOFLAGS="+os.Getenv("GOFLAGS")+" -overlay="+t.overlay)
	err := cmd.Run()
	if err == nil {
		return survived, "no test fails", output.text.String()
	}
	how, by = output.reason(err)
	if by == err.Error() && ctx.Err() == context.DeadlineExceeded {
		how, by = hangs, "the tests do not end"
	}
	return how, by, output.text.String()
}

var (
	// A test's own time does not have that of its parallel subtests.
	passedTest = regexp.MustCompile(`(?m)^ *--- PASS: ([^/\s]+)\S* \(([0-9.]+)s\)`)
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

func (w *watch) reason(err error) (outcome, string) {
	text := w.text.Bytes()
	if m := failedTest.FindSubmatch(text); m != nil {
		return killed, string(m[1])
	}
	if m := hungTest.FindSubmatch(text); m != nil {
		return hangs, string(m[1])
	}
	if line := crash.Find(text); line != nil {
		return killed, strings.TrimSpace(string(line))
	}
	return killed, err.Error()
}
