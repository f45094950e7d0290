package memory

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"strings"
	"time"

	"github.com/homeops/ddbpatterns/activity"
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/check"
	"github.com/homeops/ddbpatterns/schema"
	"github.com/homeops/ddbpatterns/tzclock"
)

// pkg names the package in errors.
const pkg = "memory"

// Memory answers questions from a log of activities. It is safe for concurrent
// use.
type Memory struct {
	acts *activity.Store
	zone tzclock.Zone
}

// New returns a Memory that answers from the log acts. Weeks are local weeks of
// the zone.
func New(acts *activity.Store, zone tzclock.Zone) (*Memory, error) {
	if acts == nil {
		return nil, event.BadInput(pkg, "acts", "must not be nil")
	}
	if err := check.Zone(pkg, "zone", zone); err != nil {
		return nil, err
	}
	return &Memory{acts: acts, zone: zone}, nil
}

// Table returns the definition of the log's table.
func (m *Memory) Table() schema.Table { return m.acts.Table() }

// Actions returns what IAM must grant to a program that only calls the methods
// of a Memory: see [schema.Policy].
func (m *Memory) Actions() schema.Actions {
	of := m.acts.Actions().Calls
	byName := maps.Clone(of["ByName"])
	maps.Copy(byName, of["ByActorAndName"])
	return schema.Actions{Calls: map[string]schema.Grants{
		"LastOf":    of["ByName"],
		"LastBy":    of["ByActorAndName"],
		"CountBy":   byName,
		"ThisWeek":  byName,
		"TallyWeek": of["InScope"],
	}}
}

// LastOf returns the latest activity of a name in a scope, by any actor, and
// whether such an activity exists.
//
// Price: 1 request, 0.5 RCU. This holds for a history of any length, on rows up to 1
// KB. LastOf reads past rows that are not an answer, and pays for each: expired rows
// that are not deleted yet, rows that cannot be read, and rows of an older system whose
// names only look like the given name, as "dish#2" looks like "dish" (until
// [activity.Store.Backfill] completes them).
func (m *Memory) LastOf(ctx context.Context, scope, name string) (activity.Activity, bool, error) {
	return m.first("LastOf", m.acts.ByName(ctx, scope, name, newest))
}

// LastBy returns the actor's latest activity of a name in a scope, and whether
// such an activity exists.
//
// Price: 1 request, 0.5 RCU. This holds for a history of any length, on rows up
// to 1 KB. Rows that are not an answer add to it as in [Memory.LastOf].
func (m *Memory) LastBy(ctx context.Context, scope, actor, name string) (activity.Activity, bool, error) {
	return m.first("LastBy", m.acts.ByActorAndName(ctx, scope, actor, name, newest))
}

var newest = activity.Range{NewestFirst: true, Limit: 1}

func (m *Memory) first(method string, walk iter.Seq2[activity.Activity, error]) (activity.Activity, bool, error) {
	for a, err := range walk {
		return a, err == nil, m.wrap(method, err)
	}
	return activity.Activity{}, false, nil
}

// wrap says which method failed on which table, instead of the log's method,
// which the caller did not call. Bad input needs neither.
func (m *Memory) wrap(method string, err error) error {
	if err == nil {
		return nil
	}
	if bad, ok := errors.AsType[*event.InputError](err); ok {
		return event.BadInput(pkg, bad.Field, bad.Reason)
	}
	if cause := errors.Unwrap(err); cause != nil {
		err = cause
	}
	return fmt.Errorf("%s: %s on table %s: %w", pkg, method, m.acts.Table().Name, err)
}

// CountBy returns how many activities the filter selects: how often something
// was done in a period. The filter must have a Scope and a Name. Without an
// Actor, CountBy counts the activities of all actors. Consistent is bad input,
// because counts by name read an index.
//
// Price: 1 request, 0.5 RCU. Each 4 KB begun of the rows that are read costs
// 0.5 RCU, and each MB takes 1 request. CountBy reads all activities of the
// filter's Name, or of its Name and Actor, inside the period, including those
// that its Match leaves out. Rows that have expired, rows that cannot be read
// and rows of an older system add to the price as they do in
// [activity.Store.Count].
func (m *Memory) CountBy(ctx context.Context, f activity.Filter) (int, error) {
	switch {
	case f.Scope == "" || f.Name == "": // the log counts without them, but something else
		return 0, event.BadInput(pkg, "Filter", "must have a Scope and a Name")
	case f.Consistent:
		return 0, event.BadInput(pkg, "Filter.Consistent", "must be false: counts by name read an index")
	}
	n, err := m.acts.Count(ctx, f)
	return n, m.wrap("CountBy", err)
}

// ThisWeek asks how often something was done in a scope in a local week.
type ThisWeek struct {
	Scope string
	Actor string // "" is everybody
	Name  string

	Of time.Time // any time of the week, such as the time of the question
}

// ThisWeek returns how many activities of the given Name happened in the local
// week, from the start of its Monday to the start of the next Monday.
//
// Price: 1 request, 0.5 RCU. Larger counts cost as in [Memory.CountBy].
func (m *Memory) ThisWeek(ctx context.Context, w ThisWeek) (int, error) {
	switch { // the log would count something else
	case w.Scope == "":
		return 0, event.BadInput(pkg, "Scope", "must not be empty")
	case w.Name == "":
		return 0, event.BadInput(pkg, "Name", "must not be empty")
	}
	from, to, err := m.week(w.Of)
	if err != nil {
		return 0, err
	}
	n, err := m.acts.Count(ctx, activity.Filter{Scope: w.Scope, Actor: w.Actor, Name: w.Name, From: from, To: to})
	return n, m.wrap("ThisWeek", bare(err))
}

// bare names the field of bad input as the caller's struct has it: the log knows
// it as a field of its Filter.
func bare(err error) error {
	if bad, ok := errors.AsType[*event.InputError](err); ok {
		return event.BadInput(pkg, strings.TrimPrefix(bad.Field, "Filter."), bad.Reason)
	}
	return err
}

// week returns the bounds of the local week of a time.
func (m *Memory) week(of time.Time) (from, to time.Time, err error) {
	if of.IsZero() {
		return from, to, event.BadInput(pkg, "Of", "must be set to any time of the week")
	}
	from, to = m.zone.Week(of)
	return from, to, nil
}

// TallyWeek counts all activities of the local week in which a time lies, separately
// for each actor, name and kind: for a weekly summary. The week has the same bounds as
// in [Memory.ThisWeek]. The result is sorted as [activity.Store.Tally] says. TallyWeek
// reads the log's table with eventual consistency, so an activity that was recorded a
// moment ago may be missing. It misses the same rows of an older system as
// [activity.Store.InScope] with bounds.
//
// Price: 1 request, 0.5 RCU. Each 4 KB begun of the scope's rows of that week
// costs 0.5 RCU, and each MB takes 1 request.
func (m *Memory) TallyWeek(ctx context.Context, scope string, of time.Time) ([]activity.Tally, error) {
	if scope == "" { // the log would ask for an actor instead
		return nil, event.BadInput(pkg, "scope", "must not be empty")
	}
	from, to, err := m.week(of)
	if err != nil {
		return nil, check.Positional(err)
	}
	all, err := m.acts.Tally(ctx, activity.Filter{Scope: scope, From: from, To: to})
	return all, m.wrap("TallyWeek", check.Positional(bare(err)))
}
