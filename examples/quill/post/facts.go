package post

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"
	"unicode/utf16"

	"github.com/homeops/ddbpatterns/examples/quill/fact"
	"github.com/homeops/ddbpatterns/examples/quill/outbox"
	"github.com/homeops/ddbpatterns/examples/quill/sink"
)

// marks is how many facts are marked between two checks of the lease.
const marks = 1000

// triedAgain is how many facts that were left aside are tried again between two
// reads of what is pending. Each of them is a post, and only two posts a minute may
// be allowed. When so many are refused again, the others wait for another turn.
const triedAgain = 10

// next returns the facts of a table that are to be posted, the oldest first. It
// reads as many as fit into one post, and one more for each fact that was left
// aside by itself. It adds to left what is left aside now. A table that is left
// aside is not read.
func (t *turn) next(ctx context.Context, table string, left *LeftError) ([]outbox.Stored, error) {
	now := t.Clock.Now()
	if t.isShut(table, now, left) {
		return nil, nil
	}
	t.facts.forget(now)
	pending, err := t.Outbox.Pending(ctx, table, t.window()+len(t.facts))
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(pending, func(f outbox.Stored) bool {
		err := t.why(f, now)
		if _, before := t.facts[f.Key]; before && err == nil && t.refusals >= triedAgain {
			err = t.facts.postpone(f.Key, now)
		}
		if err != nil {
			left.Facts, left.Err = left.Facts+1, err
		}
		return err != nil
	}), nil
}

// window is how many facts are read together.
func (t *turn) window() int {
	if rows := t.budget.limits.RowsAPost; rows > 0 {
		return min(rows, window)
	}
	return window
}

// why says why the fact is left aside at this time.
func (t *turn) why(f outbox.Stored, now time.Time) error {
	err := errors.Join(t.facts.why(f.Key, now), t.shut.why(f.Table, now))
	if f.Dimension != nil {
		err = errors.Join(err, t.shut.why(f.Dimension.Table, now))
	}
	return err
}

// pass posts one post for each table in turn, so that no table waits for the
// backlog of another. It is over when nothing was to be posted. Left says what is
// left aside.
func (t *turn) pass(ctx context.Context) (left *LeftError, over bool, _ error) {
	left, over = &LeftError{}, true
	for _, table := range fact.FactTables {
		facts, err := t.next(ctx, table, left)
		if err != nil {
			return nil, false, err
		}
		if len(facts) == 0 {
			continue
		}
		over = false
		if err := t.round(ctx, table, facts); err != nil {
			return nil, false, err
		}
	}
	return left, over, nil
}

// round posts the facts of a table, or leaves them aside. It posts all together,
// except facts that were left aside before, which it posts one by one.
func (t *turn) round(ctx context.Context, table string, facts []outbox.Stored) error {
	var together, alone []outbox.Stored
	for _, f := range facts {
		if _, before := t.facts[f.Key]; before {
			alone = append(alone, f)
		} else {
			together = append(together, f)
		}
	}
	if err := t.group(ctx, table, together, false); err != nil {
		return err
	}
	for _, f := range alone[:min(len(alone), triedAgain)] {
		if err := t.group(ctx, table, []outbox.Stored{f}, true); err != nil {
			return err
		}
	}
	return nil
}

// group posts what facts of the table disclosed, and then the facts.
func (t *turn) group(ctx context.Context, table string, facts []outbox.Stored, suspect bool) error {
	if err := t.dimensions(ctx, facts, suspect); err != nil {
		return err
	}
	now := t.Clock.Now()
	var entries []entry
	columns, limits := columnsOf(table), t.budget.limits
	for _, f := range facts {
		if t.why(f, now) != nil { // its contact or deal was refused
			continue
		}
		row := maps.Clone(f.Row)
		if row == nil {
			row = fact.Row{}
		}
		row["key"], row["at"], row["receivedAt"] = f.Key, fact.Time(f.At), fact.Time(f.ReceivedAt)
		entries = append(entries, entry{key: f.Key, row: row, cut: fit(row, columns, limits)})
	}
	return t.postAll(ctx, pieces{
		table: table, entries: entries, suspect: suspect,
		added: func(batch string, added []entry) error {
			ctx, cancel := linger(ctx)
			defer cancel()
			if err := t.mark(ctx, batch, keysOf(added)); err != nil {
				return err
			}
			t.Tally.add(func(n *Counts) { n.Posted += len(added) })
			for _, e := range added {
				delete(t.facts, e.key)
			}
			return nil
		},
		lost: func([]entry) (bool, error) { return false, t.find(ctx, t.budget.used.PostAt) },
		refused: func(e entry, err error) {
			t.leaveFact(e.key, table, err)
		},
	})
}

// mark marks facts as posted, and keeps the lease meanwhile.
func (t *turn) mark(ctx context.Context, batch string, keys []string) error {
	for some := range slices.Chunk(keys, marks) {
		if err := t.keep(ctx); err != nil {
			return err
		}
		if err := t.Outbox.MarkPosted(ctx, batch, some); err != nil {
			return err
		}
	}
	return nil
}

// fit makes the sink accept a row, and returns how many texts it cut: the outbox
// keeps the whole texts. A column that an event emptied is blank if it is not text.
func fit(row fact.Row, columns map[string]string, limits sink.Limits) int {
	cuts := 0
	for column, value := range row {
		text, ok := value.(string)
		if !ok {
			continue
		}
		if text == "" && columns[column] != fact.Text {
			delete(row, column)
		}
		if short, ok := cut(text, limits.TextUnits); ok {
			row[column] = short
			cuts++
		}
	}
	return cuts
}

// columnsOf returns the types of a table's columns, by name.
func columnsOf(table string) map[string]string {
	columns := map[string]string{}
	for _, t := range fact.Tables {
		if t.Name == table {
			for _, c := range t.Columns {
				columns[c.Name] = c.Type
			}
		}
	}
	return columns
}

// cut shortens the text to so many units of UTF-16, with an ellipsis for what
// is left out, and reports whether it did.
func cut(text string, units int) (string, bool) {
	if units <= 0 || len(text) <= units { // no text has more units than bytes
		return text, false
	}
	n, end := 0, 0 // the text before end and the ellipsis fit
	for i, r := range text {
		if n <= units-1 {
			end = i
		}
		if n += utf16.RuneLen(r); n > units {
			return text[:end] + "…", true
		}
	}
	return text, false
}
