package engine

import (
	"bufio"
	"io"
	"sync"

	"github.com/homeops/ddbpatterns/dynamotest/internal/api"
)

// A Snapshot is the state of an engine at one time. It shares with the engine
// everything that neither has changed since, so taking one costs almost
// nothing.
type Snapshot struct {
	mu    sync.Mutex // guards what follows: cloning a tree counts as a write
	state state
}

// Snapshot returns the engine's present state.
func (e *Engine) Snapshot() *Snapshot {
	e.mu.Lock()
	defer e.mu.Unlock()
	return &Snapshot{state: e.state.clone()}
}

// Restore sets the engine to the state of a snapshot, its own or that of
// another engine. The snapshot can be used again.
func (e *Engine) Restore(s *Snapshot) {
	s.mu.Lock()
	restored := s.state.clone()
	s.mu.Unlock()
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.journal != nil {
		panic("dynamotest: Restore: the server keeps a data file, which cannot go back")
	}
	e.state = restored
	for name := range e.tables {
		e.throughput.ForgetTable(name)
	}
}

// A dump is a list of JSON objects, one a line:
//
//	{"Table":{…},"TimeToLive":"…"}     a table, as CreateTable takes it
//	{"Item":{…}}                       an item of the table last named
//	{"Item":{…},"Unindexed":true}      an item that is older than an index, and
//	                                   does not fit its key
//
// Items are in the order of their keys. DynamoDB's own exports in its JSON
// consist of item lines only.

// Dump writes the snapshot's tables and their items.
func (s *Snapshot) Dump(w io.Writer) error {
	out := bufio.NewWriter(w)
	s.mu.Lock()
	defer s.mu.Unlock()

	for _, t := range s.state.sorted() {
		line := api.Writer{Buf: append(t.definition(), '\n')}
		for _, rec := range t.items.Ascend("") {
			if _, err := out.Write(line.Buf); err != nil {
				return err
			}
			line.Buf = line.Buf[:0]
			line.Element(func() {
				line.Item("Item", rec.item)
				if checkIndexes(t.indexes, rec.item) != nil {
					line.Bool("Unindexed", true)
				}
			})
			line.Buf = append(line.Buf, '\n')
		}

		if _, err := out.Write(line.Buf); err != nil {
			return err
		}
	}
	return out.Flush()
}

// definition returns the line of a table.
func (t *table) definition() []byte {
	var w api.Writer
	w.Element(func() {
		w.Object("Table", func() { t.def.Define(&w, t.stream.View()) })
		if t.def.TTL != "" {
			w.Text("TimeToLive", t.def.TTL)
		}
		if t.def.Backups {
			w.Object("PointInTimeRecovery", func() { w.Int("RecoveryPeriodInDays", t.def.BackupDays) })
		}
	})
	return w.Buf
}
