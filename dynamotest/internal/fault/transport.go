package fault

import (
	"time"

	"github.com/homeops/ddbpatterns/dynamotest/internal/api"
)

// A Passage is what happens to a request on its way to any backend.
type Passage struct {
	Fate          *Effect // LoseReply, LoseRequest or Answer, or nil
	Before, After Waiting
}

// Waiting is what a request, or its reply, has to wait for.
type Waiting struct {
	Delay time.Duration
	Calls []func() // run without a lock
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
	var late []*armed // what concerns the reply, if one comes

	for _, f := range s.faults {
		if f.Effect.OfServer() || f.calling.Load() > 0 || !f.meets(f.sees(c, req)) {
			continue
		}
		switch {
		case f.Effect.Kind == DelayReply, f.Effect.Kind == After:
			late = append(late, f)
		case f.Effect.Kind == Delay, f.Effect.Kind == Before:
			f.wait(&p.Before)
		case p.Fate == nil:
			p.Fate = &f.Effect
			f.fired++
		}
	}

	if p.Fate == nil || p.Fate.Kind == LoseReply {
		for _, f := range late {
			f.wait(&p.After)
		}
	}
	return p
}

// wait lets a request or a reply wait for the fault.
func (f *armed) wait(w *Waiting) {
	f.fired++
	w.Delay += f.Effect.Wait
	if f.Effect.Call != nil {
		w.Calls = append(w.Calls, f.call)
	}
}

// call runs the function of the fault. Meanwhile, the fault meets no requests.
func (f *armed) call() {
	f.called.Store(true)
	f.calling.Add(1)
	defer f.calling.Add(-1)
	f.Effect.Call()
}

// meets records a call, and reports whether the fault disturbs it.
func (f *armed) meets(c call) bool {
	f.see(c)
	hit, ok := f.match(c)
	return ok && f.due(c, hit)
}
