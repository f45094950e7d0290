package replay

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"time"
)

// What dates are believed. The clock goes by the latest so far, so that a gap
// of any length, another chat's updates behind the first one's, or the newest
// first make no update look like one of the future. A date ahead of the present
// tells nothing: the update is delivered, and refused, as the clock stands.
const (
	ahead     = time.Hour // of the present: as much as the worker lets pass
	late      = time.Hour // behind the clock, from where it is worth a word
	lookAhead = 64        // how many updates may stand before the first date
)

var byteOrderMark = []byte("\uFEFF")

// line is an update as it stands in the file.
type line struct {
	body     []byte
	at       time.Time // the latest date that is believed, zero for none
	believed bool      // no date was ahead of the present
}

// source reads updates, one a line, and tells when each came in.
type source struct {
	in      *bufio.Reader
	present func() time.Time
	ahead   []line
	err     error     // of reading; io.EOF at the end
	at      time.Time // of the update at hand
}

// newSource begins at the first date.
func newSource(in io.Reader, present func() time.Time) *source {
	s := &source{in: bufio.NewReaderSize(in, 1<<16), present: present}
	for len(s.ahead) < lookAhead && s.at.IsZero() && s.fill() {
		s.at = s.ahead[len(s.ahead)-1].at
	}
	return s
}

// fill reads one update more. Empty lines are none; any other line is taken as
// it is, but for a byte order mark, which also stands where files were joined.
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

// next returns the next update, at the time at which it came in; ok is false at
// the end.
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

// date finds when the thing happened that the update is about, whatever it is:
// all kinds hold their time in the same two fields.
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
