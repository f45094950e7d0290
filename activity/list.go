package activity

import (
	"context"
	"iter"

	"github.com/homeops/ddbpatterns/internal/check"
)

// InScope walks the activities of a scope, ordered by the time in their ids. If
// the walk fails, the error comes last.
//
// Without From and To, the walk finds all rows of an older system whose times
// lie between 1970 and November 2286. With bounds, it finds a row only if both
// the activity's time and the time in the row's id lie within the bounds. In
// some rows of an older system, the time in the id is not the activity's time.
// It may be the later time at which the message was processed, or a time in
// January 1970, because seconds were read as milliseconds.
//
// No walk yields expired activities. A walk yields a retracted activity only if
// it was retracted a moment ago and the walk is not Consistent.
//
// Price: 1 request, 0.5 RCU. This is the price for up to 3 activities, or for 4
// with a Limit of 4. A longer walk costs 0.5 RCU for each 4 KB begun of each page.
// The pages have 4, 16, 64 rows and so on, each four times as many as the page
// before, so that a loop which breaks early has paid for few rows. With a Limit,
// the first page has as many rows as the Limit, and at least 4. No page is larger
// than 1 MB. Consistent doubles the units. Rows that the walk skips are paid for:
// tombstones, rows that have expired and are not deleted yet, rows that cannot be
// read, and what a Match leaves out. With bounds, the walk also skips a row of an
// older system if the time in its id lies within the bounds, but the activity's
// time does not. After the walk has skipped rows, further pages fill the Limit.
// Each of them asks for at most as many rows as are still missing, plus as many as
// were skipped so far.
func (s *Store) InScope(ctx context.Context, scope string, r Range) iter.Seq2[Activity, error] {
	q, err := s.inScope(scope, r)
	return s.each(ctx, q, check.Positional(err))
}

// ByActor walks the activities of an actor in all scopes, ordered by the time
// at which they happened: what one mechanic did for all customers, say. A
// caller who may see one scope is not always allowed to see the others;
// [Store.ByActorAndName] stays within one scope. If the walk fails, the error
// comes last.
//
// ByActor reads an index, which lags behind the table, normally by less than a
// second. The index lacks rows of an older system that have no timestamp. Rows
// of an older system whose time is in seconds are sorted as older than all
// other rows. A walk with a From after January 1970 misses such rows. A walk
// with a To, and without a From, finds such rows if their activities happened
// before To, and reads and skips the others.
//
// Price: 1 request, 0.5 RCU. This is the price for up to 3 activities; for
// more, see [Store.InScope].
func (s *Store) ByActor(ctx context.Context, actor string, r Range) iter.Seq2[Activity, error] {
	q, err := s.byActor(actor, r)
	return s.each(ctx, q, check.Positional(err))
}

// ByName walks the activities of one name in a scope, by all actors, ordered by
// the time at which they happened. If the walk fails, the error comes last.
//
// ByName reads an index, which lags behind the table, normally by less than a
// second. ByName also finds rows of an older system, even if their time is in
// seconds. But until [Store.Backfill] completes such a row, ByName misses it if
// the row has no activityTimestamp, if its name has a '#' or '%', or if its
// name is not in NFC.
//
// Price: 1 request, 0.5 RCU. This is the price for up to 3 activities; for
// more, see [Store.InScope]. Activities of other names cost nothing. A name of
// an older system can look like the name that you ask for, as "dish#2" looks
// like "dish". The walk pays for such rows only if they are on a page that it
// reads. If a page ends among the rows of such a name, the walk skips all
// further rows of that name, and its next page has at most 4 rows. So as long
// as the pages have at most 4 rows, each such name adds at most 1 request and
// 0.5 RCU, for any number of rows. (A name of an older system can also look
// like an encoded name, as "50%25" looks like the encoded "50%". The walk
// cannot skip the rows of such a name together: it reads each of them that it
// meets.)
func (s *Store) ByName(ctx context.Context, scope, name string, r Range) iter.Seq2[Activity, error] {
	q, err := s.byName(scope, name, r)
	return s.each(ctx, q, check.Positional(err))
}

// ByActorAndName walks the activities of one actor and one name in a scope,
// ordered by the time at which they happened. If the walk fails, the error
// comes last.
//
// ByActorAndName reads an index, which lags behind the table, normally by less
// than a second. Rows of an older system have no chatUser until it is added,
// for example by [Store.Backfill]. Until then they are not in this index;
// [Store.ByName] says which of them it finds.
//
// Price: 1 request, 0.5 RCU. This is the price for up to 3 activities; for
// more, see [Store.ByName].
func (s *Store) ByActorAndName(ctx context.Context, scope, actor, name string, r Range) iter.Seq2[Activity, error] {
	q, err := s.byActorAndName(scope, actor, name, r)
	return s.each(ctx, q, check.Positional(err))
}
