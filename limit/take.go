package limit

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/check"
	"github.com/homeops/ddbpatterns/internal/ddb"
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
	// It has no default: a Burst of N lets 2·N through in the first Per. It must come
	// back within 366 days and, without Take.Wait, be at least the largest Weight.
	//
	// For at most M in any Per, choose an N and a Burst whose sum is M; what is given back,
	// and what clocks are off, comes on top. For M at once, and never more than M in a
	// span, give Burst M, N 1, and a Per longer than the span. The package comment has a
	// table.
	Burst int64
	// Weight is how much is taken, 1 to 1,000,000,000,000. It has no default: 1
	// counts calls. A Weight above Burst is refused, unless Take.Wait makes up for
	// it.
	Weight int64
}

// Take asks for room below limits. Give all of a key's limits in each Take: a row's
// ttl follows from the limits that its last writer gave.
type Take struct {
	Key string // what is limited: a tenant, a customer, an address
	// Event is the request's identity, if it has one. If it was taken already, fewer
	// than 16 writes of the key ago, in a row that has not expired, the Take takes
	// nothing and is OK (unless the event was settled to nothing) and a Duplicate. While
	// there is no room, it may be refused instead, without a request: so do not make the
	// Take a condition of work that may be done already. The zero Event is a random one,
	// for requests without an identity. If a request has an Idempotency-Key, give
	// ledger.Claim.Event.
	//
	// Caution: never make an event of the time alone. All calls of a millisecond
	// would be one event, and only one of them would count.
	Event  event.Event
	Limits []Limit // 1 to 8, with different names
	// Wait is how long the caller will wait for its turn, at most Config.MaxWait. 0
	// does not wait. The wait ends with the context, too.
	Wait time.Duration
}

// Grant is the answer to a [Take].
type Grant struct {
	// OK reports whether there is room, and the take holds it. It is false after an
	// error, too.
	OK bool
	// Outcome is Created, or Duplicate for an event that was taken already. For a
	// refusal it is zero or, if the event was settled to nothing, Duplicate.
	Outcome event.Outcome
	// Take is what was asked, with the event, and with the limits in the order of
	// their names: for [Store.Settle]. It is zero after an error, and for a Weight that
	// never has room.
	Take Take
	// RetryAfter is how long after a refusal the same take has room, if nobody else
	// takes it. It is 0 if it never has: a Weight is above what Burst and Wait allow,
	// or the event was settled to nothing.
	RetryAfter time.Duration
	// Remaining is how much of each of Take.Limits can now be taken at once, 0 to Burst.
	// It is nil after an error, and may be for a refusal that does not depend on it.
	Remaining []int64

	call  *call // for the header
	times []int64
}

// Take takes room below all limits, or below none. A refusal is an answer, not an
// error: OK is false, and RetryAfter says when there is room. It leaves no trace.
//
// In any span of length d, the takes of a limit that stand are at most
//
//	Burst + d·N/Per + 2·S·N/Per + what was given back in the span
//
// for any number of callers at once, also with lost replies and retries. S is how far
// any clock is off, up to 30 seconds. With Wait, what is given back while takes wait
// comes on top, too: new takes may get the turns of those that wait.
//
// A refusal that follows from what the store heard last is given without a request. It
// is what the row would say, except that:
//
//   - What another process gave back in the last second is not known.
//   - A call under way counts as a take. So does, for a second, a call that ended in an
//     error: the package comment says what an outage lets through.
//   - If other processes take, too, and calls are many, the next request after a refusal
//     by the row is sent a random time after room comes back, within a second of the
//     refusal, and alone. Until its reply, for two seconds at most, the process refuses
//     other takes that do not wait, with a nil Remaining.
//   - An event that was taken already may be refused. After RetryAfter it is a Duplicate.
//
// With Take.Wait, a take whose turn comes in time holds its room, and sleeps until its
// turn. If the turn comes after Wait or the end of the context, the take is refused at
// once. A Duplicate sleeps at least until the turn of its take, or is refused likewise.
// If the context ends while Take sleeps, Take returns the context's error. If Take.Event
// is zero and the row still has the take, Take gives the room back, within Config.Timeout.
// With an event, the room stays, for a redelivery, and comes back with time.
//
// Errors: an [*event.InputError]; [ErrContended]; the context's and the API's error,
// also if DynamoDB throttles or Config.Timeout is over. After an error the take may hold
// its room, as if it had been granted: it comes back with time.
//
// Price: 1 request, 1 WCU. A refusal by the row costs the same, and a refusal from
// memory nothing. If several processes take from one key, some takes need more requests,
// at most 4 in all. Two limits and a key of 11 bytes fit in the first KB. If a wait
// without an Event is cancelled, it costs 1 request and 1 WCU more.
func (s *Store) Take(ctx context.Context, t Take) (Grant, error) {
	c, err := s.check(t)
	if err != nil || !c.fits() {
		return Grant{}, err
	}

	if end, ok := ctx.Deadline(); ok {
		c.Wait = min(c.Wait, max(0, end.Sub(s.cfg.Now())))
	}

	if err := ctx.Err(); err != nil { // nothing is sent, so the memory hears of nothing
		return Grant{}, ddb.Wrap(pkg, "Take", s.table, err)
	}

	g, err := s.take(ctx, c)
	if err != nil || !g.OK {
		return g, ddb.Wrap(pkg, "Take", s.table, err)
	}

	wait := g.turn()
	if late := wait - c.Wait; late > 0 && g.Outcome == event.Duplicate {
		g.OK, g.Outcome, g.RetryAfter = false, 0, late
		return g, nil
	}

	select {
	case <-time.After(min(c.Wait, wait) - s.cfg.Now().Sub(time.Unix(0, c.now))): // since the request
		return g, nil
	case <-ctx.Done():
	}

	if t.Event.IsZero() { // otherwise a redelivery finds the event taken, and its turn
		nothing := map[string]int64{}
		for _, l := range t.Limits {
			nothing[l.Name] = 0
		}
		_, _ = s.Settle(context.WithoutCancel(ctx), g.Take, nothing) // within Config.Timeout
	}
	return Grant{}, ddb.Wrap(pkg, "Take", s.table, context.Cause(ctx))
}

