package dynamotest

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"syscall"
)

// Disturbance is what a [Fault] does to a request.
type Disturbance uint8

const (
	// LoseReply lets the request take effect and drops the reply: the caller
	// sees a connection reset and cannot know.
	LoseReply Disturbance = iota + 1
	// LoseRequest drops the request before it takes effect; to the caller it
	// looks the same.
	LoseRequest
)

// String returns the name of the constant.
func (d Disturbance) String() string {
	switch d {
	case LoseReply:
		return "LoseReply"
	case LoseRequest:
		return "LoseRequest"
	}
	return fmt.Sprintf("Disturbance(%d)", uint8(d))
}

// Fault disturbs chosen requests. Attempts are counted, not calls: what the
// SDK sends again is a request of its own.
type Fault struct {
	Do Disturbance
	Op string // the operation, such as "UpdateItem"; "" is any

	// Table must be named by the request; "" is any.
	Table string

	// Nth is the first request disturbed, counting those that match from 1.
	// Defaults to 1.
	Nth int
	// Times is how many are disturbed, from the Nth on. Defaults to 1; -1
	// disturbs all that follow.
	Times int
}

type fault struct {
	Fault
	seen, fired int
}

// Inject adds a fault. On a [DB], one that never fired fails the test.
func (t *Tap) Inject(f Fault) {
	if f.Nth == 0 {
		f.Nth = 1
	}
	if f.Times == 0 {
		f.Times = 1
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.faults = append(t.faults, &fault{Fault: f})
}

// Heal removes all faults, and returns a sentence for each that never fired.
func (t *Tap) Heal() (idle []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, f := range t.faults {
		if f.fired == 0 {
			idle = append(idle, fmt.Sprintf("fault %v on request %d of %q never fired: %d requests matched", f.Do, f.Nth, f.Op, f.seen))
		}
	}
	t.faults = nil
	return idle
}

func (t *Tap) disturbed() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.faults) > 0
}

// faultFor counts the request with every fault it matches and returns what the
// first that is due does; 0 is nothing.
func (t *Tap) faultFor(op string, body []byte) Disturbance {
	t.mu.Lock()
	defer t.mu.Unlock()
	var do Disturbance
	for _, f := range t.faults {
		if f.Op != "" && f.Op != op || f.Table != "" && !names(body, f.Table) {
			continue
		}
		f.seen++
		due := f.seen >= f.Nth && (f.Times < 0 || f.fired < f.Times)
		if due && do == 0 {
			f.fired++
			do = f.Do
		}
	}
	return do
}

// names reports whether the request names the table, as a value or, in a
// batch, as a key.
func names(body []byte, table string) bool {
	return bytes.Contains(body, []byte(`"`+table+`"`))
}

// readBody reads the request's body and puts it back.
func readBody(r *http.Request) ([]byte, error) {
	if r.Body == nil {
		return nil, nil
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	if err := r.Body.Close(); err != nil {
		return nil, err
	}
	r.Body = io.NopCloser(strings.NewReader(string(body)))
	return body, nil
}

// connectionReset is what a lost connection looks like to net/http, and what
// the SDK sends again for.
func connectionReset(op string) error {
	return &net.OpError{Op: op, Net: "tcp", Err: os.NewSyscallError(op, syscall.ECONNRESET)}
}
