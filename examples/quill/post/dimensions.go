package post

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/homeops/ddbpatterns/examples/quill/fact"
	"github.com/homeops/ddbpatterns/examples/quill/outbox"
)

// learners is how many Learn requests run side by side.
const learners = 16

// validFrom is the column with the time from which a row of a dimension is valid.
// Under this name outbox.Known.At has the latest time of any row that may have
// been posted.
const validFrom = "validFrom"

// learned is what facts disclosed about one contact or deal: the rows that say so,
// and what is known after them.
type learned struct {
	base  outbox.Known // before them
	known outbox.Known
	rows  []fact.Row // none if all was known
	news  bool       // whether known must be written: a new time is news, too
}

// learn applies what facts disclose to what is known, in the order in which it
// happened, whatever order it came in. The latest change of each column wins. Of
// two changes at one time the first one that was applied wins; among these facts
// that is the one with the lesser key. So a fact that is applied again changes
// nothing.
//
// Each time at which something changed makes a row with all columns. The row is
// valid from then on, or from a millisecond after the row before it if that is
// later. A change of one column may arrive after a younger change of another
// column: it must still be in the last row, because the report shows that row.
func learn(known map[string]outbox.Known, facts []outbox.Stored) []*learned {
	facts = slices.DeleteFunc(slices.Clone(facts), func(f outbox.Stored) bool { return f.Dimension == nil })
	slices.SortFunc(facts, func(a, b outbox.Stored) int {
		return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.Key, b.Key))
	})
	var all []*learned
	byKey := map[string]*learned{}
	for i := 0; i < len(facts); {
		n := i + 1
		for n < len(facts) && facts[n].At.Equal(facts[i].At) {
			n++
		}
		var changed []*learned // at this time
		for _, f := range facts[i:n] {
			l := byKey[f.Dimension.Key]
			if l == nil {
				base := known[f.Dimension.Key]
				l = &learned{base: copyOf(base, *f.Dimension), known: copyOf(base, *f.Dimension)}
				byKey[f.Dimension.Key] = l
				all = append(all, l)
			}
			if l.apply(f.Dimension.Row, f.At) && !slices.Contains(changed, l) {
				changed = append(changed, l)
			}
		}
		for _, l := range changed {
			l.row(facts[i].At)
		}
		i = n
	}
	return all
}

func copyOf(k outbox.Known, d fact.Dimension) outbox.Known {
	c := outbox.Known{Key: d.Key, Table: d.Table, Row: fact.Row{}, At: map[string]time.Time{}}
	maps.Copy(c.Row, k.Row)
	maps.Copy(c.At, k.At)
	return c
}

// apply reports whether the change alters a column.
func (l *learned) apply(change fact.Row, at time.Time) bool {
	alters := false
	for column, value := range change {
		if last, ok := l.known.At[column]; ok && !at.After(last) {
			continue
		}
		l.known.At[column] = at
		l.news = true
		if old, ok := l.known.Row[column]; !ok || old != value {
			l.known.Row[column] = value
			alters = true
		}
	}
	return alters
}

func (l *learned) row(at time.Time) {
	if last, ok := l.known.At[validFrom]; ok && !at.After(last) {
		at = last.Add(time.Millisecond)
	}
	l.known.At[validFrom] = at
	row := maps.Clone(l.known.Row)
	row["key"], row[validFrom] = l.known.Key, fact.Time(at)
	l.rows = append(l.rows, row)
}

// dimensions posts what the facts disclosed, and writes down that it is known. The
// facts of a contact or a deal whose rows the sink refuses are left aside.
func (t *turn) dimensions(ctx context.Context, facts []outbox.Stored) error {
	known, err := t.Outbox.Known(ctx, dimensionKeys(facts))
	if err != nil {
		return err
	}
	all := slices.DeleteFunc(learn(known, facts), func(l *learned) bool { return !l.news })
	if err := t.reserve(ctx, all); err != nil {
		return err
	}
	refused := map[string]error{}
	for _, table := range dimensionTables(all) {
		if err := t.postDimension(ctx, table, all, refused); err != nil {
			return err
		}
	}
	for _, f := range facts {
		if f.Dimension != nil && refused[f.Dimension.Key] != nil {
			t.leaveFact(f.Key, f.Table, refused[f.Dimension.Key])
		}
	}
	all = slices.DeleteFunc(all, func(l *learned) bool {
		return refused[l.known.Key] != nil || t.shut[l.known.Table].err != nil
	})
	after := make([]outbox.Known, len(all))
	for i, l := range all {
		after[i] = l.known
	}
	return t.remember(ctx, after)
}

// reserve writes the last time of the rows that are about to be posted. If this
// poster crashes before it has written what they say, the rows of the next poster
// are later: it may know other facts, and two rows of one time would contradict
// each other.
func (t *turn) reserve(ctx context.Context, all []*learned) error {
	var before []outbox.Known
	for _, l := range all {
		if len(l.rows) > 0 {
			l.base.At[validFrom] = l.known.At[validFrom]
			before = append(before, l.base)
		}
	}
	return t.remember(ctx, before)
}

func (t *turn) postDimension(ctx context.Context, table string, all []*learned, refused map[string]error) error {
	var entries []entry
	columns := columnsOf(table)
	for _, l := range all {
		if l.known.Table != table {
			continue
		}
		for _, row := range l.rows {
			entries = append(entries, entry{key: l.known.Key, row: row, cut: fit(row, columns, t.budget.limits)})
		}
	}
	return t.postAll(ctx, pieces{
		table: table, entries: entries,
		added: func(_ string, added []entry) error {
			t.count(func(s *outbox.Sums) { s.DimensionRows += len(added) })
			return nil
		},
		lost: func(lost []entry) (bool, error) {
			t.budget.found(0)
			t.count(func(s *outbox.Sums) { s.RowsReposted += len(lost) })
			return true, nil
		},
		refused: func(e entry, err error) { refused[e.key] = err },
	})
}

// remember writes what is known now, some rows side by side. It keeps the lease
// meanwhile.
func (t *turn) remember(ctx context.Context, all []outbox.Known) error {
	for some := range slices.Chunk(all, marks) {
		if err := t.keep(ctx); err != nil {
			return err
		}
		group, ctx := errgroup.WithContext(ctx)
		group.SetLimit(learners)
		for _, k := range some {
			group.Go(func() error { return t.Outbox.Learn(ctx, t.claim.Fence, k) })
		}
		if err := group.Wait(); err != nil {
			return err
		}
	}
	return nil
}

func dimensionKeys(facts []outbox.Stored) []string {
	keys := map[string]bool{}
	for _, f := range facts {
		if f.Dimension != nil {
			keys[f.Dimension.Key] = true
		}
	}
	return slices.Sorted(maps.Keys(keys))
}

func dimensionTables(all []*learned) []string {
	tables := map[string]bool{}
	for _, l := range all {
		tables[l.known.Table] = true
	}
	return slices.Sorted(maps.Keys(tables))
}
