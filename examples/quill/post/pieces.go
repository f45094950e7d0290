package post

import (
	"context"
	"errors"
	"time"

	"github.com/homeops/ddbpatterns/examples/quill/fact"
	"github.com/homeops/ddbpatterns/examples/quill/sink"
)

// provesNothing is how many rows may be refused alone, one after the other,
// before another row is posted to see whether the table accepts anything.
const provesNothing = 3

// entry is a row, and the key of its fact, contact or deal.
type entry struct {
	key      string
	row      fact.Row
	cut      int
	received time.Time // of a fact
}

func keysOf(entries []entry) []string {
	keys := make([]string, len(entries))
	for i, e := range entries {
		keys[i] = e.key
	}
	return keys
}

// pieces are rows for one table, and what to do after some of them are posted.
type pieces struct {
	table   string
	entries []entry

	added func(batch string, added []entry) error
	// lost settles rows that may have been added, and says whether to post them
	// again here.
	lost    func(lost []entry) (again bool, err error)
	refused func(e entry, err error)
}

// postAll posts rows in as few posts as the limits allow, and in smaller ones to
// find the rows that the sink refuses. It returns nil when each row is posted,
// settled after doubt, or left aside.
func (t *turn) postAll(ctx context.Context, p pieces) error {
	for len(p.entries) > 0 {
		n, err := t.fitting(ctx, p.table, len(p.entries))
		if errors.Is(err, ErrTableFull) {
			t.leaveTable(p.table, err)
			return nil
		}
		if err != nil {
			return err
		}
		some := p.entries[:n]
		batch := t.nextBatch()
		t.budget.used.Until = some[n-1].received
		err = t.send(ctx, p.table, batch, rowsOf(p.table, batch, some))
		_, unknown := errors.AsType[*sink.UnknownError](err)
		refusal, refused := errors.AsType[*refusedError](err)
		switch {
		case err == nil:
			err = t.took(p, batch, some)
		case unknown:
			var again bool
			if again, err = t.unknown(ctx, p, some, err); again {
				continue
			}
		case refused && n > 1:
			t.settled()
			t.size[p.table] = n / 2
			continue
		case refused:
			t.settled()
			if over := t.refusedAlone(&p, refusal.err); over {
				return nil
			}
			continue
		}
		if err != nil {
			return err
		}
		p.entries = p.entries[n:]
	}
	return nil
}

// fitting waits until some of the rows may be posted, and returns how many.
func (t *turn) fitting(ctx context.Context, table string, rows int) (int, error) {
	if size := t.size[table]; size > 0 {
		rows = min(rows, size)
	}
	for {
		if err := t.allow(ctx, table, 1); err != nil {
			return 0, err
		}
		room, err := t.budget.room(table, t.Clock.Now())
		if room > 0 || err != nil { // unless the clock went back
			return min(rows, room), err
		}
	}
}

// took counts rows that were added, and continues with larger posts.
func (t *turn) took(p pieces, batch string, some []entry) error {
	t.grow(p.table)
	delete(t.alone, p.table)
	delete(t.shut, p.table)
	cuts := 0
	for _, e := range some {
		cuts += e.cut
	}
	t.Tally.add(func(n *Counts) { n.Cut += cuts })
	if err := p.added(batch, some); err != nil {
		return err
	}
	t.settled()
	return nil
}

func (t *turn) grow(table string) {
	if size, ok := t.size[table]; ok && 2*size < window {
		t.size[table] = 2 * size
	} else {
		delete(t.size, table)
	}
}

// unknown settles rows that may have been added, and says whether to post them again
// here.
func (t *turn) unknown(ctx context.Context, p pieces, some []entry, cause error) (again bool, err error) {
	if err := t.rest(ctx, 0, cause); err != nil {
		return false, err
	}
	return p.lost(some)
}

// refusedAlone leaves the first row aside. After some refusals in a row it moves
// the last row to the front: if the sink refuses that one as well, the whole table
// is left aside, and the pieces are over. So neither one bad row nor many
// neighbouring ones count as a table that accepts nothing.
func (t *turn) refusedAlone(p *pieces, err error) (over bool) {
	p.refused(p.entries[0], err)
	p.entries = p.entries[1:]
	t.alone[p.table]++
	switch n := len(p.entries); {
	case t.alone[p.table] > provesNothing:
		delete(t.alone, p.table)
		t.leaveTable(p.table, err)
		return true
	case t.alone[p.table] == provesNothing && n > 1:
		p.entries = append([]entry{p.entries[n-1]}, p.entries[:n-1]...)
	default:
		t.grow(p.table)
	}
	return false
}

// rowsOf returns the rows of a post. Rows of facts have its batch.
func rowsOf(table, batch string, entries []entry) []fact.Row {
	rows := make([]fact.Row, len(entries))
	for i, e := range entries {
		if holdsFacts(table) {
			e.row["batch"] = batch
		}
		rows[i] = e.row
	}
	return rows
}
