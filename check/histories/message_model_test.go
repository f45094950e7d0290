package histories_test

import (
	"fmt"
	"slices"
	"time"
)

// saved is the row of a scope and sequence.
type saved struct {
	stands  bool
	version int64 // which message is stored
}

// These are the calls of message. A save is of one of the messages with the
// same number, which differ in their version.
type (
	saves    struct{ version int64 }
	fetches  struct{}
	standing struct{ version int64 }
)

func (s saves) String() string    { return fmt.Sprintf("Save(version %d)", s.version) }
func (fetches) String() string    { return "Get" }
func (s standing) String() string { return fmt.Sprintf("version %d", s.version) }

func (*messageStory) fresh() any { return saved{} }

func (s *messageStory) apply(state any, m *move) (any, bool) {
	stood := state.(saved)
	at := func(holds func(now time.Time) bool) bool { return slices.ContainsFunc(m.clocks, holds) }
	gone := func(now time.Time) bool { return !stood.stands || !now.Before(s.expiry(stood.version)) }
	switch in := m.in.(type) {
	case sweep:
		return saved{}, stood.stands && in.at >= s.expiry(stood.version).Unix()
	case erased:
		return saved{}, stood.stands
	case erasesOf:
		own := stood.stands && actorOf(stood.version) == in.actor
		if m.row != nil {
			return saved{}, own && (m.out == nil || m.out == removed{1})
		}
		return stood, (m.out == removed{0} || m.out == removed{1}) && !own
	case fetches:
		if m.out == (absent{}) {
			return stood, at(gone)
		}
		return stood, m.out == standing{stood.version} && at(func(now time.Time) bool { return !gone(now) })
	case saves:
		young := at(func(now time.Time) bool { return now.Before(s.expiry(in.version).Add(-messageSkew)) })
		switch {
		case m.row != nil: // the move wrote a row
			return saved{stands: true, version: in.version}, young && at(gone) && (m.out == nil || m.out == created{})
		case m.out == tooOld{}:
			return stood, !young
		case m.out == created{}: // an earlier attempt of the call
			return stood, m.earlier != nil && stood.version == in.version
		}
		return stood, m.out == duplicate{} && young && at(func(now time.Time) bool { return !gone(now) })
	}
	return stood, false
}
