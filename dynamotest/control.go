package dynamotest

import (
	"context"
	"time"

	"github.com/homeops/ddbpatterns/dynamotest/internal/api"
	"github.com/homeops/ddbpatterns/dynamotest/internal/engine"
	"github.com/homeops/ddbpatterns/dynamotest/internal/fault"
)

// control connects a server's engine to its faults. The engine asks it only
// while faults or a latency are set.
type control struct {
	faults  *fault.Set
	engine  *engine.Engine
	latency time.Duration
}

func (c *control) arm() { c.engine.SetHook(c.decide) }

func (c *control) disarm() {
	if c.latency == 0 {
		c.engine.SetHook(nil)
	}
}

// decide lets half of the latency pass before a request and half after it, and
// commits the faults that are due.
func (c *control) decide(ctx context.Context, call *engine.Call) engine.Decision {
	if wait(ctx, c.latency/2) != nil { // the caller gave up: the request never arrives
		return engine.Decision{Answer: &api.Error{Code: api.ServiceUnavailable, Message: "the caller gave up"}}
	}

	met := c.faults.Server(call.Operation, call.Targets)
	var late *api.Error
	if met.Answer != nil {
		err := c.answer(met.Answer, call, met.Hit)
		if !met.Answer.Late {
			return engine.Decision{Answer: err}
		}
		late = err
	}

	return engine.Decision{Refuse: c.refusals(met.Refuse, call), After: func(refused *api.Error) *api.Error {
		if met.Refused != nil && refused != nil {
			met.Refused(refused.Code)
		}
		_ = wait(ctx, c.latency/2) // it has taken effect, even if the caller gave up
		return late
	}}
}

func (c *control) answer(effect *fault.Effect, call *engine.Call, hit []bool) *api.Error {
	switch effect.Kind {
	case fault.Throttle:
		return c.engine.Throttled(call, hit, throttling(effect))
	case fault.Conflict:
		return engine.Conflict(call, hit)
	case fault.Unavailable:
		return engine.ErrUnavailable
	}
	return engine.ErrInternal
}

func throttling(effect *fault.Effect) engine.Throttling {
	return engine.Throttling{Code: effect.Code, Index: effect.ByIndex}
}

// refusals returns the error that each entry of a batch gets, nil for those
// that get none.
func (c *control) refusals(effects []*fault.Effect, call *engine.Call) []*api.Error {
	errs := make([]*api.Error, len(effects))
	for i, effect := range effects {
		switch {
		case effect == nil:
		case effect.Kind == fault.Throttle:
			errs[i] = c.engine.ThrottledTarget(call.Targets[i], throttling(effect))
		case effect.Kind == fault.Conflict:
			errs[i] = engine.ErrConflict
		default:
			errs[i] = engine.ErrInternal
		}
	}

	return errs
}

// waitFor waits, and then calls the functions.
func waitFor(ctx context.Context, w fault.Waiting) error {
	if err := wait(ctx, w.Delay); err != nil {
		return err
	}
	for _, call := range w.Calls {
		call()
	}
	return nil
}

// wait returns early, with the context's error, when the context ends.
func wait(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
