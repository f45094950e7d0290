package limit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/check"
	"github.com/homeops/ddbpatterns/internal/ddb"
	"github.com/homeops/ddbpatterns/internal/item"
	"github.com/homeops/ddbpatterns/internal/key"
)

// Limit is how much of something a key may use, and how much of it a [Take] takes.
// Each unit comes back after Per/N, up to Burst units.
type Limit struct {
	// Name names the limit in the row and in the header: 1 to 16 of a–z, 0–9 and _.
	Name string
	// N is how many units come back in Per: at least 1, and at most one for each
	// microsecond.
	N   int64
	Per time.Duration
	// Burst is how many units can be taken at once after a time of rest, at least 1.
	// It has no default: a Burst of N lets 2·N through in the first Per. They must
	// come back within 366 days.
	Burst int64
	// Weight is how much is taken, 1 to 1,000,000,000,000. It has no default: 1
	// counts calls. A Weight above Burst is refused, unless Take.Wait makes up for
	// it.
	Weight int64
}

// Take asks for room below limits. Give all of a key's limits in each Take: a row
// lives as long as the limits that its last writer gave.
type Take struct {
	Key string // what is limited: a tenant, a customer, an address
	// Event is the request's identity, if it has one: a Take of an event that was
	// taken already, at most 16 writes of the key ago, takes nothing and is OK. The
	// zero Event is a random one of this call, for requests without an identity.
	//
	// Caution: never make an event of the time alone. All calls of a millisecond
	// would be one event, and only one of them would count.
	Event  event.Event
	Limits []Limit // 1 to 8, each with another name
	// Wait is how long the caller will wait for its turn, at most Config.MaxWait. A
	// Take that needs no longer is OK now, and its turn is [Grant].At. 0 does not
	// wait.
	Wait time.Duration
}

// Grant is the answer to a [Take].
type Grant struct {
	// OK reports whether there is room, and the take holds it. It is false after an
	// error, too.
	OK bool
	// Outcome is Created, or Duplicate of an event that was taken already. Of a
	// refusal it is zero, unless the event was settled to nothing: then it is
	// Duplicate.
	Outcome event.Outcome
	// Take is what was asked, with the event, and with the limits in the order of
	// their names: for [Store.Settle].
	Take Take
	// At is when the caller's turn is: now, unless Take.Wait reserved a later one. Of
	// a Duplicate it may be later than the turn was, never earlier.
	At time.Time
	// RetryAfter is how long after a refusal the same take has room, if nobody else
	// takes it. It is 0 if it never has, because a Weight is above Burst.
	RetryAfter time.Duration
	// Remaining is how much of each of Take.Limits can be taken at once, 0 to Burst.
	// It is nil if the answer does not depend on it.
	Remaining []int64

	asked *asked // for the header
	times []int64
}

// tries is how many requests a call sends at most, before it is ErrContended.
const tries = 4

// Take takes room below all limits, or below none. A refusal is an answer, not an
// error: OK is false, and RetryAfter says when there is room. It leaves no trace.
//
// In any span of length d, the takes of a limit that stand are at most
//
//	Burst + d·N/Per + 2·S·N/Per + what was given back in the span
//
// for any number of callers at once, lost replies and retries. S is how far any
// clock is off.
//
// A refusal that follows from what the store heard last is given without a request.
// It is exact: only a Settle by another process could have made room, and after
// Config.DenyFor the row is asked again. An event that was taken already may be refused
// in this way, too; when it comes again after RetryAfter, it is a Duplicate. After a refusal by the row, because other
// processes take, too, the next request waits a random time of up to 31 intervals,
// and at most 5 seconds.
//
// Errors: an [*event.InputError]; [ErrContended]; the API's error, also if DynamoDB
// throttles or Config.Timeout is over. After an error the take may hold its room, as
// if it had been granted: it comes back with time.
//
// Price: 1 request, 1 WCU. A refusal from memory: none. If several processes take
// from one key, some takes need a second request, and 4 at most. Up to two limits and a
// key of 11 bytes fit in the first KB. A refusal by the row costs the same.
func (s *Store) Take(ctx context.Context, t Take) (Grant, error) {
	g, err := s.enter(ctx, t)
	return g, s.wrap("Take", err)
}

