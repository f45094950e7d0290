package replay

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"sync/atomic"
	"time"
)

// Which dates are believed. The clock shows the latest of them so far. So no
// update looks like one of the future after a gap of any length, if one chat's
// updates follow another's, or if the newest come first. A date ahead of the
// present does not move the clock, and its update is delivered and refused.
const (
	ahead     = time.Hour // of the present: as much as the worker accepts
	late      = time.Hour // behind the clock: the report counts what is older
	lookAhead = 64        // how many updates may come before the first date
)

var byteOrderMark = []byte("\uFEFF")

// line is an update as it is in the file.
type line struct {
	body     []byte
	at       time.Time // the latest date that is believed; zero if the update has none
	believed bool      // no date was ahead of the present
}

// source reads updates, one a line, and finds when each came in.
type source struct {
	in      *bufio.Reader
	present func() time.Time
	ahead   []line
	err     error     // of reading; io.EOF at the end
	at      time.Time // of the update at hand
}

// newSource returns a source whose time is the first date.
func newSource(in io.Reader, present func() time.Time) *source {
	s := &source{in: bufio.NewReaderSize(in, 1<<16), present: present}
	for len(s.ahead) < lookAhead && s.at.IsZero() && s.fill() {
		s.at = s.ahead[len(s.ahead)-1].at
	}
	return s
}

// fill reads one more update. It skips empty lines and takes any other line as
// it is, without a byte order mark: files that were joined have those in the
// middle, too.
func (s *source) fill() bool {
	for s.err == nil {
		var body []byte
		body, s.err = s.in.ReadBytes('\n')
		if body = bytes.TrimSpace(bytes.TrimPrefix(body, byteOrderMark)); len(body) > 0 {
			at, believed := s.date(body)
			s.ahead = append(s.ahead, line{body, at, believed})
			return true
		}
	}
	return false
}

// next returns the next update and moves the source's time to when it came in;
// ok is false at the end.
func (s *source) next() (l line, ok bool, _ error) {
	if len(s.ahead) == 0 && !s.fill() {
		if errors.Is(s.err, io.EOF) {
			return line{}, false, nil
		}
		return line{}, false, s.err
	}
	l, s.ahead = s.ahead[0], s.ahead[1:]
	if l.at.After(s.at) {
		s.at = l.at
	}
	return l, true, nil
}

// date finds when the update's event happened. It works for all kinds of
// updates, because they hold their time in the same two fields.
func (s *source) date(body []byte) (at time.Time, believed bool) {
	var update map[string]json.RawMessage
	if json.Unmarshal(body, &update) != nil {
		return time.Time{}, true
	}
	present, latest := s.present().Add(ahead).Unix(), int64(0)
	believed = true
	for _, part := range update {
		var dated struct {
			Date   int64 `json:"date"`
			Edited int64 `json:"edit_date"`
		}
		if json.Unmarshal(part, &dated) != nil {
			continue
		}
		for _, date := range []int64{dated.Date, dated.Edited} {
			if date > present {
				believed = false
			} else {
				latest = max(latest, date)
			}
		}
	}
	if latest == 0 {
		return time.Time{}, believed
	}
	return time.Unix(latest, 0).UTC(), believed
}

// clock is the updates' clock: it shows when the update at hand came in, and
// never goes back.
type clock struct{ at atomic.Pointer[time.Time] }

// newClock shows the time at which the updates begin, or the Unix epoch if they
// have no dates.
func newClock(at time.Time) *clock {
	if at.IsZero() {
		at = time.Unix(0, 0).UTC()
	}
	c := new(clock)
	c.at.Store(&at)
	return c
}

func (c *clock) now() time.Time { return *c.at.Load() }

// until moves the clock forward to the given time, if that is later.
func (c *clock) until(at time.Time) {
	if at.After(c.now()) {
		c.at.Store(&at)
	}
}

func (c *clock) advance(d time.Duration) { c.until(c.now().Add(d)) }
