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
	cfg *Config

	mu         sync.Mutex       // guards all below, and is never held during a request
	young, old map[string]*slot // old are those that were not used since young was begun
}

// slot is what is known of a key.
type slot struct {
	heard  bool          // a reply has come
	asking chan struct{} // until then one request is under way at a time
	at     int64         // when the last request ended
	limits map[string]*known

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

// seat is a request under way.
type seat struct {
	*memory
	slot  *slot
	asked *asked
	times []int64 // of the limits, as far as is known
	began int64
}

// slotOf returns the key's slot. If there are too many keys, it forgets those that
// were used longest ago.
func (m *memory) slotOf(w *asked) *slot {
	s := m.young[w.row]
	if s == nil {
		if s = m.old[w.row]; s == nil {
			s = &slot{limits: map[string]*known{}}
		}
		if m.young == nil || len(m.young) >= mostKeys/2 {
			m.young, m.old = map[string]*slot{}, m.young
		}
		m.young[w.row] = s
	}
	for _, l := range w.Limits {
		if s.limits[l.Name] == nil {
			s.limits[l.Name] = &known{}
		}
	}
	return s
}

// enter lets a take send its request, or refuses it for a time. With a channel, another
// take asks about the key for the first time, and this one waits until that is over.
func (m *memory) enter(w *asked) (*seat, int64, <-chan struct{}) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.slotOf(w)
	if s.asking != nil {
		return nil, 0, s.asking
	}
	retry, at := int64(0), &seat{memory: m, slot: s, asked: w, began: w.now}
	for i, l := range w.Limits {
		k := s.limits[l.Name]
		at.times = append(at.times, m.believed(s, k, w.now)+k.shadow)
		if k.busy > 0.5 {
			at.times[i] = max(at.times[i], w.now+1)
		}
		retry = max(retry, m.refuses(w, s, k, i))
	}
	if retry > 0 {
		s.spared++
		return at, retry, nil
	}
	for i, l := range w.Limits {
		s.limits[l.Name].shadow += w.spans[i].take
	}
	if !s.heard {
		s.asking = make(chan struct{})
	}
	return at, 0, nil
}

// believed is the limit's time, or now if that is past or was heard too long ago.
func (m *memory) believed(s *slot, k *known, now int64) int64 {
	if time.Duration(now-s.at).Abs() >= m.cfg.DenyFor {
		return now
	}
	return max(now, k.t)
}

// refuses returns how long the take must wait for the ith limit, as far as is known.
func (m *memory) refuses(w *asked, s *slot, k *known, i int) int64 {
	if late := w.late(i, m.believed(s, k, w.now)+k.shadow); late > 0 {
		return late
	}
	room := k.t + w.spans[i].take - w.spans[i].burst - int64(w.Wait) // when there was or will be room
	pause := min(int64(s.draw*float64(int64(1)<<s.level-1)*float64(w.spans[i].take)), int64(longestPause))
	if min(room, s.at+int64(m.cfg.DenyFor))+pause <= w.now {
		return 0
	}
	return max(room+pause-w.now, 1)
}

// leave ends the request, with the row's times if there was a reply. Without one, the
// take may have had its effect, and is remembered.
func (at *seat) leave(now int64, times []int64, denied bool) {
	at.mu.Lock()
	defer at.mu.Unlock()
	s := at.slot
	for i, l := range at.asked.Limits {
		k := s.limits[l.Name]
		k.shadow -= at.asked.spans[i].take
		switch {
		case times == nil:
			k.t = at.believed(s, k, now) + at.asked.spans[i].take
			continue
		case k.t <= at.began && at.times[i] > now: // it was guessed, and busy is right
			k.busy += (1 - k.busy) / 4
		case k.t <= at.began:
			k.busy -= k.busy / 4
		}
		k.t = times[i]
	}
	s.at, s.heard = max(s.at, now), s.heard || times != nil
	switch {
	case denied && at.began >= s.drawn:
		s.pause(at.cfg.Rand, now)
	case times != nil && !denied:
		s.draw = 0 // the level stays: the next refusal by the row comes soon
	}
	s.spared = 0
	if s.asking != nil {
		close(s.asking)
		s.asking = nil
	}
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
func (m *memory) learn(w *asked, times []int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.slotOf(w)
	for i, l := range w.Limits {
		s.limits[l.Name].t = times[i]
	}
	s.at, s.heard = max(s.at, w.now), true
}
