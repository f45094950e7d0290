package dynamotest

import (
	"context"
	"time"

	"github.com/homeops/ddbpatterns/dynamotest/internal/api"
	"github.com/homeops/ddbpatterns/dynamotest/internal/engine"
)

// control stands between a server's engine and its faults. The engine asks it
// only while there is something to ask for.
type control struct {
	tap     *Tap
	engine  *engine.Engine
	latency time.Duration
}

func (c *control) arm() { c.engine.Hook(c) }

func (c *control) disarm() {
	if c.latency == 0 {
		c.engine.Hook(nil)
	}
}

// Before lets half of the latency pass and commits the faults that are due.
func (c *control) Before(ctx context.Context, call *engine.Call) *api.Error {
	if wait(ctx, c.latency/2) != nil { // given up on the way: it never arrives
		return &api.Error{Code: api.ServiceUnavailable, Message: "the caller gave up"}
	}
	fate := c.tap.sentence(call)
	call.Refuse, call.Errors = fate.refuse, fate.errors
	if len(fate.parts) > 0 {
		call.Refused = func(why *api.Error) { c.tap.refused(fate.parts, why) }
	}
	if fate.answer == nil {
		return nil
	}
	err := c.answer(fate.answer, call, fate.hit)
	if fate.answer.After {
		call.Late = err
		return nil
	}
	return err
}

// After lets the other half of the latency pass.
func (c *control) After(ctx context.Context, call *engine.Call) *api.Error {
	if call.Refused != nil && call.Err != nil {
		call.Refused(call.Err)
	}
	_ = wait(ctx, c.latency/2) // it has taken effect, whether or not the caller hears
	return call.Late
}

func (c *control) answer(f *fault, call *engine.Call, hit []bool) *api.Error {
	switch f.Do {
	case Throttle:
		return c.engine.Throttled(call, hit, f.throttling())
	case Conflict:
		return engine.Conflict(call, hit)
	case Unavailable:
		return engine.ErrUnavailable
	}
	return engine.ErrInternal
}

// wait returns early when the context ends, and tells so.
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
