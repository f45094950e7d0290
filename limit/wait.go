package limit

import (
	"context"
	"errors"
	"time"

	"github.com/homeops/ddbpatterns/event"
)

// Wait takes room and sleeps until the caller's turn. It waits at most Take.Wait or,
// if that is 0, Config.MaxWait, and never beyond the end of the context: if the turn
// comes later, the answer is a refusal, at once.
//
// If the context ends while it sleeps, Wait gives the take back and returns the
// context's error. What cannot be given back within Config.Timeout comes back with
// time. A Duplicate, whose take is another call's, is not given back.
//
// Errors: those of [Store.Take], and the context's.
//
// Price: 1 request, 1 WCU. A wait that is cancelled: 1 request and 1 WCU more.
func (s *Store) Wait(ctx context.Context, t Take) (Grant, error) {
	if t.Wait == 0 {
		t.Wait = s.cfg.MaxWait
	}
	if end, ok := ctx.Deadline(); ok {
		t.Wait = min(t.Wait, max(0, end.Sub(s.cfg.Now())))
	}
	g, err := s.enter(ctx, t)
	if err != nil || !g.OK {
		return g, s.wrap("Wait", err)
	}
	timer := time.NewTimer(g.At.Sub(s.cfg.Now()))
	defer timer.Stop()
	select {
	case <-timer.C:
		return g, nil
	case <-ctx.Done():
	}
	if g.Outcome == event.Created {
		nothing := map[string]int64{}
		for _, l := range g.Take.Limits {
			nothing[l.Name] = 0
		}
		_, err = s.Settle(context.WithoutCancel(ctx), g.Take, nothing) // within Config.Timeout
	}
	return Grant{}, s.wrap("Wait", errors.Join(context.Cause(ctx), err))
}
