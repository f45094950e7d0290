package powerbitest

import (
	"net/http"
	"strconv"
	"time"
)

// arrival is a request that counts.
type arrival struct {
	at   time.Time
	rows int
}

// arrive counts a post, or says which limit it breaks and how long to wait. Windows
// slide: a client that keeps within them keeps within Microsoft's, whenever those
// begin. A post that is refused for another reason counts as well.
func (s *Server) arrive(rows int) (wait time.Duration, limit string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now, most := s.cfg.Now(), s.cfg.Limits
	s.arrivals = within(s.arrivals, now, time.Hour)
	one := func(arrival) int { return 1 }
	if most.PostsAMinute > 0 {
		wait, limit = over(s.arrivals, now, time.Minute, 1, most.PostsAMinute, one), "posts a minute"
	}
	if wait == 0 && most.PostsAnHour > 0 && s.large() {
		wait, limit = over(s.arrivals, now, time.Hour, 1, most.PostsAnHour, one), "posts an hour, with a large table"
	}
	if wait == 0 && most.RowsAnHour > 0 {
		wait, limit = over(s.arrivals, now, time.Hour, rows, most.RowsAnHour, func(a arrival) int { return a.rows }), "rows an hour"
	}
	if wait == 0 {
		s.arrivals = append(s.arrivals, arrival{now, rows})
	}
	return wait, limit
}

// large reports whether any table is large: Microsoft counts posts to the
// dataset.
func (s *Server) large() bool {
	for _, t := range s.tables {
		if s.cfg.Limits.LargeTable > 0 && len(t.rows) >= s.cfg.Limits.LargeTable {
			return true
		}
	}
	return false
}

func within(arrivals []arrival, now time.Time, window time.Duration) []arrival {
	for len(arrivals) > 0 && now.Sub(arrivals[0].at) >= window {
		arrivals = arrivals[1:]
	}
	return arrivals
}

// over returns how long it takes until the window has room for more, 0 if it has
// room now.
func over(arrivals []arrival, now time.Time, window time.Duration, more, most int, weigh func(arrival) int) time.Duration {
	arrivals = within(arrivals, now, window)
	for _, a := range arrivals {
		more += weigh(a)
	}
	if more <= most {
		return 0
	}
	for _, a := range arrivals {
		if more -= weigh(a); more <= most {
			return a.at.Add(window).Sub(now)
		}
	}
	return window // even alone it is too much
}

// throttle answers 429.
func (s *Server) throttle(w http.ResponseWriter, wait time.Duration, limit string) {
	s.mu.Lock()
	s.counts.Throttled++
	s.mu.Unlock()
	seconds := (wait + time.Second - 1) / time.Second
	w.Header().Set("Retry-After", strconv.Itoa(int(seconds)))
	s.refuse(w, http.StatusTooManyRequests, "TooManyRequests", "over the limit of "+limit)
}