// enter refuses the take by what the memory knows, or sends it.
func (s *Store) enter(ctx context.Context, t Take) (Grant, error) {
	w, err := s.asked(t)
	if err != nil || !w.fits() {
		return Grant{}, err
	}
	seat, retry, other := s.memory.enter(w)
	ctx, cancel := context.WithTimeout(ctx, s.cfg.Timeout)
	defer cancel()
	for other != nil { // before the first reply about a key, takes go one at a time
		select {
		case <-ctx.Done():
			return Grant{}, ctx.Err()
		case <-other:
		}
		w.now = s.cfg.Now().UnixNano()
		seat, retry, other = s.memory.enter(w)
	}
	if retry > 0 {
		return w.grant(seat.times, retry), nil
	}
	return s.take(ctx, w, seat)
}

// take sends the take in one form after the other, until one is right.
func (s *Store) take(ctx context.Context, a *asked, seat *seat) (Grant, error) {
	var after []int64 // of the row, nil without a reply
	denied := false
	defer func() { seat.leave(a.now, after, denied) }()
	if err := s.identify(a); err != nil {
		return Grant{}, err
	}
	w := write{asked: a, event: a.Event.String(), entry: a.entry(taken, nil)}
	for range tries {
		w.adds, w.rooms = nil, nil
		for _, of := range a.spans {
			w.adds, w.rooms = append(w.adds, of.take), append(w.rooms, a.now+of.burst+int64(a.Wait)-of.take)
		}
		row, times, refused, err := s.send(ctx, w, seat.times)
		if after = times; err != nil {
			return Grant{}, err
		}
		if text, weights := entryOf(row, a.Event); text != "" {
			g := a.grant(times, 0)
			g.Outcome = event.Created
			if refused && !a.own { // a random event is this call's own, also if its reply was lost
				g.Outcome = event.Duplicate
			}
			if !strings.HasPrefix(text, w.event+taken) && strings.Trim(weights, "0,") == "" {
				g.OK, g.At = false, time.Time{}
			}
			return g, nil
		}
		a.now = s.cfg.Now().UnixNano() // each request takes the clock anew
		if retry := s.judge(a, times); retry > 0 {
			denied = true
			return a.grant(times, retry), nil
		}
		seat.times = times
	}
	return Grant{}, ErrContended
}

// asked is a take that was checked.
type asked struct {
	Take
	row   string // the partition key
	own   bool   // the event is a random one of this call
	now   int64
	spans []spans // of the limits
}

// spans are how long parts of a limit take to come back, in nanoseconds.
type spans struct{ unit, take, burst int64 }

// asked checks a take.
func (s *Store) asked(t Take) (*asked, error) {
	now := s.cfg.Now()
	w := &asked{Take: t, row: key.Join(typeLimit, t.Key), own: t.Event.IsZero(), now: now.UnixNano()}
	err := cmp.Or(check.ID(pkg, "Take.Key", t.Key), check.PartitionKey(pkg, "Take.Key", w.row), w.measure())
	if err == nil && (t.Wait < 0 || t.Wait > s.cfg.MaxWait) {
		err = event.BadInput(pkg, "Take.Wait", fmt.Sprintf("must be between 0 and Config.MaxWait, %v", s.cfg.MaxWait))
	}
	if err == nil && !w.own {
		err = t.Event.Check(pkg, "Take.Event", now)
	}
	return w, err
}

