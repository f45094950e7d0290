package activity

import (
	"context"
	"iter"
)

// InScope walks the activities of a scope, ordered by the time in their ids. If
// the walk fails, the error comes last.
//
// Without From and To, the walk finds all rows of an older system. With bounds,
// it misses a row whose id has another time than the activity. Such an id may
// have the later time at which the message was processed. It may also have a
// time in January 1970, because seconds were read as milliseconds.
//
// No walk yields retracted or expired activities.
//
// Price: 1 request, 0.5 RCU. For up to 3 activities, or 4 with a Limit of 4. A
// longer walk costs 0.5 RCU for each 4 KB begun of each page. The pages have 4,
// 16, 64 rows and so on, each four times as many as the page before, so that a
// loop which breaks early has paid for few rows. With a Limit, the first page has
// as many rows as the Limit, and at least 4. No page is larger than 1 MB.
// Consistent doubles the units. Rows that the walk skips are paid for: tombstones,
// rows that have expired and are not deleted yet, and what a Match leaves out.
// With bounds, the walk also skips rows of an older system whose id lies within
// the bounds, but whose time does not. After it has skipped rows, further pages
// fill the Limit: each asks for as many rows as are still missing, and as many
// again as were skipped.
func (s *Store) InScope(ctx context.Context, scope string, r Range) iter.Seq2[Activity, error] {
	q, err := s.inScope(scope, r)
	return s.each(ctx, q, err)
}

// InScopePage returns a part of what [Store.InScope] walks.
//
// Price: 1 request, 0.5 RCU. Each 4 KB begun of the page costs 0.5 RCU, and
// each MB takes 1 request. Consistent doubles the units. Skipped rows are paid
// for as in [Store.InScope].
func (s *Store) InScopePage(ctx context.Context, scope string, r Range) (Page, error) {
	q, err := s.inScope(scope, r)
	return s.page(ctx, q, err)
}

// ByActor walks the activities of an actor in all scopes, ordered by their
// time: what one mechanic did for all customers, say. A caller who may see one
// scope is not always allowed to see the others; [Store.ByActorAndName] stays
// within one scope. If the walk fails, the error comes last.
//
// It reads an index, which lags behind the table, normally by less than a
// second. Rows of an older system whose time is in seconds come before all
// other rows. A walk with a From misses such rows. A walk with a To skips such
// a row if its activity did not happen before To.
//
// Price: 1 request, 0.5 RCU. For up to 3 activities; for more, see
// [Store.InScope].
func (s *Store) ByActor(ctx context.Context, actor string, r Range) iter.Seq2[Activity, error] {
	q, err := s.byActor(actor, r)
	return s.each(ctx, q, err)
}

// ByActorPage returns a part of what [Store.ByActor] walks. Its cursor
// discloses the scope of the page's last activity.
//
// Price: 1 request, 0.5 RCU. For more than 4 KB, see [Store.InScopePage].
func (s *Store) ByActorPage(ctx context.Context, actor string, r Range) (Page, error) {
	q, err := s.byActor(actor, r)
	return s.page(ctx, q, err)
}

// ByName walks the activities of one name in a scope, by all actors, ordered by
// their time. If the walk fails, the error comes last.
//
// It reads an index, which lags behind the table, normally by less than a
// second. ByName finds rows of an older system, even if their time is in
// seconds. It misses a row that has no activityTimestamp, and a row whose name
// has a '#' or '%'.
//
// Price: 1 request, 0.5 RCU. For up to 3 activities; for more, see
// [Store.InScope]. Activities of other names cost nothing. A name of an older
// system can look like the name that you ask for, as "dish#2" looks like
// "dish". The walk pays for the rows of such a name that are on the page, and
// then goes on behind all rows of the name, with a page of 4 rows. So each such
// name adds a request and 0.5 RCU, however many rows it has. (A name of an
// older system can also look like an encoded name, as "50%25" looks like the
// encoded "50%". The walk cannot skip such a name: it reads all its rows.)
func (s *Store) ByName(ctx context.Context, scope, name string, r Range) iter.Seq2[Activity, error] {
	q, err := s.byName(scope, name, r)
	return s.each(ctx, q, err)
}

// ByNamePage returns a part of what [Store.ByName] walks.
//
// Price: 1 request, 0.5 RCU. For more than 4 KB, see [Store.InScopePage]; names
// that only look alike add to the price as in [Store.ByName].
func (s *Store) ByNamePage(ctx context.Context, scope, name string, r Range) (Page, error) {
	q, err := s.byName(scope, name, r)
	return s.page(ctx, q, err)
}

// ByActorAndName walks the activities of one actor and one name in a scope,
// ordered by their time. If the walk fails, the error comes last.
//
// It reads an index, which lags behind the table, normally by less than a
// second. Rows of an older system have no chatUser, so they are not in this
// index; [Store.ByName] finds them.
//
// Price: 1 request, 0.5 RCU. For up to 3 activities; for more, see
// [Store.ByName].
func (s *Store) ByActorAndName(ctx context.Context, scope, actor, name string, r Range) iter.Seq2[Activity, error] {
	q, err := s.byActorAndName(scope, actor, name, r)
	return s.each(ctx, q, err)
}

// ByActorAndNamePage returns a part of what [Store.ByActorAndName] walks.
//
// Price: 1 request, 0.5 RCU. For more than 4 KB, see [Store.ByNamePage].
func (s *Store) ByActorAndNamePage(ctx context.Context, scope, actor, name string, r Range) (Page, error) {
	q, err := s.byActorAndName(scope, actor, name, r)
	return s.page(ctx, q, err)
}
