package post

import (
	"errors"
	"fmt"
	"maps"
	"time"
)

// These say for how long something is left aside.
const (
	factAside  = 24 * time.Hour   // finding it again among others takes some posts
	tableAside = 10 * time.Minute // reading its facts again costs
)

// asides are facts or tables that are left aside, each until a time.
type asides map[string]aside

type aside struct {
	until time.Time
	err   error
}

// errManyAside says that too many facts are left aside to remember them.
var errManyAside = errors.New("post: too many facts are left aside")

// over drops what is to be tried again.
func (a asides) over(now time.Time) {
	maps.DeleteFunc(a, func(_ string, one aside) bool { return !now.Before(one.until) })
}

// isShut reports whether a table is left aside, and adds it to left.
func (p *Poster) isShut(table string, left *LeftError) bool {
	p.shut.over(p.Clock.Now())
	err := p.shut[table].err
	if err != nil {
		left.Tables, left.Err = append(left.Tables, table), err
	}
	return err != nil
}

func (t *turn) leaveFact(key, table string, err error) {
	if len(t.facts) >= window {
		t.leaveTable(table, fmt.Errorf("%w: %w", errManyAside, err))
		return
	}
	t.facts[key] = aside{t.Clock.Now().Add(factAside), err}
	t.Log.Error("a fact is left aside", "key", key, "error", err, "again", factAside)
}

func (t *turn) leaveTable(table string, err error) {
	if _, shut := t.shut[table]; !shut {
		t.shut[table] = aside{t.Clock.Now().Add(tableAside), err}
		t.Log.Error("a table is left aside", "table", table, "error", err, "again", tableAside)
	}
}
