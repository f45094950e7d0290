package replay

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"time"
)

// When an update's date is believed. A file has updates in the order in which
// they came, so a date tells the time of day, but for one that came again
// days later or is plainly wrong, which those that follow do not bear out.
const (
	step      = time.Hour           // so far ahead any date is believed
	lookAhead = 16                  // beyond, half of these must not be older
	silence   = 31 * 24 * time.Hour // or, where none follows, the file's end is that near
)

// line is an update as it stands in the file.
type line struct {
	body []byte
	at   time.Time // zero for none
}

// source reads updates, one a line, and tells when each came in.
type source struct {
	in    *bufio.Reader
	ahead []line
	err   error     // of reading; io.EOF at the end
	at    time.Time // of the update at hand
}

// newSource begins at the first date that is believed.
func newSource(in io.Reader) *source {
	s := &source{in: bufio.NewReaderSize(in, 1<<16)}
	s.fill()
	for i, l := range s.ahead {
		if !l.at.IsZero() && s.believe(l.at, s.ahead[i+1:]) {
			s.at = l.at
			break
		}
	}
	return s
}

// fill reads ahead. Empty lines are no updates; any other line is taken as it
// is.
func (s *source) fill() {
	for len(s.ahead) <= lookAhead && s.err == nil {
		var body []byte
		body, s.err = s.in.ReadBytes('\n')
		if body = bytes.TrimSpace(body); len(body) > 0 {
			s.ahead = append(s.ahead, line{body: body, at: dateOf(body)})
		}
	}
}

// next returns the next update and the time at which it came in; ok is false
// at the end.
func (s *source) next() (body []byte, at time.Time, ok bool, _ error) {
	s.fill()
	if len(s.ahead) == 0 {
		if errors.Is(s.err, io.EOF) {
			return nil, s.at, false, nil
		}
		return nil, s.at, false, s.err
	}
	l := s.ahead[0]
	s.ahead = s.ahead[1:]
	if l.at.After(s.at) && s.believe(l.at, s.ahead) {
		s.at = l.at
	}
	return l.body, s.at, true, nil
}

// believe reports whether the updates that follow bear the date out.
func (s *source) believe(at time.Time, following []line) bool {
	if !s.at.IsZero() && at.Sub(s.at) <= step {
		return true
	}
	dated, older := 0, 0
	for _, l := range following {
		if l.at.IsZero() {
			continue
		}
		dated++
		if l.at.Before(at.Add(-step)) {
			older++
		}
	}
	if dated == 0 {
		return s.at.IsZero() || at.Sub(s.at) <= silence
	}
	return 2*older <= dated
}

// dateOf finds when the thing happened that the update is about, whatever it
// is: all kinds hold their time in the same two fields.
func dateOf(body []byte) time.Time {
	var update map[string]json.RawMessage
	if json.Unmarshal(body, &update) != nil {
		return time.Time{}
	}
	var latest int64
	for _, part := range update {
		var dated struct {
			Date   int64 `json:"date"`
			Edited int64 `json:"edit_date"`
		}
		if json.Unmarshal(part, &dated) == nil {
			latest = max(latest, dated.Date, dated.Edited)
		}
	}
	if latest == 0 {
		return time.Time{}
	}
	return time.Unix(latest, 0).UTC()
}
