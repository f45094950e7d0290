package message

import (
	"context"
	"fmt"
	"time"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/ddb"
	"github.com/homeops/ddbpatterns/internal/item"
)

// FastConversation asks whether a conversation was moving fast when a message
// was said. Scope, Seq, Actor and At are the fields of that message.
type FastConversation struct {
	Scope string
	Seq   int64
	Actor string
	At    time.Time

	// Window is how far back from At to look. Defaults to 60 s; at most a day
	// and, with a Retention, less than the Retention minus MaxSkew.
	Window time.Duration
	// Threshold is how many messages of other senders make the conversation
	// fast. Defaults to 3; at most 1000.
	Threshold int

	// Consistent makes the call see every message that was saved before it, at
	// twice the RCU. Without Consistent, a message that was saved a moment ago
	// may not be counted.
	Consistent bool
}

// Pace answers a [FastConversation].
type Pace struct {
	Fast   bool // whether Others has reached the threshold
	Others int  // messages of other senders in the window, counted up to the threshold
}

const (
	standardWindow    = 60 * time.Second
	mostWindow        = 24 * time.Hour
	standardThreshold = 3
	mostThreshold     = 1000
)

// paceAttributes leave out the texts; the units are the same.
var paceAttributes = []string{attrSeq, attrActor, attrTimestamp}

// FastConversation counts other senders' messages that have a lower sequence
// than the given message and were said in the window before it, both ends of
// the window included. It reads back to the beginning of the window, or until
// the threshold is reached, past any number of messages of the given Actor.
// Once all earlier messages can be read, the answer does not depend on the time
// of the call or on later messages. An earlier message that is delivered late
// may raise the count. With a [Config].Retention, the call returns
// [event.ErrTooOld] once a message of the window may have expired.
//
// FastConversation relies on times that rise with the sequence: it stops after
// a page if the last message of that page was said before the window. Messages
// said after At, and messages without a time, do not count as the last. A
// message whose time is too early, from a slow clock, stops it only if that
// message is the last of its page.
//
// A message without a sender is not counted. If the given message itself has no
// sender (Actor ""), the messages of every sender are counted.
//
// Price: 1 request, 0.5 RCU. The first page has one row more than the
// threshold, and each further page has twice as many rows as the page before,
// up to 1024. A page costs 1 request, and 0.5 RCU for each 4 KB. Consistent
// doubles the RCU.
func (s *Store) FastConversation(ctx context.Context, f FastConversation) (Pace, error) {
	if err := s.checkFast(&f); err != nil {
		return Pace{}, err
	}

	f.At = f.At.Truncate(time.Millisecond) // as it is stored
	if s.retention.TooOld(f.At.Add(-f.Window), s.cfg.Now()) {
		return Pace{}, s.wrap("FastConversation", fmt.Errorf("the window begins too early for the retention of %s: %w", s.cfg.Retention, event.ErrTooOld))
	}
	if f.Seq == 1 {
		return Pace{}, nil // nothing comes before it
	}

	q, err := s.inScope("FastConversation", f.Scope, Range{NewestFirst: true, Consistent: f.Consistent, ToSeq: f.Seq - 1})
	if err != nil {
		return Pace{}, err
	}

	q.Project = paceAttributes
	next, err := q.Pages(ctx, s.api)
	if err != nil {
		return Pace{}, err
	}

	pace := Pace{}
	for rows := f.Threshold + 1; ; rows = max(rows, min(2*rows, mostRows)) {
		page, err := next(int32(rows))
		if err != nil {
			return Pace{}, err
		}
		if page == nil {
			return pace, nil
		}

		switch over, err := s.count(&pace, f, page.Items); {
		case err != nil:
			return Pace{}, q.Wrap(err)
		case over:
			return pace, nil
		}
	}
}

// count adds a page to the pace, and reports whether that was enough: the
// threshold is reached, or the last message with a time lies before the window.
func (s *Store) count(pace *Pace, f FastConversation, page []ddb.Item) (over bool, err error) {
	opens := f.At.Add(-f.Window)
	for _, row := range page {
		said, err := item.Millis(row, attrTimestamp)
		if err != nil {
			return false, err
		}
		if said.IsZero() || said.After(f.At) {
			continue
		}
		if over = said.Before(opens); over {
			continue
		}
		if actor := item.Text(row, attrActor); actor == "" || actor == f.Actor {
			continue
		}

		pace.Others++
		if pace.Others == f.Threshold {
			pace.Fast = true
			return true, nil
		}
	}

	return over, nil
}

// checkFast fills the defaults and refuses values that a message cannot have.
func (s *Store) checkFast(f *FastConversation) error {
	if f.Window == 0 {
		f.Window = standardWindow
	}
	if f.Threshold == 0 {
		f.Threshold = standardThreshold
	}

	if err := checkKey(f.Scope, f.Seq); err != nil {
		return err
	}
	if err := s.checkActor(f.Actor); err != nil {
		return err
	}
	if f.Window < 0 || f.Window > mostWindow {
		return event.BadInput(pkg, "Window", "must be between 0 and a day")
	}
	if s.cfg.Retention > 0 && f.Window >= s.cfg.Retention-s.cfg.MaxSkew {
		return event.BadInput(pkg, "Window", "must be shorter than Config.Retention minus Config.MaxSkew: older messages are not kept")
	}
	if f.Threshold < 0 || f.Threshold > mostThreshold {
		return event.BadInput(pkg, "Threshold", fmt.Sprintf("must be 1 to 1000, is %d", f.Threshold))
	}

	return checkAt(f.At, s.cfg.Now())
}
