package explore

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"time"
)

// look reads the tables, and reports whether they have changed.
func (w *world) look() bool {
	var dump bytes.Buffer
	if err := w.server.Dump(&dump); err != nil {
		panic(err)
	}

	now := sum(dump.Bytes())
	if now == w.tables {
		return false
	}

	if w.trace != nil {
		w.trace.change(w.dump, dump.Bytes())
	}

	w.dump, w.tables = dump.Bytes(), now
	if w.cfg.Faults.OldReads > 0 {
		w.versions = append(w.versions, version{w.server.Snapshot(), now})
	}

	return true
}

// check asks what must always hold.
func (w *world) check() {
	if w.wrong == nil && w.schedule.always != nil {
		w.wrong = w.schedule.always(&View{w})
	}
}

// state is the hash of all that the rest of the schedule depends on, and the part of
// each caller in it.
func (w *world) state() (hash, []hash) {
	w.mu.Lock()
	defer w.mu.Unlock()
	var b bytes.Buffer
	fmt.Fprintf(&b, "%x %d %v %q %v ", w.tables, time.Now().UnixNano(), w.used, w.notes, w.effects)

	var callers []hash
	for _, c := range w.schedule.callers {
		one := fmt.Appendf(nil, "%x %d %v %d ", c.heard, c.offset, c.lives(), c.received)
		for _, q := range w.open {
			if q.process == c.life {
				if q.begins {
					one = fmt.Append(one, w.beginners)
				}
				one = fmt.Appendf(one, "%s%s %s %s %d;", q.Op, q.effect, q.Body, q.heard, q.born.UnixNano())
			}
		}
		callers = append(callers, sum(one))
		b.Write(callers[len(callers)-1][:])
	}

	for _, l := range w.later {
		fmt.Fprintf(&b, " %d %s %s %d;", l.costs, l.Op, l.Body, l.born.UnixNano())
	}

	for _, token := range w.tokens {
		b.WriteString(token)
	}

	for _, v := range w.versions {
		b.Write(v.hash[:])
	}

	if w.cfg.Moves > 0 {
		fmt.Fprint(&b, w.instants)
	}
	return sum(b.Bytes()), callers
}

// moments returns the times to which time may move, after now.
func (w *world) moments() []time.Time {
	var all []time.Time
	near := func(at time.Time) {
		for _, then := range []time.Time{at.Add(-time.Millisecond), at.Add(time.Second)} {
			if then.After(time.Now()) && !slices.ContainsFunc(all, then.Equal) {
				all = append(all, then)
			}
		}
	}

	for _, from := range w.instants {
		for _, d := range w.cfg.Moments {
			near(from.Add(d))
		}
	}

	table, header := "", []byte(`{"Table"`)
	for line := range bytes.Lines(w.dump) {
		if w.ttl[table] == "" && !bytes.HasPrefix(line, header) {
			continue
		}

		var entry struct {
			Table struct{ TableName string }
			Item  map[string]struct{ N string }
		}

		_ = json.Unmarshal(line, &entry) // attributes of other types do not matter
		if entry.Table.TableName != "" {
			table = entry.Table.TableName
		}

		if seconds, err := strconv.ParseInt(entry.Item[w.ttl[table]].N, 10, 64); err == nil {
			near(time.Unix(seconds, 0))
		}
	}

	slices.SortFunc(all, time.Time.Compare)
	return all
}
