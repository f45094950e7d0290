package histories_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/homeops/ddbpatterns/activity"
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/schema"
)

// activityStory uses few events at a time. Each is delivered in several
// versions, the first of which stays, and is taken back before or after.
type activityStory struct {
	w      *world
	stores []*activity.Store
	eraser *activity.Store // its requests arrive at once
	events []event.Event
	old    event.Event // which an older system recorded last
}

const (
	activitySkew      = 10 * time.Minute
	activityRetention = time.Hour
)

func newActivity(w *world) story {
	s := &activityStory{w: w}
	for _, c := range w.callers {
		store := s.over(c.client, c.now)
		s.stores = append(s.stores, store)
	}
	s.eraser = s.over(w.raw, w.clock)
	return s
}

func (s *activityStory) tables() []schema.Table { return []schema.Table{s.stores[0].Table()} }
func (*activityStory) keyOf(r row) string       { return str(r, "activityId") }
func (*activityStory) delay() time.Duration     { return activitySkew - 3*clockRange }
func (*activityStory) begin() []*call           { return nil }
func (*activityStory) keen(*caller) bool        { return false }
func (*activityStory) waited(*flight) bool      { return false }
func (*activityStory) wrong() string            { return "" }
func (*activityStory) verdict() string          { return "" }

func (*activityStory) leaps() []time.Duration {
	return []time.Duration{time.Minute, 5 * time.Minute, 20 * time.Minute, activityRetention}
}

// expiry is when the event is forgotten.
func (*activityStory) expiry(key string) time.Time {
	ev, err := event.Parse(key)
	if err != nil {
		panic(err)
	}
	return ev.Time().Add(activityRetention).Truncate(time.Second)
}

// nameTime is the key by name and time of a version of an event.
func (*activityStory) nameTime(key string, version int64) string {
	ev, err := event.Parse(key)
	if err != nil {
		panic(err)
	}
	return fmt.Sprintf("%d#%013d", version, ev.Time().UnixMilli())
}

func (*activityStory) over(api activity.API, now func() time.Time) *activity.Store {
	store, err := activity.New(api, "activities", &activity.Config{Now: now, Retention: activityRetention, MaxSkew: activitySkew})
	if err != nil {
		panic(err)
	}
	return store
}

// event returns one that happened now or lately, or one of the last few.
func (s *activityStory) event() event.Event {
	if len(s.events) == 0 || s.w.rnd.IntN(8) == 0 {
		at := s.w.clock().Add(-time.Duration(s.w.rnd.Int64N(int64(50 * time.Minute))))
		ev, err := event.New(at, "history", strconv.Itoa(len(s.events)))
		if err != nil {
			panic(err)
		}
		if s.w.rnd.IntN(3) == 0 { // another N
			if ev, err = ev.Nth(2); err != nil {
				panic(err)
			}
		}
		s.events = append(s.events, ev)
		return ev
	}
	last := s.events[max(0, len(s.events)-3):]
	return pick(s.w.rnd, last)
}

func (s *activityStory) next(c *caller) *call {
	ev := s.event()
	switch s.w.rnd.IntN(9) {
	case 0:
		return s.read(c, ev)
	case 1, 2:
		return s.retract(c, ev)
	case 3:
		return s.eraseActor(c, ev)
	case 4:
		return s.backfill(c, ev)
	}
	in := records{version: s.w.rnd.Int64N(2), tx: ev.N() == 1 && s.w.rnd.IntN(3) == 0}
	a := activity.Activity{Scope: "chat", Actor: actorOf(in.version), Event: ev, Name: strconv.FormatInt(in.version, 10)}
	record := s.stores[c.id].Record
	if in.tx {
		record = func(ctx context.Context, a activity.Activity) (event.Outcome, error) { return s.recordItems(ctx, c, a) }
	}
	return &call{caller: c, key: ev.String(), in: in, do: func(ctx context.Context) any {
		out, err := record(ctx, a)
		if conflict, ok := errors.AsType[*activity.ConflictError](err); ok {
			return different{versionOf(conflict.Stored[0])}
		}
		return outcomeOf(out, err)
	}}
}

func outcomeOf(out event.Outcome, err error) any {
	switch {
	case errors.Is(err, event.ErrTooOld):
		return tooOld{}
	case errors.Is(err, activity.ErrRetracted):
		return withdrawn{}
	case errors.Is(err, activity.ErrNotFound):
		return notFound{}
	case err != nil:
		return nil
	case out == event.Created:
		return created{}
	}
	return duplicate{}
}

func versionOf(a activity.Activity) int64 {
	version, err := strconv.ParseInt(a.Name, 10, 64)
	if err != nil {
		return -1 // not a version
	}
	return version
}

func (s *activityStory) retract(c *caller, ev event.Event) *call {
	tombstone := s.w.rnd.IntN(2) == 0
	return &call{caller: c, key: ev.String(), in: retracts{tombstone}, do: func(ctx context.Context) any {
		return outcomeOf(s.stores[c.id].Retract(ctx, activity.Retract{Scope: "chat", Event: ev, Tombstone: tombstone}))
	}}
}

func (s *activityStory) read(c *caller, ev event.Event) *call {
	return &call{caller: c, key: ev.String(), in: ofEvent{}, do: func(ctx context.Context) any {
		all, err := s.stores[c.id].OfEvent(ctx, "chat", ev)
		switch {
		case err != nil:
			return nil
		case len(all) == 0:
			return absent{}
		}
		return standing{versionOf(all[0])}
	}}
}

func (s *activityStory) end() []*call {
	var calls []*call
	for _, ev := range s.events {
		calls = append(calls, s.read(s.w.callers[0], ev))
	}
	return calls
}