// measure checks the limits, and sorts them by name.
func (w *asked) measure() error {
	if len(w.Limits) < 1 || len(w.Limits) > mostLimits {
		return event.BadInput(pkg, "Take.Limits", fmt.Sprintf("must be 1 to %d", mostLimits))
	}
	w.Limits = slices.SortedFunc(slices.Values(w.Limits), func(a, b Limit) int { return cmp.Compare(a.Name, b.Name) })
	for i, l := range w.Limits {
		switch {
		case len(l.Name) < 1 || len(l.Name) > 16 || strings.Trim(l.Name, "abcdefghijklmnopqrstuvwxyz0123456789_") != "":
			return event.BadInput(pkg, "Limit.Name", "must be 1 to 16 of a–z, 0–9 and _")
		case i > 0 && l.Name == w.Limits[i-1].Name:
			return event.BadInput(pkg, "Take.Limits", "must not have two limits with the name "+l.Name)
		case l.N < 1:
			return event.BadInput(pkg, "Limit.N", "must be at least 1")
		case l.Per > mostSpan || int64(l.Per)/l.N < int64(leastUnit):
			return event.BadInput(pkg, "Limit.Per", "must be at least a microsecond for each of N, and at most 366 days")
		case l.Burst < 1 || l.Burst > int64(mostSpan)/ceil(int64(l.Per), l.N):
			return event.BadInput(pkg, "Limit.Burst", "must be at least 1, and come back within 366 days")
		case l.Weight < 1 || l.Weight > mostWeight:
			return event.BadInput(pkg, "Limit.Weight", "must be 1 to 1,000,000,000,000; 1 counts calls")
		}
		unit := ceil(int64(l.Per), l.N)
		w.spans = append(w.spans, spans{unit, span(l.Weight, unit), l.Burst * unit})
	}
	return nil
}

// span is how long the units take to come back, capped at more than any take or debt.
func span(units, unit int64) int64 {
	most := 2 * int64(mostSpan) / unit
	return min(max(units, -most), most) * unit
}

func ceil(a, b int64) int64 { return (a + b - 1) / b }

// fits reports whether the take could ever be granted.
func (w *asked) fits() bool {
	return !slices.ContainsFunc(w.spans, func(of spans) bool { return of.take > of.burst+int64(w.Wait) })
}

// identify gives a take without an event a random one.
func (s *Store) identify(w *asked) (err error) {
	var text [12]byte
	if !w.own {
		return nil
	}
	if _, err = io.ReadFull(s.cfg.Rand, text[:]); err != nil {
		return fmt.Errorf("no randomness for an event: %w", err)
	}
	w.Event, err = event.New(time.Unix(0, w.now), pkg, string(text[:]))
	return err
}

// entry is what the register keeps of the take, with its weights or those to which it
// is settled.
func (w *asked) entry(mark string, to map[string]int64) string {
	text := w.Event.String() + mark
	for i, l := range w.Limits {
		weight, given := to[l.Name]
		if !given {
			weight = l.Weight
		}
		if i > 0 {
			text += ","
		}
		text += strconv.FormatInt(weight, 10)
	}
	return text
}

func (w *asked) key() ddb.Item { return ddb.Item{attrPK: item.S(w.row), attrSK: item.S(sortKey)} }

// judge returns how long the take must wait by the times of a row.
func (s *Store) judge(w *asked, times []int64) (retry int64) {
	for i, t := range times {
		if !s.absurd(w, i, t) {
			retry = max(retry, w.late(i, t))
		}
	}
	return retry
}

// late is how long the take must wait for the ith limit if its time is t.
func (w *asked) late(i int, t int64) int64 {
	return max(t, w.now) + w.spans[i].take - w.spans[i].burst - int64(w.Wait) - w.now
}

// grant answers with the times of the row: yes, or no with a retry.
func (w *asked) grant(times []int64, retry int64) Grant {
	g := Grant{OK: retry == 0, Take: w.Take, RetryAfter: time.Duration(retry), asked: w, times: times}
	at := w.now
	for i, of := range w.spans {
		at = max(at, times[i]-of.burst)
		g.Remaining = append(g.Remaining, min(w.Limits[i].Burst, max(0, w.now+of.burst-times[i])/of.unit))
	}
	if g.OK {
		g.At = time.Unix(0, at).UTC()
	}
	return g
}

// wrap names the method and the table in errors that are not bad input.
func (s *Store) wrap(op string, err error) error {
	if _, bad := errors.AsType[*event.InputError](err); bad {
		return err
	}
	return ddb.Wrap(pkg, op, s.table, err)
}
