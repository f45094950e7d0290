package fault

import (
	"slices"

	"github.com/homeops/ddbpatterns/dynamotest/internal/api"
	"github.com/homeops/ddbpatterns/dynamotest/internal/target"
)

// A Reception is what happens to a request that has arrived at a server.
type Reception struct {
	Answer *Effect // the effect that answers it, or nil
	Hit    []bool  // the targets that Answer is about

	// Refuse has, for each target of a batch, the effect that refuses it, or nil.
	// Refuse itself is nil if nothing is refused.
	Refuse []*Effect
	// Refused, unless it is nil, must be called with the code of the error if the
	// batch was refused as a whole in spite of Refuse.
	Refused func(code string)
}

// reception is a Reception in the making.
type reception struct {
	Reception
	parts     []*armed // the faults that refuse entries
	throttle  *armed   // the first of them that throttles
	throttled []bool   // its targets
}

// Server counts the request in every fault of the server that matches it.
func (s *Set) Server(op string, targets []target.Target) Reception {
	c := call{op, targets}
	s.mu.Lock()
	defer s.mu.Unlock()
	var r reception
	var partly []func() // effects of faults on parts of a batch

	for _, f := range s.faults {
		if !f.Effect.OfServer() {
			continue
		}

		f.see(c)
		hit, ok := f.match(c)
		switch {
		case !ok || !f.due(c, hit):
		case f.refusesParts(op, hit):
			partly = append(partly, func() { r.refuse(f, hit) })
		case r.Answer == nil:
			r.Answer, r.Hit = &f.Effect, hit
			f.fired++
		}
	}

	if r.Answer == nil || r.Answer.Late {
		for _, refuse := range partly {
			refuse()
		}
	}

	if r.Answer == nil && r.throttle != nil && op != "BatchExecuteStatement" && !slices.Contains(r.Refuse, nil) {
		r.Answer, r.Hit = &r.throttle.Effect, r.throttled // nothing gets through
		unfire(r.parts, true)
		r.parts = nil
	}

	if len(r.parts) > 0 {
		r.Refused = func(code string) {
			s.mu.Lock()
			defer s.mu.Unlock()
			unfire(r.parts, slices.Contains([]string{api.ThroughputExceeded, api.Throttling}, code))
		}
	}
	return r.Reception
}

// unfire makes faults due again that refused entries of a batch that then failed as
// a whole. If it failed by throttling, the faults that throttle have fired
// nevertheless.
func unfire(parts []*armed, throttled bool) {
	for _, f := range parts {
		if f.Effect.Kind != Throttle || !throttled {
			f.fired--
		}
	}
}

// refusesParts reports whether the fault affects parts of a batch instead of all
// of it.
func (f *armed) refusesParts(op string, hit []bool) bool {
	kind := f.Effect.Kind
	switch {
	case !is(op, api.Batch):
		return false
	case kind == Unprocessed:
		return true
	case op == "BatchExecuteStatement" && (kind == Throttle || kind == Conflict):
		return true // each statement has its own answer
	}

	// A throttled batch fails as a whole only if nothing in it gets through.
	return kind == Throttle && slices.Contains(hit, false)
}

// refuse adds the last of the targets hit to those that are refused. The fault
// has fired if a target was added.
func (r *reception) refuse(f *armed, hit []bool) {
	if r.Refuse == nil {
		r.Refuse = make([]*Effect, len(hit))
	}

	added := 0
	for i := len(hit) - 1; i >= 0; i-- {
		if hit[i] && r.Refuse[i] == nil && (f.Effect.Last == 0 || added < f.Effect.Last) {
			r.Refuse[i] = &f.Effect
			added++
		}
	}

	if added == 0 {
		return
	}

	f.fired++
	r.parts = append(r.parts, f)
	if f.Effect.Kind == Throttle && r.throttle == nil {
		r.throttle, r.throttled = f, hit
	}
}