// turn is how long after the answer the turn of what was taken comes.
func (g Grant) turn() (wait time.Duration) {
	for i, of := range g.call.spans {
		if !g.call.absurd(i, g.times[i]) {
			wait = max(wait, time.Duration(g.times[i]-of.burst-g.call.now))
		}
	}
	return wait
}

// take refuses the take by what the memory knows, or sends it in one form after the
// other, until one is right.
func (s *Store) take(ctx context.Context, c *call) (g Grant, err error) {
	ctx, cancel := context.WithTimeout(ctx, s.cfg.Timeout)
	defer cancel()
	if retry := s.memory.enter(c); retry > 0 {
		if g = c.grant(c.times); g.OK { // there is room, but not yet for this process
			g.Remaining = nil
		}
		g.OK, g.RetryAfter = false, time.Duration(retry)
		return g, nil
	}

	var after []int64 // of the row, nil without a reply
	denied, own, full, again := false, c.Event.IsZero(), false, false
	defer func() { s.memory.leave(c, after, denied) }()

	if own {
		var text [12]byte
		if _, err = io.ReadFull(s.cfg.Rand, text[:]); err == nil {
			c.Event, err = event.New(time.Unix(0, c.now), pkg, string(text[:]))
		}
		if err != nil {
			return g, err
		}
	}

	c.event, c.entry = c.Event.String(), c.entryWith(taken)
	for range tries {
		row, times, refused, err := s.send(ctx, c)
		if after = times; err != nil {
			return Grant{}, err
		}

		if text := c.entryOf(row); text != "" {
			g = c.grant(times)
			if g.Outcome, g.RetryAfter = event.Created, 0; refused && !own { // a random event is this call's own, also if its reply was lost
				g.Outcome = event.Duplicate
			}
			g.OK = strings.HasPrefix(text, c.event+taken) || strings.Trim(text[len(c.event)+1:], "0,") != ""
			return g, nil
		}

		// If room comes back while the reply is on its way, one more request asks for it.
		// More would chase turns that others take.
		full, again = !c.grant(times).OK, full // by the clock of the request
		c.now = s.cfg.Now().UnixNano()         // each request takes the clock anew
		if g = c.grant(times); full && again || !g.OK {
			denied = true
			g.OK, g.RetryAfter = false, max(g.RetryAfter, 1)
			return g, nil
		}

		c.times = times
	}

	return Grant{}, ErrContended
}

// SetHeader sets RateLimit-Policy and RateLimit, as draft-ietf-httpapi-ratelimit-headers-11
// has them, and Retry-After of a refusal. Each limit has q (N), w (Per, if it is whole
// seconds), r (Remaining) and, if the same take has no room now, t: the seconds until it
// has. If Remaining is nil, SetHeader sets neither RateLimit header. If RetryAfter is 0,
// it does not set Retry-After.
func (g Grant) SetHeader(h http.Header) {
	var policies, states []string
	for i, left := range g.Remaining {
		l := g.Take.Limits[i]
		policy, state := fmt.Sprintf("%q;q=%d", l.Name, l.N), fmt.Sprintf("%q;r=%d", l.Name, left)
		if l.Per%time.Second == 0 {
			policy += fmt.Sprintf(";w=%d", l.Per/time.Second)
		}
		if t := g.call.late(i, g.times[i]); t > 0 {
			state += fmt.Sprintf(";t=%d", ceil(t, 1e9))
		}
		policies, states = append(policies, policy), append(states, state)
	}

	if len(states) > 0 {
		h.Set("RateLimit-Policy", strings.Join(policies, ", "))
		h.Set("RateLimit", strings.Join(states, ", "))
	}

	if g.RetryAfter > 0 {
		h.Set("Retry-After", strconv.FormatInt(ceil(int64(g.RetryAfter), 1e9), 10))
	}
}

