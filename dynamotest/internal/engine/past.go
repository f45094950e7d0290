package engine

import (
	"sort"
	"time"
)

// A past is what late readers see of a table or of an index. A table or an
// index that is made later under the same name has a new past.
type past struct {
	versions []version // the oldest first; only kept if there is a lag
	held     *data     // what a hold froze; nil without one
}

// A version is the data until a time: a copy-on-write clone.
type version struct {
	until time.Time
	data  data
}

// since returns the index of the first version that was valid after a time.
func (p *past) since(at time.Time) int {
	return sort.Search(len(p.versions), func(i int) bool { return p.versions[i].until.After(at) })
}

// keep adds a version of data that is about to change, and removes versions
// that nobody can see any more. Changes of one moment are one version.
func (p *past) keep(current *data, now time.Time, lag time.Duration) {
	if lag <= 0 {
		return
	}
	p.versions = p.versions[p.since(now.Add(-lag)):]
	if n := len(p.versions); n == 0 || p.versions[n-1].until.Before(now) {
		p.versions = append(p.versions, version{until: now, data: current.clone()})
	}
}

func (p *past) view(current *data, now time.Time, lag time.Duration) *data {
	if p.held != nil {
		return p.held
	}
	if lag > 0 {
		if i := p.since(now.Add(-lag)); i < len(p.versions) {
			return &p.versions[i].data
		}
	}
	return current
}

// hold freezes the visible data. The lag goes on meanwhile, so after the
// release readers do not see older data.
func (p *past) hold(current *data, now time.Time, lag time.Duration) {
	p.held = nil
	frozen := p.view(current, now, lag).clone()
	p.held = &frozen
}
