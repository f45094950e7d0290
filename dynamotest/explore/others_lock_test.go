package explore_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/dynamotest/explore"
)

// The Amazon DynamoDB Lock Client (Java) 1.4.0 of 11 June 2026, and its port dynamolock
// v5.0.0 (Go) of 20 August 2026: README and source of acquiring, heartbeat and release.

const (
	leaseLasts = 20 * time.Second
	refreshes  = 21 * time.Second // the period of the client's looks at a lock that is held
	mayWait    = time.Second      // in addition to the lease
	heartbeat  = 9 * time.Second
)

var errNotGranted = errors.New("the lock is not granted")

// held is a lock as a client knows it.
type held struct {
	owner, version string
	since          time.Time // by the client's clock
	released       bool
}

func (l *held) expired(p *explore.Process) bool {
	return l.released || p.Now().Sub(l.since) > leaseLasts
}

// newVersion makes a record version number. The client's are longer.
func newVersion(p *explore.Process) string {
	var b [2]byte
	_, _ = io.ReadFull(p.Rand(), b[:])
	return fmt.Sprintf("%x", b)
}

// acquire waits for the lock: one that another holds is free when its version has not
// changed for the duration of a lease, by the own clock.
func acquire(ctx context.Context, p *explore.Process, owner string) (*held, error) {
	began := p.Now()
	var watched *held
	for ; ; time.Sleep(refreshes) {
		stands, err := get(ctx, p, "lock", true)
		if err != nil {
			return nil, err
		}
		seen := &held{version: text(stands["recordVersionNumber"]), since: p.Now()}
		condition, values := "attribute_not_exists(pk) OR (attribute_exists(pk) AND isReleased = :yes)", attrs(":yes", "1")
		switch free := stands == nil || stands["isReleased"] != nil; {
		case free:
		case watched == nil || watched.version != seen.version:
			watched = seen
			condition = ""
		case watched.expired(p):
			condition, values = "attribute_exists(pk) AND recordVersionNumber = :version", attrs(":version", seen.version)
		default:
			condition = ""
		}
		if condition != "" {
			mine := &held{owner: owner, version: newVersion(p), since: p.Now()}
			_, err = putIf(ctx, p, attrs("pk", "lock", "ownerName", owner, "leaseDuration", leaseLasts.String(), "recordVersionNumber", mine.version), condition, values)
			if err == nil {
				return mine, nil
			}
			if refused := new(types.ConditionalCheckFailedException); !errors.As(err, &refused) {
				return nil, err
			}
		}
		if p.Now().Sub(began) > leaseLasts+mayWait {
			return nil, errNotGranted
		}
	}
}

// beat says that the lock is still held.
func (l *held) beat(ctx context.Context, p *explore.Process) error {
	if l.expired(p) {
		return errNotGranted
	}
	next, since := newVersion(p), p.Now()
	_, err := update(ctx, p, "lock", "SET leaseDuration = :lease, recordVersionNumber = :next", "attribute_exists(pk) AND recordVersionNumber = :version AND ownerName = :owner",
		attrs(":lease", leaseLasts.String(), ":next", next, ":version", l.version, ":owner", l.owner))
	if err == nil {
		l.version, l.since = next, since
	}
	return err
}

// release frees the lock.
func (l *held) release(ctx context.Context, p *explore.Process) error {
	l.released = true
	_, err := update(ctx, p, "lock", "SET isReleased = :yes", "attribute_exists(pk) AND recordVersionNumber = :version AND ownerName = :owner",
		attrs(":yes", "1", ":version", l.version, ":owner", l.owner))
	return err
}

// campaign declares a client that works under the lock, sends a heartbeat, and works
// once more. Notes have the true time, for the judge.
func campaign(s *explore.Schedule, name string, work func(*explore.Process, func() error) error) {
	s.Caller(name, func(ctx context.Context, p *explore.Process) {
		owner := fmt.Sprint(name, p.Life)
		off := time.Until(p.Now())
		note := func(what string, until time.Time) {
			p.Note("%s %s %d %d", what, owner, time.Now().UnixMilli(), until.Add(-off).UnixMilli())
		}
		lock, err := acquire(ctx, p, owner)
		for round := range 2 {
			if err == nil && round > 0 {
				time.Sleep(heartbeat)
				err = lock.beat(ctx, p)
			}
			if err != nil || lock.expired(p) {
				break
			}
			note("holds", lock.since.Add(leaseLasts))
			_ = work(p, func() error { note("works", p.Now().Add(time.Second)); return nil })
		}
		if note("leaves", time.Time{}); err == nil {
			_ = lock.release(ctx, p)
		}
	})
}

// never judges the notes: nobody holds the lock, or works, while another takes the lock
// for his.
func never(did string) func(*explore.View) error {
	return func(v *explore.View) error {
		until := map[string]int64{}
		for _, note := range v.Notes() {
			var name, what, owner string
			var at, lasts int64
			if _, err := fmt.Sscan(note, &name, &what, &owner, &at, &lasts); err != nil {
				return err
			}
			for _, other := range slices.Sorted(maps.Keys(until)) {
				if what == did && other != owner && until[other] > at && lasts > at {
					return fmt.Errorf("%s %s while %s takes the lock for his", owner, did, other)
				}
			}
			if what != "works" {
				until[owner] = lasts
			}
		}
		return nil
	}
}

func TestOthersLocks(t *testing.T) {
	t.Parallel()
	idle := func(*explore.Process, func() error) error { return nil }
	busy := func(p *explore.Process, f func() error) error { return p.Do("work", f) }
	two := func(work func(*explore.Process, func() error) error, check func(*explore.View) error) func(*explore.Schedule) {
		return func(s *explore.Schedule) {
			campaign(s, "ann", work)
			campaign(s, "bob", work)
			s.Always(check)
		}
	}
	judge(t, claim{
		says:    "machines that disagree about the time do not take each other's locks",
		cfg:     explore.Config{Faults: explore.Faults{Clocks: 1, ClockOff: time.Hour, Late: 1, Unheard: 1, Deaths: 1, Total: 2}},
		long:    true,
		program: two(idle, never("holds")),
	}, claim{
		says:    "a client that stands still does not take the other's lock",
		cfg:     explore.Config{Faults: explore.Faults{Clocks: 1, ClockOff: time.Hour}, Moves: 1, Moments: []time.Duration{leaseLasts}},
		long:    true,
		program: two(idle, never("holds")),
	}, claim{
		says:    "two machines do not work at the same time",
		cfg:     explore.Config{Moves: 1, Moments: []time.Duration{leaseLasts}},
		program: two(busy, never("works")),
		but:     "bob1 works while ann1", after: "ann,bob,bob,bob,ann,wait,ann,ann,ann,bob",
	}, claim{
		says: "a lock does not expire while its holder sends heartbeats",
		cfg:  explore.Config{Faults: explore.Faults{Unheard: 1}},
		program: func(s *explore.Schedule) {
			campaign(s, "ann", idle)
			s.End(func(v *explore.View) error {
				if text(v.Items("counts")[0]["isReleased"]) == "" {
					return errors.New("ann is alone, and lost the lock")
				}
				return nil
			})
		},
		but: "ann is alone", after: "ann,ann,wait,ann:unheard,ann,end",
	})
}
