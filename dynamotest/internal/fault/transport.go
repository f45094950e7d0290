package fault

import (
	"time"

	"github.com/homeops/ddbpatterns/dynamotest/internal/api"
)

// A Passage is what happens to a request on its way to any backend.
type Passage struct {
	Lost          Kind // LoseReply, LoseRequest or none
	Before, After time.Duration
}

// OnTransport reports whether requests must be checked on their way.
func (s *Set) OnTransport() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range s.faults {
		if !f.Effect.OfServer() {
			return true
		}
	}
	return false
}

// Transport counts the request in every fault of the transport that matches it.
// The request is nil if it cannot be decoded.
func (s *Set) Transport(op string, req api.Request) Passage {
	if !s.OnTransport() {
		return Passage{}
	}
	c := call{op, s.targets(req)}
	s.mu.Lock()
	defer s.mu.Unlock()
	var p Passage
	var late []*armed // delays of the reply, if one comes
	for _, f := range s.faults {
		if f.Effect.OfServer() || !f.meets(f.sees(c, req)) {
			continue
		}
		switch {
		case f.Effect.Kind == DelayReply:
			late = append(late, f)
			continue
		case f.Effect.Kind == Delay:
			p.Before += f.Effect.Wait
		case p.Lost == 0:
			p.Lost = f.Effect.Kind
		default:
			continue // it stays due
		}
		f.fired++
	}
	if p.Lost != LoseRequest {
		for _, f := range late {
			p.After += f.Effect.Wait
			f.fired++
		}
	}
	return p
}

// meets records a call, and reports whether the fault disturbs it.
func (f *armed) meets(c call) bool {
	f.see(c)
	hit, ok := f.match(c)
	return ok && f.due(c, hit)
}
