package post

import (
	"errors"
	"fmt"
	"maps"
	"time"
)

// longestAside is the longest time before something that was left aside is tried
// again.
const longestAside = time.Hour

// asides are facts or tables that are left aside, each until a time.
type asides map[string]aside

type aside struct {
	until time.Time
	pause time.Duration
	err   error
}

// errManyAside says that too many facts are left aside to remember them.
var errManyAside = errors.New("post: too many facts are left aside")

// why says why the key is left aside, and is nil if it is to be tried.
func (a asides) why(key string, now time.Time) error {
	if one, ok := a[key]; ok && now.Before(one.until) {
		return one.err
	}
	return nil
}

// add leaves the key aside, each time for longer, and returns for how long.
func (a asides) add(key string, now time.Time, err error) time.Duration {
	pause := min(max(time.Minute, 4*a[key].pause), longestAside)
	a[key] = aside{until: now.Add(pause), pause: pause, err: err}
	return pause
}

// postpone leaves the key aside a little longer without a try, and returns why it
// was left aside before.
func (a asides) postpone(key string, now time.Time) error {
	one := a[key]
	one.until = now.Add(time.Minute)
	a[key] = one
	return one.err
}

// forget drops keys that were to be tried long ago and were not: they are no longer
// pending, or can start anew.
func (a asides) forget(now time.Time) {
	maps.DeleteFunc(a, func(_ string, one aside) bool { return now.Sub(one.until) > longestAside })
}

// isShut reports whether a table is left aside, and adds it to left.
func (p *Poster) isShut(table string, now time.Time, left *LeftError) bool {
	err := p.shut.why(table, now)
	if err != nil {
		left.Tables, left.Err = append(left.Tables, table), err
	}
	return err != nil
}

func (t *turn) leaveFact(key, table string, err error) {
	if _, known := t.facts[key]; !known && len(t.facts) >= window {
		t.leaveTable(table, fmt.Errorf("%w: %w", errManyAside, err))
		return
	}
	pause := t.facts.add(key, t.Clock.Now(), err)
	t.Log.Error("a fact is left aside", "key", key, "error", err, "again", pause)
}

func (t *turn) leaveTable(table string, err error) {
	if now := t.Clock.Now(); t.shut.why(table, now) == nil {
		pause := t.shut.add(table, now, err)
		t.Log.Error("a table is left aside", "table", table, "error", err, "again", pause)
	}
}