// call is a take that was checked, and its write: to take, or to settle.
type call struct {
	Take
	row     string // the partition key
	now     int64
	spans   []spans // of the limits
	longest int64   // the longest burst

	times []int64 // of the limits, as far as is known
	taken string  // the entry that must be in the register, "" if none must
	event string  // no entry may begin with it
	entry string  // is pushed into the register

	slot  *slot // of a request under way
	began int64
}

// spans are how long parts of a limit take to come back, in nanoseconds: a unit, what
// the call adds to the limit's time, and the burst. No writer of today sets a time
// further ahead than most.
type spans struct{ unit, add, burst, most int64 }

// check checks a take, and returns it as a call with the spans of its limits, which
// are in the order of their names. With an error, the call is of no use.
func (s *Store) check(t Take) (*call, error) {
	now := s.cfg.Now()
	c := &call{Take: t, row: check.Join(typeLimit, t.Key), now: now.UnixNano()}
	err := cmp.Or(check.ID(pkg, "Take.Key", t.Key), check.PartitionKey(pkg, "Take.Key", c.row),
		check.Refuse(pkg, "Take.Limits", len(t.Limits) < 1 || len(t.Limits) > 8, "must be 1 to 8 limits"),
		check.Refuse(pkg, "Take.Wait", t.Wait < 0 || t.Wait > s.cfg.MaxWait, "must be between 0 and Config.MaxWait"))
	if err == nil && !t.Event.IsZero() {
		err = t.Event.Check(pkg, "Take.Event", now)
	}

	c.Limits = slices.SortedFunc(slices.Values(t.Limits), func(a, b Limit) int { return cmp.Compare(a.Name, b.Name) })
	for i, l := range c.Limits {
		// cmp.Or evaluates all its arguments, also for an invalid limit: max keeps divisors
		// at 1 or above, and the index of the limit before this one at 0 or above.
		unit := max(1, ceil(int64(l.Per), max(1, l.N)))
		err = cmp.Or(err,
			check.Refuse(pkg, "Limit.Name", len(l.Name) < 1 || len(l.Name) > 16 || strings.Trim(l.Name, "abcdefghijklmnopqrstuvwxyz0123456789_") != "", "must be 1 to 16 of a–z, 0–9 and _"),
			check.Refuse(pkg, "Take.Limits", i > 0 && l.Name == c.Limits[max(i, 1)-1].Name, "must not have two limits with the same name"),
			check.Refuse(pkg, "Limit.N", l.N < 1, "must be at least 1"),
			check.Refuse(pkg, "Limit.Per", l.Per > mostSpan || int64(l.Per)/max(1, l.N) < int64(leastUnit), "must be at least a microsecond for each of N, and at most 366 days"),
			check.Refuse(pkg, "Limit.Burst", l.Burst < 1 || l.Burst > int64(mostSpan)/unit, "must be at least 1, and come back within 366 days"),
			check.Refuse(pkg, "Limit.Weight", l.Weight < 1 || l.Weight > mostWeight, "must be 1 to 1,000,000,000,000; 1 counts calls"))

		burst := l.Burst * unit
		c.spans = append(c.spans, spans{unit: unit, add: span(l.Weight, unit), burst: burst, most: burst + int64(s.cfg.MaxWait+maxSkew)})
		c.longest = max(c.longest, burst)
	}

	return c, err
}

// span is how long the units take to come back, capped at more than any take or debt.
func span(units, unit int64) int64 {
	most := 2 * int64(mostSpan) / unit
	return min(max(units, -most), most) * unit
}

func ceil(a, b int64) int64 { return (a + b - 1) / b }

// fits reports whether the take could ever be granted.
func (c *call) fits() bool {
	return !slices.ContainsFunc(c.spans, func(of spans) bool { return of.add > of.burst+int64(c.Wait) })
}

// entryWith is what the register keeps of the call: its event and its weights.
func (c *call) entryWith(mark string) string {
	var weights []string
	for _, l := range c.Limits {
		weights = append(weights, strconv.FormatInt(l.Weight, 10))
	}
	return c.Event.String() + mark + strings.Join(weights, ",")
}

// absurd reports whether no writer of today can have set the ith limit's time.
func (c *call) absurd(i int, t int64) bool { return t > c.now+c.spans[i].most }

// room is when the take has room in the ith limit, whose time is t and past all others.
func (c *call) room(i int, t int64) int64 {
	return t + c.spans[i].add - c.spans[i].burst - int64(c.Wait)
}

// late is how long the take must wait for the ith limit if its time is t.
func (c *call) late(i int, t int64) int64 { return c.room(i, max(t, c.now)) - c.now }

// grant answers by the times of a row, as they are before the take.
func (c *call) grant(times []int64) Grant {
	g := Grant{Take: c.Take, call: c, times: times}
	for i, of := range c.spans {
		left := c.Limits[i].Burst
		if !c.absurd(i, times[i]) { // else the next take replaces it
			left = min(left, max(0, c.now+of.burst-times[i])/of.unit)
			g.RetryAfter = max(g.RetryAfter, time.Duration(c.late(i, times[i])))
		}
		g.Remaining = append(g.Remaining, left)
	}
	g.OK = g.RetryAfter == 0
	return g
}
