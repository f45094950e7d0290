package activity

import (
	"context"
	"iter"
)

// InScope walks the activities of a scope, by the time of their ids. An error
// comes last.
//
// Rows of an older system are all found in a range without From and To. With
// bounds it misses those whose id was made at another time than theirs: later,
// when the message was processed, or in January 1970, from seconds.
//
// What was retracted, and what has expired, is not yielded: no walk does.
//
// Price: 1 request, 0.5 RCU. For up to 3 activities, or 4 with that Limit.
// Beyond, 0.5 RCU for each 4 KB begun of a page. The pages have 4, 16, 64 rows
// and so on, each four times the one before, so that an early break has paid
// for few; with a Limit there is one of its size, at least 4. None is larger
// than 1 MB. Consistent doubles the units. Rows that are skipped are paid for:
// tombstones of what was retracted, rows that have expired and are not deleted
// yet, and with bounds those of an older system whose time lies outside, though
// their id does not. What a Match leaves out is skipped likewise. A Limit is then filled by further pages: of what it lacks,
// and as many rows again as were skipped.
func (s *Store) InScope(ctx context.Context, scope string, r Range) iter.Seq2[Activity, error] {
	q, err := s.inScope(scope, r)
	return s.each(ctx, q, err)
}

// InScopePage returns a part of what [Store.InScope] walks.
//
// Price: 1 request, 0.5 RCU. 0.5 RCU for each 4 KB begun of the page, and 1
// request for each MB. Consistent doubles the units. Rows that are skipped add
// to it as they do in [Store.InScope].
func (s *Store) InScopePage(ctx context.Context, scope string, r Range) (Page, error) {
	q, err := s.inScope(scope, r)
	return s.page(ctx, q, err)
}

// ByActor walks the activities of an actor in all scopes, by their time: what
// one person did in every chat. Whoever may see one scope need not be allowed
// to see this; [Store.ByActorAndName] stays within a scope. An error comes
// last.
//
// It reads an index, which lags behind the table, normally by less than a
// second. Rows of an older system with seconds as their time come before all
// others. They are missed when From is given, and skipped when To lies before
// them.
//
// Price: 1 request, 0.5 RCU. For up to 3 activities; beyond as [Store.InScope].
func (s *Store) ByActor(ctx context.Context, actor string, r Range) iter.Seq2[Activity, error] {
	q, err := s.byActor(actor, r)
	return s.each(ctx, q, err)
}

// ByActorPage returns a part of what [Store.ByActor] walks. Its cursor
// discloses the scope of the page's last activity.
//
// Price: 1 request, 0.5 RCU. Beyond as [Store.InScopePage].
func (s *Store) ByActorPage(ctx context.Context, actor string, r Range) (Page, error) {
	q, err := s.byActor(actor, r)
	return s.page(ctx, q, err)
}

// ByName walks the activities of one name in a scope, whoever did them, by
// their time. An error comes last.
//
// It reads an index, which lags behind the table, normally by less than a
// second. Rows of an older system are found, seconds as their time too, unless
// they have no activityTimestamp or a '#' or '%' in their name.
//
// Price: 1 request, 0.5 RCU. For up to 3 activities; beyond as [Store.InScope].
// Activities of other names cost nothing, however many. Rows of an older
// system that only look alike, as "dish#2" does when "dish" is asked for, are
// skipped by name: what a page has read of one is paid for, and the walk goes
// on behind it with a page of 4 rows, so that each such name adds a request
// and 0.5 RCU, however many rows it has. (One that an older system wrote as
// names are encoded today, "50%25" for "50%", is read through.)
func (s *Store) ByName(ctx context.Context, scope, name string, r Range) iter.Seq2[Activity, error] {
	q, err := s.byName(scope, name, r)
	return s.each(ctx, q, err)
}

// ByNamePage returns a part of what [Store.ByName] walks.
//
// Price: 1 request, 0.5 RCU. Beyond as [Store.InScopePage]; names that only
// look alike add to it as they do in [Store.ByName].
func (s *Store) ByNamePage(ctx context.Context, scope, name string, r Range) (Page, error) {
	q, err := s.byName(scope, name, r)
	return s.page(ctx, q, err)
}

// ByActorAndName walks what one actor did under one name in a scope, by time.
// An error comes last.
//
// It reads an index, which lags behind the table, normally by less than a
// second. Rows of an older system have no chatUser and are not in it;
// [Store.ByName] finds them.
//
// Price: 1 request, 0.5 RCU. For up to 3 activities; beyond as [Store.ByName].
func (s *Store) ByActorAndName(ctx context.Context, scope, actor, name string, r Range) iter.Seq2[Activity, error] {
	q, err := s.byActorAndName(scope, actor, name, r)
	return s.each(ctx, q, err)
}

// ByActorAndNamePage returns a part of what [Store.ByActorAndName] walks.
//
// Price: 1 request, 0.5 RCU. Beyond as [Store.ByNamePage].
func (s *Store) ByActorAndNamePage(ctx context.Context, scope, actor, name string, r Range) (Page, error) {
	q, err := s.byActorAndName(scope, actor, name, r)
	return s.page(ctx, q, err)
}
