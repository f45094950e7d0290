package post

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"unicode/utf16"

	"github.com/homeops/ddbpatterns/examples/quill/fact"
	"github.com/homeops/ddbpatterns/examples/quill/outbox"
	"github.com/homeops/ddbpatterns/examples/quill/queue"
	"github.com/homeops/ddbpatterns/examples/quill/sink"
	"github.com/homeops/ddbpatterns/ledger"
)

// marks is how many facts are marked between two checks of the lease.
const marks = 1000

// late is at the end of a batch's name in facts that its poster marked after it had
// lost its lease.
const late = " late"

// next returns the facts of a table that are to be posted, the oldest first. It
// reads as many as fit into one post, and one more for each fact that was left
// aside by itself. It adds to left what is left aside now. A table that is left
// aside is not read.
func (t *turn) next(ctx context.Context, table string, left *LeftError) ([]outbox.Stored, error) {
	if t.isShut(table, left) {
		return nil, nil
	}
	t.facts.over(t.Clock.Now())
	pending, err := t.Outbox.Pending(ctx, table, t.window()+len(t.facts))
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(pending, func(f outbox.Stored) bool {
		err := t.why(f)
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

// why says why the fact is left aside.
func (t *turn) why(f outbox.Stored) error {
	err := errors.Join(t.facts[f.Key].err, t.shut[f.Table].err)
	if f.Dimension != nil {
		err = errors.Join(err, t.shut[f.Dimension.Table].err)
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
		if err := t.group(ctx, table, facts); err != nil {
			return nil, false, err
		}
	}
	return left, over, nil
}

// group posts what facts of the table disclosed, and then the facts, or leaves them
// aside.
func (t *turn) group(ctx context.Context, table string, facts []outbox.Stored) error {
	if err := t.dimensions(ctx, facts); err != nil {
		return err
	}
	var entries []entry
	columns, limits := columnsOf(table), t.budget.limits
	for _, f := range facts {
		if t.why(f) != nil { // its contact or deal was refused
			continue
		}
		row := maps.Clone(f.Row)
		if row == nil {
			row = fact.Row{}
		}
		row["key"], row["at"], row["receivedAt"] = f.Key, fact.Time(f.At), fact.Time(f.ReceivedAt)
		entries = append(entries, entry{key: f.Key, row: row, cut: fit(row, columns, limits), received: f.ReceivedAt})
	}
	return t.postAll(ctx, pieces{
		table: table, entries: entries,
		added:   func(batch string, added []entry) error { return t.posted(ctx, batch, keysOf(added)) },
		lost:    func([]entry) (bool, error) { return false, t.find(ctx) },
		refused: func(e entry, err error) { t.leaveFact(e.key, table, err) },
	})
}

// posted marks and counts facts that the sink accepted.
func (t *turn) posted(ctx context.Context, batch string, keys []string) error {
	ctx, cancel := linger(ctx)
	defer cancel()
	done, err := t.mark(ctx, batch, keys)
	if errors.Is(err, ledger.ErrLeaseLost) {
		return cmp.Or(t.tooLate(ctx, batch, keys), err)
	}
	if err != nil {
		return err
	}
	t.count(func(s *outbox.Sums) {
		s.Posted += done.Marked
		s.Doubled += inOther(done, "")
	})
	return nil
}

// tooLate marks and counts facts that were posted, perhaps after the lease was lost.
// Facts that the successor found in the batch are the successor's to count.
func (t *turn) tooLate(ctx context.Context, batch string, keys []string) error {
	done, err := t.Outbox.MarkPosted(ctx, batch+late, keys)
	sums := outbox.Sums{Posted: done.Marked, Doubled: inOther(done, batch)}
	if sums == (outbox.Sums{}) {
		return err
	}
	t.Log.Warn("a post ended after its lease", "batch", batch, "marked", sums.Posted, "doubled", sums.Doubled)
	return cmp.Or(t.Outbox.SaveLate(ctx, batch, sums), err)
}

// inOther is how many facts were marked in a batch other than this one.
func inOther(done queue.Done, batch string) (n int) {
	for name, facts := range done.Already {
		if name != batch {
			n += facts
		}
	}
	return n
}

// mark marks facts as posted, and keeps the lease meanwhile.
func (t *turn) mark(ctx context.Context, batch string, keys []string) (all queue.Done, _ error) {
	all.Already = map[string]int{}
	for some := range slices.Chunk(keys, marks) {
		if err := t.keep(ctx); err != nil {
			return all, err
		}
		done, err := t.Outbox.MarkPosted(ctx, batch, some)
		all.Marked += done.Marked
		for name, n := range done.Already {
			all.Already[name] += n
		}
		if err != nil {
			return all, err
		}
	}
	return all, nil
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
