package message

import (
	"time"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/item"
	"github.com/homeops/ddbpatterns/record"
)

// Range bounds and orders a query for the messages of a scope, by sequence, or of an
// actor, by time. The zero Range is every message, oldest first.
type Range struct {
	// FromSeq and ToSeq bound the sequence, both included. 0 means no bound. Only
	// for a scope.
	FromSeq, ToSeq int64

	// From is the first moment of the range. In a query for a scope, it needs
	// NewestFirst: the key has no time, so the query reads back from the newest
	// message, and ends at the first one that was said before From. It relies on times
	// that rise with the sequence, and leaves out messages without a time.
	From time.Time

	// To is the first moment after the range. Only for an actor.
	To time.Time

	// Match filters the messages; its Actor must be empty in a query for an actor.
	// The messages that it leaves out are still read and paid for.
	Match Match

	// NewestFirst lists the newest messages first.
	NewestFirst bool

	// Consistent includes every message that was saved before the call, at
	// twice the RCU. Only for a scope.
	Consistent bool

	// Limit is the most messages to return. Defaults to every message.
	Limit int

	// ReadAtMost is the most rows to read, including rows that are left out. It
	// ends the walk without an error, and only Next says whether more may
	// follow. Defaults to as many rows as the answer takes.
	ReadAtMost int

	// Cursor is what an earlier walk of the same query, with the same bounds, Match
	// and NewestFirst, wrote to Next.
	Cursor string

	// Next, if set, is where the walk writes the Cursor of a later walk that goes
	// on: after the last message that was yielded or, if ReadAtMost or an error
	// ended the walk, after the last row that was read. It is "" if the walk found that
	// no row follows, and Cursor if the first request fails. A cursor does not promise
	// another message.
	//
	// Each loop over the walk begins at Cursor, and writes Next when it ends or is
	// left. A walk that is refused as bad input does not write it.
	//
	// You may give the cursor to a client and take it back. Even a forged cursor
	// cannot reach messages of other scopes or actors, or outside the bounds of
	// the query. It is not encrypted: it holds a row's sequence and, in a
	// query for an actor, the row's scope and time.
	Next *string
}

// checkScope refuses a range that is invalid for a scope.
func (r Range) checkScope() error {
	switch {
	case r.FromSeq < 0:
		return event.BadInput(pkg, "Range.FromSeq", "must not be negative")
	case r.ToSeq < 0:
		return event.BadInput(pkg, "Range.ToSeq", "must not be negative")
	case !r.To.IsZero():
		return event.BadInput(pkg, "Range.To", "can be used only for an actor: the sort key has no time")
	case !r.From.IsZero() && !r.NewestFirst:
		return event.BadInput(pkg, "Range.From", "can be used only with NewestFirst: the sort key has no time")
	}
	return nil
}

// checkActor refuses a range that is invalid for an actor.
func (r Range) checkActor() error {
	switch {
	case item.Inverted(r.From, r.To):
		return event.BadInput(pkg, "Range.To", "lies before From")
	case r.FromSeq != 0:
		return event.BadInput(pkg, "Range.FromSeq", "must be 0: an actor's messages are sorted by time")
	case r.ToSeq != 0:
		return event.BadInput(pkg, "Range.ToSeq", "must be 0: an actor's messages are sorted by time")
	case r.Consistent:
		return event.BadInput(pkg, "Range.Consistent", "must be false: only the index finds an actor's messages")
	case r.Match.Actor != "":
		return event.BadInput(pkg, "Match.Actor", "must be empty: the query already reads only one actor's messages")
	}
	return nil
}

// Match is a filter of messages: a message must meet all fields of the Match.
// Every message meets the zero Match. DynamoDB also reads what does not match, so you
// pay for all rows that are read; Range.ReadAtMost bounds how many.
type Match struct {
	Actor string           // who said it
	Data  []record.Compare // conditions on the message's Data, at most 32
}
