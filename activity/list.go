package activity

import (
	"context"
	"iter"

	"github.com/homeops/ddbpatterns/internal/check"
)

// InScope walks the activities of a scope, ordered by the time in their ids. If
// the walk fails, the error comes last. Expired and retracted activities are left
// out.
//
// With bounds, it finds a row only if both the activity's time and the time in the
// row's id lie within them. In some rows of an older system the two differ: the id has
// the later time of the processing, or one in January 1970, because seconds were read
// as milliseconds.
//
// Price: 1 request, 0.5 RCU. This is the price for up to 3 activities, or for 4 with a
// Limit of 4. A longer walk costs 0.5 RCU for each 4 KB begun of each page. The pages
// have 4, 16, 64 rows and so on, up to 1 MB, so that a loop which breaks early has paid
// for few. With a Limit, the first page has as many rows as the Limit, and at least 4.
// Rows that the walk skips are paid for. Further pages make up for them: each asks for
// at most the rows that are still missing, plus as many as were skipped so far.
// Consistent doubles the units.
func (s *Store) InScope(ctx context.Context, scope string, r Range) iter.Seq2[Activity, error] {
	q, err := s.inScope(scope, r)
	return s.each(ctx, q, check.Positional(err))
}

// ByActor walks the activities of an actor in all scopes, ordered by the time
// at which they happened. A caller who may see one scope is not always allowed to see
// the others; [Store.ByActorAndName] stays within one scope. If the walk fails, the
// error comes last.
//
// ByActor reads an index, which lags behind the table, normally by less than a second.
// Until [Store.Backfill] completes them, it misses rows of an older system that have no
// timestamp. Rows whose timestamp is in seconds sort as older than all others until
// then, so that a From after January 1970 misses them.
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
// second. Until [Store.Backfill] completes it, a row of an older system is missed if it
// has no activityTimestamp, if its name has a '#' or '%', or if its name is not in NFC.
//
// Price: 1 request, 0.5 RCU. This is the price for up to 3 activities; for
// more, see [Store.InScope]. Activities of other names cost nothing. But a name of an
// older system can look like the one that you ask for, as "dish#2" looks like "dish".
// Until Backfill, the walk skips such rows, and pays for those that it meets.
func (s *Store) ByName(ctx context.Context, scope, name string, r Range) iter.Seq2[Activity, error] {
	q, err := s.byName(scope, name, r)
	return s.each(ctx, q, check.Positional(err))
}

// ByActorAndName walks the activities of one actor and one name in a scope,
// ordered by the time at which they happened. If the walk fails, the error
// comes last.
//
// ByActorAndName reads an index, which lags behind the table, normally by less than a
// second. A row of an older system is not in it until [Store.Backfill] completes the
// row; [Store.ByName] finds some of these rows before that.
//
// Price: 1 request, 0.5 RCU. This is the price for up to 3 activities; for
// more, see [Store.ByName].
func (s *Store) ByActorAndName(ctx context.Context, scope, actor, name string, r Range) iter.Seq2[Activity, error] {
	q, err := s.byActorAndName(scope, actor, name, r)
	return s.each(ctx, q, check.Positional(err))
}
