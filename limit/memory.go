package limit

import (
	"io"
	"sync"
	"time"
)

// The pause after a refusal by the row: other processes take from the key, too, and if
// all of them asked when room comes back, all but one would be refused.
const (
	mostLevel    = 5 // a pause of up to 2^5 - 1 intervals
	longestPause = 5 * time.Second
	dense        = 8      // calls between two requests
	mostKeys     = 10_000 // that are remembered
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
	at     int64 // when the last request ended

	spared int     // calls that were refused without a request since the last one
	level  int     // of the pause
	draw   float64 // the part of the longest pause of the level that is waited
	drawn  int64   // when the level and the draw were last set
}

// known is what is known of a limit.
type known struct {
	t      int64   // by the last reply; it only rises, except that it falls by what is given back
	shadow int64   // what requests under way take
	busy   float64 // how often it was busy lately, when that had to be guessed
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
		if c.absurd(i, k.t) { // the row's next take replaces it
			k.t = 0
		}
		t := s.believed(k, c.now) + k.shadow
		retry = max(retry, s.refuses(c, k, i, t))
		c.times = append(c.times, t)
	}

	if retry > 0 {
		s.spared++
		return retry
	}

	for i, of := range c.spans {
		if s.limits[i].busy > 0.5 {
			c.times[i] = max(c.times[i], c.now+1)
		}
		s.limits[i].shadow += of.add
	}
	return 0
}

// believed is the limit's time, or now if that is past or was heard too long ago.
func (s *slot) believed(k known, now int64) int64 {
	if time.Duration(now-s.at).Abs() >= denyFor {
		return now
	}
	return max(now, k.t)
}

// refuses returns how long the take must wait for room in the ith limit, whose time is
// taken to be t, and for the pause after that.
func (s *slot) refuses(c *call, k known, i int, t int64) int64 {
	if late := c.late(i, t); late > 0 {
		return late
	}
	room := k.t + c.spans[i].add - c.spans[i].burst - int64(c.Wait)
	pause := min(int64(s.draw*float64(int64(1)<<s.level-1)*float64(c.spans[i].add)), int64(longestPause))
	if min(room, s.at+int64(denyFor))+pause <= c.now {
		return 0
	}
	return max(room+pause-c.now, 1)
}

// leave ends the request, with the row's times if there was a reply. Without one, the
// take may have had its effect, and is remembered.
func (m *memory) leave(c *call, times []int64, denied bool) {
	m.mu.Lock()
	defer m.mu.Unlock()

	s := c.slot
	for i, of := range c.spans {
		k := &s.limits[i]
		k.shadow -= of.add
		switch {
		case times == nil:
			k.t = s.believed(*k, c.now) + of.add
			continue
		case k.t <= c.began && c.times[i] > c.now: // it was guessed, and busy is right
			k.busy += (1 - k.busy) / 4
		case k.t <= c.began:
			k.busy -= k.busy / 4
		}
		k.t = times[i]
	}

	s.at = max(s.at, c.now)
	switch {
	case denied && c.began >= s.drawn:
		s.pause(m.random, c.now)
	case times != nil && !denied:
		s.draw = 0 // the level stays: the next refusal by the row comes soon
	}

	s.spared = 0
}

// pause makes the next request wait, if many calls were refused without one: their
// requests would be refused, too. Where calls are few, a pause would only lose turns.
func (s *slot) pause(random io.Reader, now int64) {
	s.drawn, s.draw = now, 0
	if s.spared < dense {
		s.level = max(s.level-1, 0)
		return
	}
	var b [2]byte
	_, _ = io.ReadFull(random, b[:]) // without randomness there is no pause
	s.level, s.draw = min(s.level+1, mostLevel), float64(int(b[0])<<8|int(b[1]))/(1<<16)
}

// learn takes what a reply to something else than a take says.
func (m *memory) learn(c *call, times []int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.slotOf(c)
	for i, t := range times {
		s.limits[i].t = t
	}
	s.at = max(s.at, c.now)
}
