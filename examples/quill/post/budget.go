package post

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/homeops/ddbpatterns/examples/quill/outbox"
	"github.com/homeops/ddbpatterns/examples/quill/sink"
)

// ErrTableFull says that a table of the sink has as many rows as it allows.
var ErrTableFull = errors.New("post: the table is full")

// budget says how much the sink's limits still allow. All it needs is in the poster's
// row, so a new holder waits no longer than the old one would have.
//
// Posts of an hour are counted in windows of ten minutes, each by the time at which it
// began. A window counts until all its posts are certainly an hour old, so the sum is
// never less than that of the last hour. For the limit of a minute posts keep their
// distance from one another.
//
// Clocks of two holders may differ. If a post comes too early for that reason, the
// sink answers 429, and the poster waits.
type budget struct {
	limits sink.Limits
	used   outbox.Poster
}

// windowFor is how long a window is, in minutes.
const windowFor = 10

// newBudget is the budget of a new holder. It dates a post that nobody settled as late
// as it may have been under way.
func newBudget(limits sink.Limits, used outbox.Poster, now time.Time) *budget {
	b := &budget{limits: limits, used: used}
	b.used.Hour = map[int64]outbox.Window{}
	for m, v := range used.Hour { // today's are windows already; the clock may have been ahead
		b.count(min(m, now.Unix()/60), v.Rows, v.Posts)
	}
	if b.used.Total == nil {
		b.used.Total = map[string]int64{}
	}
	if used.Until.IsZero() { // of an earlier version
		b.used.Until = used.PostAt
	}
	if used.Batch != "" || used.PostAt.After(now) {
		b.used.PostAt = underWay(used.PostAt, now)
	}
	return b
}

// underWay is how late a post may have been under way that nobody settled: its poster
// had ended by now, and its lease lapsed.
func underWay(postAt, now time.Time) time.Time {
	if last := postAt.Add(leaseFor); last.Before(now) {
		return last
	}
	return now
}

func (b *budget) count(minute int64, rows, posts int) {
	start := minute - minute%windowFor
	sum := b.used.Hour[start]
	b.used.Hour[start] = outbox.Window{Rows: sum.Rows + rows, Posts: sum.Posts + posts}
}

// freed is when the posts of a window stop counting. One that began at its end was under
// way for a while.
func freed(start int64) time.Time {
	return time.Unix((start+windowFor)*60, 0).Add(leaseFor + time.Hour)
}

// next is when the limit of a minute allows a post.
func (b *budget) next() time.Time {
	if b.used.PostAt.IsZero() || b.limits.PostsAMinute == 0 {
		return time.Time{}
	}
	return b.used.PostAt.Add(time.Minute/time.Duration(b.limits.PostsAMinute) + 2*time.Millisecond)
}

// room is how many rows may be posted to the table at this time, 0 if the post
// must wait. Only a full table is an error.
func (b *budget) room(table string, at time.Time) (int, error) {
	rows := b.limits.RowsAPost
	if rows == 0 {
		rows = window
	}
	if b.limits.RowsATable > 0 {
		left := int64(b.limits.RowsATable) - b.used.Total[table]
		if left <= 0 {
			return 0, fmt.Errorf("%w: %s has %d rows", ErrTableFull, table, b.used.Total[table])
		}
		rows = int(min(int64(rows), left))
	}
	var hour outbox.Window
	for start, v := range b.used.Hour {
		if at.Before(freed(start)) {
			hour.Rows += v.Rows
			hour.Posts += v.Posts
		}
	}
	if b.limits.RowsAnHour > 0 {
		rows = min(rows, max(0, b.limits.RowsAnHour-hour.Rows))
	}
	if at.Before(b.next()) || b.limits.PostsAnHour > 0 && b.large() && hour.Posts >= b.limits.PostsAnHour {
		rows = 0
	}
	return rows, nil
}

// when is the earliest time, from now on, at which n rows may be posted to the
// table together.
func (b *budget) when(table string, n int, now time.Time) (time.Time, error) {
	times := []time.Time{now, b.next()}
	for start := range b.used.Hour {
		times = append(times, freed(start))
	}
	slices.SortFunc(times, time.Time.Compare)
	for _, t := range times {
		if t.Before(now) {
			continue
		}
		if rows, err := b.room(table, t); rows >= n || err != nil {
			return t, err
		}
	}
	return time.Time{}, fmt.Errorf("post: the sink's limits never allow %d rows of %s: %+v", n, table, b.limits)
}

// large reports whether a table is so large that posts are limited by the hour.
func (b *budget) large() bool {
	for _, rows := range b.used.Total {
		if rows >= int64(b.limits.LargeTable) {
			return true
		}
	}
	return b.limits.LargeTable == 0
}

// begin counts a post that is about to be sent, for the row that is saved before it.
func (b *budget) begin(batch, table string, rows int, now time.Time) {
	maps.DeleteFunc(b.used.Hour, func(start int64, _ outbox.Window) bool { return !now.Before(freed(start)) })
	b.count(now.Unix()/60, rows, 1)
	b.used.Total[table] += int64(rows)
	b.used.Batch, b.used.Table, b.used.Rows, b.used.PostAt = batch, table, rows, now
}

// end dates the post at the time of its answer, because the sink may have counted it as
// late as that. The table's count is reduced by rows that were certainly not added. The
// hour's count is reduced only if the sink did not look at them.
func (b *budget) end(added, looked bool, now time.Time) {
	if !looked {
		b.count(b.used.PostAt.Unix()/60, -b.used.Rows, 0)
	}
	if !added {
		b.used.Total[b.used.Table] -= int64(b.used.Rows)
	}
	b.used.PostAt = now
}

// found reduces the table's count by the rows of the open batch that the sink is
// not known to have. If the count is too small, the sink will refuse rows in the
// end. If it were too large, after some hours in which nothing could be posted, the
// table would accept nothing more.
func (b *budget) found(rows int) {
	b.used.Total[b.used.Table] -= int64(max(0, b.used.Rows-rows))
}
