// Package process runs commands of this repository for tests: the real binaries,
// as processes of their own.
package process

import (
	"bytes"
	"encoding/json"
	"io"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// Patience is how long a process may take to start or to end.
const Patience = 60 * time.Second

// Buffer is a bytes.Buffer for several goroutines.
type Buffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write implements io.Writer.
func (b *Buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

// String returns what was written.
func (b *Buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// Build builds the command in the folder and returns its file.
func Build(t testing.TB, folder string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "command")
	command := exec.CommandContext(t.Context(), "go", "build", "-o", file, ".")
	command.Dir = folder
	if out, err := command.CombinedOutput(); err != nil {
		t.Fatalf("building %s: %v\n%s", folder, err, out)
	}
	return file
}

// Process is a running command.
type Process struct {
	t       testing.TB
	command *exec.Cmd
	ended   chan struct{} // closed when it has
	err     error         // of its end

	URL          string // where it listens
	Console, Log Buffer // standard output and standard error
}

// Start starts the command, with the given environment and no other, and waits
// until it says where it listens. It is killed at the end of the test.
func Start(t testing.TB, file string, env map[string]string, args ...string) *Process {
	t.Helper()
	p := &Process{t: t, command: exec.Command(file, args...), ended: make(chan struct{})}
	found := make(chan string, 1)
	p.command.Env = []string{}
	for name, value := range env {
		p.command.Env = append(p.command.Env, name+"="+value)
	}
	p.command.Stdout = io.MultiWriter(&p.Console, &watch{found: found})
	p.command.Stderr = io.MultiWriter(&p.Log, &watch{found: found})
	if err := p.command.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		p.err = p.command.Wait()
		close(p.ended)
	}()
	t.Cleanup(p.Kill)
	select {
	case p.URL = <-found:
	case <-p.ended:
		t.Fatalf("%s ended at once: %v\n%s%s", filepath.Base(file), p.err, &p.Console, &p.Log)
	case <-time.After(Patience):
		t.Fatalf("%s does not start\n%s%s", filepath.Base(file), &p.Console, &p.Log)
	}
	return p
}

// Kill ends the process as a power cut does.
func (p *Process) Kill() {
	_ = p.command.Process.Signal(syscall.SIGKILL)
	<-p.ended
}

// End asks the process to end, which it must do in time and with status 0.
func (p *Process) End() {
	p.t.Helper()
	if err := p.command.Process.Signal(syscall.SIGTERM); err != nil {
		p.t.Fatal(err)
	}
	select {
	case <-p.ended:
		if p.err != nil {
			p.t.Errorf("ended with %v: %s", p.err, &p.Log)
		}
	case <-time.After(Patience):
		p.t.Fatalf("does not end: %s", &p.Log)
	}
}

// watch looks for the line that says where a command listens.
type watch struct {
	line  []byte
	found chan<- string
}

func (w *watch) Write(p []byte) (int, error) {
	w.line = append(w.line, p...)
	for {
		line, rest, whole := bytes.Cut(w.line, []byte("\n"))
		if !whole {
			return len(p), nil
		}
		w.line = rest
		if url, ok := listens(line); ok {
			select {
			case w.found <- url:
			default: // it has said so before
			}
		}
	}
}

// listens reads the line of dynamotest, or of homeops' log as JSON.
func listens(line []byte) (url string, ok bool) {
	if url, ok := strings.CutPrefix(string(line), "dynamotest: listening on "); ok {
		return url, true
	}
	var entry struct{ Msg, Address string }
	if json.Unmarshal(line, &entry) != nil || entry.Msg != "serving" {
		return "", false
	}
	return "http://" + entry.Address, true
}
