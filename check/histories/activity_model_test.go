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
	written           string // when, "" for a row of an older system
	complete          bool   // such a row, after Backfill
}

// older reports whether the row is one of an older system, which never expires.
func (l logged) older() bool { return l.stands && l.written == "" }

// of reports whether the row is an activity of the actor.
func (l logged) of(actor string) bool { return l.stands && !l.tombstone && actorOf(l.version) == actor }

// actorOf returns who did it in that version.
func actorOf(version int64) string { return []string{"42", "43"}[version%2] }

// These are the calls of activity: recording one version of an event's
// activity, taking it back, reading it, erasing it, and completing a row of an
// older system.
type (
	records struct {
		version int64
		tx      bool
	}
	retracts   struct{ tombstone bool } // even if nothing was recorded
	ofEvent    struct{}
	erasesOf   struct{ actor string }
	olderEntry struct{ version int64 }

	different struct{ version int64 } // this version is stored
	withdrawn struct{}
	removed   struct{ rows int }
)

func (r records) String() string    { return fmt.Sprintf("Record(version %d, tx %v)", r.version, r.tx) }
func (r retracts) String() string   { return fmt.Sprintf("Retract(tombstone %v)", r.tombstone) }
func (ofEvent) String() string      { return "OfEvent" }
func (e erasesOf) String() string   { return fmt.Sprintf("EraseActor(%s)", e.actor) }
func (o olderEntry) String() string { return fmt.Sprintf("an older system's version %d", o.version) }
func (r removed) String() string    { return fmt.Sprintf("%d deleted", r.rows) }
func (d different) String() string  { return fmt.Sprintf("conflict with version %d", d.version) }
func (withdrawn) String() string    { return "retracted" }

func (*activityStory) fresh() any { return logged{} }

func (s *activityStory) apply(state any, m *move) (any, bool) {
	stood := state.(logged)
	expiry := s.expiry(m.key)
	at := func(holds func(now time.Time) bool) bool { return slices.ContainsFunc(m.clocks, holds) }
	gone := at(func(now time.Time) bool { return !stood.stands || !stood.older() && !now.Before(expiry) })
	there := at(func(now time.Time) bool { return stood.stands && (stood.older() || now.Before(expiry)) })
	switch in := m.in.(type) {
	case sweep:
		return logged{}, stood.stands && !stood.older() && in.at >= expiry.Unix()
	case erased:
		return logged{}, stood.stands
	case olderEntry:
		return logged{stands: true, version: in.version}, !stood.stands
	case erasesOf:
		if m.row != nil {
			return logged{}, stood.of(in.actor) && (m.out == nil || m.out == removed{1})
		}
		return stood, (m.out == removed{0} || m.out == removed{1}) && !stood.of(in.actor)
	case backfills:
		if m.row != nil {
			lacked := stood.older() && !stood.complete
			stood.complete = true
			return stood, lacked && str(m.row, "activityTimestamp") == s.nameTime(m.key, stood.version) &&
				str(m.row, "chatUser") == "chat#"+actorOf(stood.version) && (m.out == nil || m.out == created{})
		}
		return stood, m.out == duplicate{}
	case ofEvent:
		if m.out == (absent{}) {
			return stood, gone || stood.tombstone
		}
		return stood, there && !stood.tombstone && m.out == standing{stood.version}
	case records:
		young := at(func(now time.Time) bool { return now.Before(expiry.Add(-activitySkew)) })
		if m.row != nil { // the move wrote a row
			left := logged{stands: true, version: in.version, written: str(m.row, "createdAt")}
			return left, young && gone && (m.out == nil || m.out == created{})
		}
		if m.out == (created{}) { // an earlier attempt of the transaction
			return stood, in.tx && m.earlier != nil && stood.stands && stood.version == in.version
		}
		return stood, s.refused(stood, in, m.out, young, there)
	case retracts:
		if m.row != nil {
			able := there && !stood.tombstone || in.tombstone && gone
			return logged{stands: true, tombstone: true, written: str(m.row, "retractedAt")}, able && (m.out == nil || m.out == created{})
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
