package fault

import (
	"fmt"
	"time"

	"github.com/homeops/ddbpatterns/dynamotest/internal/api"
)

// A Kind is what happens to a request.
type Kind uint8

// The kinds. Those before Throttle happen on the way to any backend, the others are
// a server's own answers.
const (
	LoseReply Kind = iota + 1
	LoseRequest
	Answer
	Delay
	DelayReply
	Before
	After

	Throttle
	InternalError
	Unavailable
	Conflict
	Unprocessed
)

var kinds = [...]string{
	LoseReply: "LoseReply", LoseRequest: "LoseRequest", Answer: "Answer",
	Delay: "Delay", DelayReply: "DelayReply", Before: "Before", After: "After", Throttle: "Throttle",
	InternalError: "InternalError", Unavailable: "Unavailable", Conflict: "Conflict", Unprocessed: "Unprocessed",
}

// String returns the name of the kind.
func (k Kind) String() string {
	if k == 0 || int(k) >= len(kinds) {
		return fmt.Sprintf("Kind(%d)", uint8(k))
	}
	return kinds[k]
}

// OfServer reports whether only a server in this process can have the effect.
func (k Kind) OfServer() bool { return k >= Throttle }

// An Effect is a kind and its parameters. Those of other kinds are zero.
type Effect struct {
	Kind

	Wait time.Duration // of Delay and DelayReply
	Call func()        // of Before and After

	Status int    // of Answer
	Body   string // of Answer

	Code    string // of Throttle; empty: follows from the table's billing mode
	ByIndex string // of Throttle: a global index that holds writes to its table back

	Late bool // of InternalError and Unavailable: the request has taken effect
	Last int  // of Unprocessed: how many of the entries that match; 0: all
}

// wrong returns what is invalid about the effect itself.
func (e *Effect) wrong() string {
	switch {
	case (e.Kind == Delay || e.Kind == DelayReply) && e.Wait <= 0:
		return "the delay must be positive"
	case (e.Kind == Before || e.Kind == After) && e.Call == nil:
		return "it has no function"
	case e.Kind == Answer && (e.Status < 200 || e.Status > 599):
		return fmt.Sprintf("%d is not the status of an answer", e.Status)
	case e.Last < 0:
		return "Last must be positive"
	case e.Code != "" && e.Code != api.ThroughputExceeded && e.Code != api.Throttling:
		return fmt.Sprintf("As %q: Throttle knows %s and %s", e.Code, api.ThroughputExceeded, api.Throttling)
	}
	return ""
}
