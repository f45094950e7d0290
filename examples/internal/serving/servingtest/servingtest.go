// Package servingtest runs a program that serves, inside a test's process.
package servingtest

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"
)

// Patience is how long a test waits for something that must come.
const Patience = 30 * time.Second

// Buffer is a strings.Builder for several goroutines, which can wait for a text.
type Buffer struct {
	mu      sync.Mutex
	text    strings.Builder
	written chan struct{} // closed, and replaced, by Write
}

// NewBuffer returns an empty Buffer.
func NewBuffer() *Buffer { return &Buffer{written: make(chan struct{})} }

// Write implements io.Writer.
func (b *Buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	close(b.written)
	b.written = make(chan struct{})
	return b.text.Write(p)
}

// Until waits until the written text contains the text.
func (b *Buffer) Until(t testing.TB, text string) {
	t.Helper()
	deadline := time.After(Patience)
	for {
		b.mu.Lock()
		found, written := strings.Contains(b.text.String(), text), b.written
		b.mu.Unlock()
		if found {
			return
		}
		select {
		case <-written:
		case <-deadline:
			t.Fatalf("never written: %s\n%s", text, b)
		}
	}
}

// String returns what was written.
func (b *Buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// Running is a program that serves. It is stopped at the end of the test.
type Running struct {
	URL          string
	Stop         context.CancelFunc
	Exit         <-chan int
	Console, Log *Buffer
}

// Start runs the program until it logs, in JSON, where it is serving.
func Start(t testing.TB, run func(ctx context.Context, out, err io.Writer) int) *Running {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	reading, writing := io.Pipe()
	exit := make(chan int, 1)
	r := &Running{Stop: stop, Exit: exit, Console: NewBuffer(), Log: NewBuffer()}
	go func() {
		defer writing.Close()
		exit <- run(ctx, r.Console, writing)
	}()
	address := make(chan string, 1)
	go func() {
		lines := bufio.NewScanner(reading)
		lines.Buffer(nil, 1<<20) // they may have whole bodies
		for lines.Scan() {
			fmt.Fprintln(r.Log, lines.Text())
			var line struct{ Msg, Address string }
			if json.Unmarshal(lines.Bytes(), &line) == nil && line.Msg == "serving" {
				address <- line.Address
			}
		}
	}()
	select {
	case at := <-address:
		r.URL = "http://" + at
	case code := <-exit:
		t.Fatalf("ended with %d: %s", code, r.Log)
	case <-time.After(Patience):
		t.Fatal("does not start")
	}
	t.Cleanup(stop)
	return r
}

// End waits for the end, and checks the exit code.
func (r *Running) End(t testing.TB, want int) {
	t.Helper()
	select {
	case got := <-r.Exit:
		if got != want {
			t.Errorf("exit %d, want %d\n%s", got, want, r.Log)
		}
	case <-time.After(Patience):
		t.Fatalf("does not end\n%s", r.Log)
	}
}
