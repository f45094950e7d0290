package histories_test

import (
	"fmt"
	"slices"
	"time"
)

// logged is the row of an event: an activity in one of its versions, or the
// tombstone of a retracted one.
type logged struct {
	stands, tombstone bool
	version           int64
}

// These are the calls of activity: recording one version of an event's
// activity, taking it back, and reading it.
type (
	records   struct{ version int64 }
	retracts  struct{ tombstone bool } // even if nothing was recorded
	ofEvent   struct{}
	different struct{ version int64 } // this version is stored
	withdrawn struct{}
)

func (r records) String() string   { return fmt.Sprintf("Record(version %d)", r.version) }
func (r retracts) String() string  { return fmt.Sprintf("Retract(tombstone %v)", r.tombstone) }
func (ofEvent) String() string     { return "OfEvent" }
func (d different) String() string { return fmt.Sprintf("conflict with version %d", d.version) }
func (withdrawn) String() string   { return "retracted" }

func (*activityStory) fresh() any { return logged{} }

func (s *activityStory) apply(state any, m *move) (any, bool) {
	stood := state.(logged)
	expiry := s.expiry(m.key)
	at := func(holds func(now time.Time) bool) bool { return slices.ContainsFunc(m.clocks, holds) }
	gone := at(func(now time.Time) bool { return !stood.stands || !now.Before(expiry) })
	there := at(func(now time.Time) bool { return stood.stands && now.Before(expiry) })
	switch in := m.in.(type) {
	case sweep:
		return logged{}, stood.stands && in.at >= expiry.Unix()
	case ofEvent:
		if m.out == (absent{}) {
			return stood, gone || stood.tombstone
		}
		return stood, there && !stood.tombstone && m.out == standing{stood.version}
	case records:
		young := at(func(now time.Time) bool { return now.Before(expiry.Add(-activitySkew)) })
		if m.row != nil { // the move wrote a row
			return logged{stands: true, version: in.version}, young && gone && (m.out == nil || m.out == created{})
		}
		return stood, s.refused(stood, in, m.out, young, there)
	case retracts:
		if m.row != nil {
			able := there && !stood.tombstone || in.tombstone && gone
			return logged{stands: true, tombstone: true}, able && (m.out == nil || m.out == created{})
		}
		if m.out == (duplicate{}) {
			return stood, stood.tombstone
		}
		return stood, m.out == notFound{} && !in.tombstone && gone && !stood.tombstone
	}
	return stood, false
}

// refused reports whether this may be the answer to a Record that wrote nothing.
func (*activityStory) refused(stood logged, in records, out any, young, there bool) bool {
	switch out := out.(type) {
	case tooOld:
		return !young
	case withdrawn:
		return young && there && stood.tombstone
	case duplicate:
		return young && there && !stood.tombstone && stood.version == in.version
	case different:
		return young && there && !stood.tombstone && stood.version == out.version && in.version != out.version
	}
	return false
}
