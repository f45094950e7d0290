package limit

import (
	"io"
	"sync"
	"time"
)

const (
	mostKeys = 10_000 // that are remembered
	dense    = 8      // calls between two requests
)

// memory is what the process knows of the keys that it asked about last.
type memory struct {
	random io.Reader

	mu    sync.Mutex // guards all below, and is never held during a request
	slots map[string]*slot
}

// slot is what is known of a key, and of its limits in the order of their names.
type slot struct {
	limits []known
	at     int64 // the clock of the last request that ended

	spared int   // calls that were refused without a request since then
	pause  int64 // how much later than room comes back the next request is sent, and alone
}

// known is what is known of a limit.
type known struct {
	t      int64 // by the last reply; it only rises, except that it falls by what is given back
	shadow int64 // what requests under way take
	busy   bool  // when it had to be guessed last
}

// slotOf returns the slot of the key and its limits. If there are too many, it forgets
// all: each key costs one request more, and none is granted more.
func (m *memory) slotOf(c *call) *slot {
	id := c.row
	for _, l := range c.Limits {
		id = l.Name + " " + id // before the row, which may have spaces
	}

	s := m.slots[id]
	if s == nil {
		if len(m.slots) >= mostKeys {
			m.slots = map[string]*slot{}
		}
		s = &slot{limits: make([]known, len(c.Limits))}
		m.slots[id] = s
	}

	return s
}

// enter lets a take send its request, or refuses it for a time.
func (m *memory) enter(c *call) (retry int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.slotOf(c)
	c.slot, c.began, c.times = s, c.now, nil

	for i, k := range s.limits {
		t := s.believed(c, i)
		c.times = append(c.times, max(t, c.now)+k.shadow)
		retry = max(retry, c.late(i, c.times[i]))
		if wait := c.room(i, t) - s.at; wait > 0 {
			retry = max(retry, s.at+min(wait+s.pause, int64(denyFor))-c.now)
		}
		if s.pause > 0 && k.shadow > 0 && c.Wait == 0 && c.now-s.at < 2*int64(denyFor) { // one request asks for all
			retry = max(retry, min(c.spans[i].unit, int64(denyFor)))
		}
	}

	if retry > 0 {
		s.spared++
		return retry
	}

	for i, of := range c.spans {
		if s.limits[i].busy {
			c.times[i] = max(c.times[i], c.now+1)
		}
		s.limits[i].shadow += of.add
	}
	return 0
}

// believed is the ith limit's time, or 0 if it was heard too long ago, or if the row's
// next take replaces it.
func (s *slot) believed(c *call, i int) int64 {
	if t := s.limits[i].t; time.Duration(c.now-s.at).Abs() < denyFor && !c.absurd(i, t) {
		return t
	}
	return 0
}

// leave ends the request, with the row's times if there was a reply. Without one, the
// take may have had its effect, and is remembered.
func (m *memory) leave(c *call, times []int64, denied bool) {
	m.mu.Lock()
	defer m.mu.Unlock()

	s, others := c.slot, false
	for i, of := range c.spans {
		k := &s.limits[i]
		k.shadow -= of.add
		if times == nil {
			k.t = max(s.believed(c, i), c.now) + of.add
			continue
		}
		if k.t <= c.began && !denied {
			k.busy = c.times[i] > c.now
		}
		others = others || times[i] > k.t
		k.t = times[i]
	}

	// The row refused this call because other processes have taken. If all of them asked
	// when room comes back, all but one would be refused. Where calls are few, a pause
	// would only lose turns.
	if s.pause = 0; denied && others && s.spared >= dense {
		var b [1]byte
		_, _ = io.ReadFull(m.random, b[:]) // without randomness the pause is short
		s.pause = (int64(b[0]) + 1) * int64(denyFor) / 256
	}
	s.at, s.spared = c.now, 0
}

// learn takes what a reply to something else than a take says.
func (m *memory) learn(c *call, times []int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.slotOf(c)
	for i, t := range times {
		s.limits[i].t = t
	}
	s.at = c.now
}
