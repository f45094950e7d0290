package post

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/homeops/ddbpatterns/examples/quill/outbox"
	"github.com/homeops/ddbpatterns/examples/quill/sink"
)

// ErrTableFull says that a table of the sink has as many rows as it allows.
var ErrTableFull = errors.New("post: the table is full")

// budget says how much the sink's limits still allow. The poster's row has the
// counts that all posters need, by minutes. A minute counts until all of it is an
// hour old, so that the sum is never less than that of the last hour. The limit of
// a single minute needs exact times, which only the holder of the lease has, for
// its own posts.
//
// Clocks of two holders may differ. If a post comes too early for that reason, the
// sink answers 429, and the poster waits.
type budget struct {
	limits sink.Limits
	used   outbox.Poster
	recent []time.Time // ends of this holder's posts in the last minute
	since  time.Time   // this holder posts no earlier
}

// newBudget is the budget of a new holder. It does not know how many posts came in
// the minute before the last one, so it waits until that minute is over. It dates a
// post that nobody settled at this moment, because it may have been sent until now.
func newBudget(limits sink.Limits, used outbox.Poster, now time.Time) *budget {
	b := &budget{limits: limits, used: used}
	if b.used.Hour == nil {
		b.used.Hour = map[int64]outbox.Minute{}
	}
	if b.used.Total == nil {
		b.used.Total = map[string]int64{}
	}
	for m, v := range b.used.Hour { // from a clock that is ahead of this one
		if m > minute(now) {
			b.move(m, minute(now), v)
		}
	}
	last := used.PostAt
	if used.Batch != "" && last.Before(now) {
		b.move(minute(last), minute(now), outbox.Minute{Rows: used.Rows, Posts: 1})
	}
	if used.Batch != "" || last.After(now) {
		last = now
	}
	if !last.IsZero() && limits.PostsAMinute > 0 {
		b.since = last.Add(time.Minute + time.Millisecond)
	}
	return b
}

func minute(t time.Time) int64 { return t.Unix() / 60 }

// freed is when the posts of a minute stop counting.
func freed(m int64) time.Time { return time.Unix((m+1)*60, 0).Add(time.Hour) }

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
	var hour outbox.Minute
	for m, v := range b.used.Hour {
		if at.Before(freed(m)) {
			hour.Rows += v.Rows
			hour.Posts += v.Posts
		}
	}
	if b.limits.RowsAnHour > 0 {
		rows = min(rows, max(0, b.limits.RowsAnHour-hour.Rows))
	}
	if b.limits.PostsAnHour > 0 && b.large() && hour.Posts >= b.limits.PostsAnHour {
		rows = 0
	}
	if at.Before(b.since) || b.limits.PostsAMinute > 0 && b.lastMinute(at) >= b.limits.PostsAMinute {
		rows = 0
	}
	return rows, nil
}

// when is the earliest time, from now on, at which n rows may be posted to the
// table together.
func (b *budget) when(table string, n int, now time.Time) (time.Time, error) {
	times := []time.Time{now, b.since}
	for _, t := range b.recent {
		times = append(times, t.Add(time.Minute+time.Millisecond))
	}
	for m := range b.used.Hour {
		times = append(times, freed(m))
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

func (b *budget) lastMinute(at time.Time) int {
	n := 0
	for _, t := range b.recent {
		if at.Sub(t) <= time.Minute {
			n++
		}
	}
	return n
}

// begin counts a post that is about to be sent, for the row that is saved before it.
func (b *budget) begin(batch, table string, rows int, now time.Time) {
	for m := range b.used.Hour {
		if !now.Before(freed(m)) {
			delete(b.used.Hour, m)
		}
	}
	b.recent = slices.DeleteFunc(b.recent, func(t time.Time) bool { return now.Sub(t) > time.Minute })
	b.add(minute(now), outbox.Minute{Rows: rows, Posts: 1})
	b.used.Total[table] += int64(rows)
	b.used.Batch, b.used.Table, b.used.Rows, b.used.PostAt = batch, table, rows, now
}

// end counts the post at the time of its answer, because the sink may have counted
// it as late as that. The table's count is reduced by rows that were certainly not
// added. The hour's count is reduced only if the sink did not look at them.
func (b *budget) end(added, looked bool, now time.Time) {
	b.move(minute(b.used.PostAt), minute(now), outbox.Minute{Rows: b.used.Rows, Posts: 1})
	b.used.PostAt = now
	b.recent = append(b.recent, now)
	if !added {
		b.used.Total[b.used.Table] -= int64(b.used.Rows)
	}
	if !looked {
		b.add(minute(now), outbox.Minute{Rows: -b.used.Rows})
	}
}

// found reduces the table's count by the rows of the open batch that the sink is
// not known to have. If the count is too small, the sink will refuse rows in the
// end. If it were too large, after some hours in which nothing could be posted, the
// table would accept nothing more.
func (b *budget) found(rows int) {
	b.used.Total[b.used.Table] -= int64(max(0, b.used.Rows-rows))
}

func (b *budget) add(m int64, v outbox.Minute) {
	sum := b.used.Hour[m]
	b.used.Hour[m] = outbox.Minute{Rows: sum.Rows + v.Rows, Posts: sum.Posts + v.Posts}
}

func (b *budget) move(from, to int64, v outbox.Minute) {
	if from == to {
		return
	}
	b.add(from, outbox.Minute{Rows: -v.Rows, Posts: -v.Posts})
	if b.used.Hour[from] == (outbox.Minute{}) {
		delete(b.used.Hour, from)
	}
	b.add(to, v)
}
