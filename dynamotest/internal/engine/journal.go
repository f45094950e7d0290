package engine

import (
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/homeops/ddbpatterns/dynamotest/internal/api"
)

// A journal is a file that only grows. After a line that names the format it
// has one line for each time it was flushed:
//
//	1c291ca3 [{"At":1774785600000000000,"Op":"CreateTable","Request":{…}},
//	          {"At":…,"Changes":[{"Table":"orders","Put":{…}},{"Table":"orders","Delete":{…}}]},
//	          {"At":…,"Token":"…","Payload":"…"}]
//
// The checksum is that of the rest of the line. What is committed under one
// lock stands in one line, so that half a transaction is never read back, and a
// line is begun only when the one before it is safe: a torn line is the last.
type journal struct {
	file    *os.File
	release func() error // of the lock on the file

	mu       sync.Mutex // guards what follows; taken after the engine's
	flushed  sync.Cond  // broadcast after every flush
	entries  []byte     // appended and not flushed, each followed by a comma
	appended uint64
	safe     uint64 // how many of the appended entries will survive a crash
	flushing bool
	err      error // sticky: the file lacks what memory has
}

const journalFormat = "dynamotest journal 1\n"

var (
	castagnoli = crc32.MakeTable(crc32.Castagnoli)
	errClosed  = errors.New("the data file is closed")
)

// OpenJournal makes the engine, which must be empty and not yet used, hold what
// the file has, and keep it up from now on: no reply leaves before all that it
// tells of is safe. A file that does not exist is begun.
func (e *Engine) OpenJournal(path string) error {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	j := &journal{file: file}
	j.flushed.L = &j.mu
	if j.release, err = lockFile(file); err != nil {
		return errors.Join(fmt.Errorf("another process uses it: %w", err), file.Close())
	}
	if err := e.reopen(j); err != nil {
		return errors.Join(err, j.release(), file.Close())
	}
	// The name of a new file is not safe before its folder is.
	if folder, err := os.Open(filepath.Dir(path)); err == nil {
		_ = folder.Sync() // not every system can
		_ = folder.Close()
	}
	e.journal, e.tokens.journal = j, j
	return nil
}

// CloseJournal makes what was acknowledged safe, which it is already, and closes
// the file. Every later request fails.
func (e *Engine) CloseJournal() error {
	j := e.journal
	if j == nil {
		return nil
	}
	err := e.settle()
	j.mu.Lock()
	defer j.mu.Unlock()
	if errors.Is(j.err, errClosed) {
		return nil
	}
	j.err = errClosed
	return errors.Join(err, j.release(), j.file.Close())
}

// append adds an entry. The engine's mutex is held for writing.
func (j *journal) append(at time.Time, members func(w *api.Writer)) {
	if j == nil {
		return
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	w := api.Writer{Buf: j.entries}
	w.Buf = append(w.Buf, `{"At":`...)
	w.Buf = fmt.Appendf(w.Buf, "%d", at.UnixNano())
	members(&w)
	w.Buf = append(w.Buf, "},"...)
	j.entries = w.Buf
	j.appended++
}

// settle waits until all that is committed so far is safe. Whoever comes first
// flushes for those who come meanwhile.
func (e *Engine) settle() error {
	j := e.journal
	if j == nil {
		return nil
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	until := j.appended
	for j.safe < until && j.err == nil {
		if j.flushing {
			j.flushed.Wait()
			continue
		}
		j.flushing = true
		j.mu.Unlock()
		upto, err := e.flush(j)
		j.mu.Lock()
		j.flushing, j.err = false, errors.Join(j.err, err)
		if err == nil {
			j.safe = upto
		}
		j.flushed.Broadcast()
	}
	return j.err
}

// flush writes one line. Nobody is in the middle of a commit when it takes the
// entries.
func (e *Engine) flush(j *journal) (upto uint64, err error) {
	e.mu.RLock()
	j.mu.Lock()
	entries, upto := j.entries, j.appended
	j.entries = nil
	j.mu.Unlock()
	e.mu.RUnlock()
	if len(entries) == 0 {
		return upto, nil
	}
	entries[len(entries)-1] = ']'
	sum := crc32.Update(crc32.Checksum([]byte("["), castagnoli), castagnoli, entries)
	line := fmt.Appendf(make([]byte, 0, len(entries)+16), "%08x [", sum)
	line = append(append(line, entries...), '\n')
	if _, err := j.file.Write(line); err != nil {
		return 0, err
	}
	return upto, j.file.Sync()
}

// logChanges appends what a commit did.
func (e *Engine) logChanges(changes []*change) {
	e.journal.append(e.now(), func(w *api.Writer) {
		expired := false
		w.Array("Changes", func() {
			for _, c := range changes {
				expired = expired || c.expired
				w.Element(func() {
					w.Text("Table", c.table.name)
					if c.new != nil {
						w.Item("Put", c.new.item)
					} else if c.old != nil {
						w.Item("Delete", c.table.key.pick(c.old.item))
					}
				})
			}
		})
		if expired {
			w.Bool("Expired", true)
		}
	})
}

// logRequest appends a request that changed a table as a whole.
func (e *Engine) logRequest(call *Call) { e.logOperation(e.now(), call.Operation, call.body) }

func (e *Engine) logOperation(at time.Time, name string, body []byte) {
	e.journal.append(at, func(w *api.Writer) {
		w.Text("Op", name)
		w.Text("Request", string(body)) // as it came, with whatever line breaks
	})
}

// logToken appends that a token was spent.
func (j *journal) logToken(token string, payload api.Fingerprint, now time.Time) {
	j.append(now, func(w *api.Writer) {
		w.Text("Token", token)
		w.Text("Payload", fmt.Sprintf("%x", payload))
	})
}

// logLoaded appends the making of a table that was loaded whole.
func (e *Engine) logLoaded(t *table) {
	if e.journal == nil {
		return
	}
	create, enable := t.requests()
	for _, request := range create {
		e.logOperation(t.created, request.operation, request.body)
	}
	for key, rec := range t.items.Ascend("") {
		e.logChanges([]*change{{table: t, key: key, new: rec}})
	}
	if enable != nil { // what is loaded is no change
		e.logOperation(e.now(), "UpdateTable", enable)
	}
}
