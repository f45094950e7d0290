package engine

import (
	"errors"
	"fmt"
	"hash/crc32"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/homeops/ddbpatterns/dynamotest/internal/api"
)

// A journal is a file of lines. After one that names the format it has one for
// each time it was flushed:
//
//	1c291ca3 [{"At":1774785600000000000,"Op":"CreateTable","Request":{…}},
//	          {"At":…,"Changes":[{"Table":"orders","Put":{…}},{"Table":"orders","Delete":{…}}]},
//	          {"At":…,"Token":"…","Payload":"…"}]
//
// The checksum is that of the rest of the line. What is committed under one
// lock stands in one line, so that half a transaction is never read back, and a
// line is begun only when the one before it is safe: a torn line is the last.
//
// The file grows until most of what it tells of is over; then a new one is
// begun with what there is, see journal_compact.go.
type journal struct {
	disk disk
	path string
	from int64 // how much it grows at least before it is compacted
	log  *slog.Logger

	// These belong to whoever opens the file or, later, owns the flushing.
	file    dataFile
	size    int64 // of the file
	checked int64 // the size at which compacting was last thought of

	running sync.RWMutex // held for reading by what may commit, until that is safe

	mu         sync.Mutex // guards what follows; taken after the engine's
	changed    sync.Cond  // broadcast when the flushing or the compacting ends
	entries    [][]byte   // appended and not flushed, in pieces, each entry followed by a comma
	appended   uint64
	safe       uint64 // how many of the appended entries will survive a crash
	told       int64  // weighs all that the file tells of, see weight
	flushing   bool
	compacting bool
	err        error // sticky: the file lacks what memory has
}

const (
	journalName   = "dynamotest journal "
	journalFormat = 2 // 1 had no states of tables and streams
)

var (
	castagnoli = crc32.MakeTable(crc32.Castagnoli)
	errClosed  = errors.New("the data file is closed")

	errPanicked = errors.New("writing it panicked")
)

// OpenJournal makes the engine, which must be empty and not yet used, hold what
// the file has, and keep it up from now on: no reply leaves before all that it
// tells of is safe. A file that does not exist is begun.
func (e *Engine) OpenJournal(path string) error {
	file, err := e.opt.disk.open(path)
	if err != nil {
		return err
	}
	j := &journal{disk: e.opt.disk, from: e.opt.compactFrom, log: e.opt.Log, file: file}
	j.changed.L = &j.mu
	if err := e.openJournal(j, path); err != nil {
		return errors.Join(err, j.file.Close())
	}
	e.journal, e.tokens.journal = j, j
	return nil
}

func (e *Engine) openJournal(j *journal, path string) (err error) {
	// The file is replaced, not a link to it, which may have been the first to
	// exist: so this comes after it was made.
	if j.path, err = j.disk.resolve(path); err != nil {
		return err
	}
	if err := j.disk.lock(j.file); err != nil {
		return err
	}
	// A process that compacted the file meanwhile holds another one.
	if err := j.disk.named(j.path, j.file); err != nil {
		return err
	}
	version, err := e.reopen(j)
	if err != nil {
		return err
	}
	if err := j.removeLeft(); err != nil {
		return err
	}
	// The name of a new file is not safe before its folder is.
	if err := j.disk.syncFolder(j.path); err != nil {
		return err
	}
	return e.compactAtStart(j, version)
}

// CloseJournal makes what was acknowledged safe, which it is already, and closes
// the file. Every later request fails.
func (e *Engine) CloseJournal() error {
	j := e.journal
	if j == nil {
		return nil
	}
	j.running.Lock()
	defer j.running.Unlock()
	err := e.settle()
	if errors.Is(err, errClosed) {
		return nil
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	for j.compacting || j.flushing {
		j.changed.Wait()
	}
	j.err = errClosed
	return errors.Join(err, j.file.Close())
}

// begin comes before anything that may commit: what the file does not take shall
// not take effect in memory either. The file is not closed before end is called.
func (e *Engine) begin() (end func(), err error) {
	j := e.journal
	if j == nil {
		return func() {}, nil
	}
	j.running.RLock()
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.err != nil {
		j.running.RUnlock()
		return nil, j.err
	}
	return j.running.RUnlock, nil
}

// append adds an entry of some weight, in pieces. The engine's mutex is held for
// writing, so what is large was encoded before.
func (j *journal) append(weight int64, pieces ...[]byte) {
	if j == nil {
		return
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.err != nil {
		return // nothing is flushed any more
	}
	j.entries = append(j.entries, pieces...)
	j.appended++
	j.told += weight
}

func appendEntry(entries []byte, at time.Time, members func(w *api.Writer)) []byte {
	w := api.Writer{Buf: appendStart(entries, at)}
	members(&w)
	return append(w.Buf, entryEnd...)
}

// appendStart begins an entry.
func appendStart(entries []byte, at time.Time) []byte {
	return appendTime(append(entries, `{"At":`...), at)
}

const entryEnd = "},"

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
			j.changed.Wait()
			continue
		}
		e.flushNow(j)
	}
	return j.err
}

// flushNow flushes, with the journal's mutex let go meanwhile.
func (e *Engine) flushNow(j *journal) {
	upto, err := uint64(0), errPanicked
	j.flushing = true
	j.mu.Unlock()
	defer func() { // also after a panic, or whoever waits would wait for ever
		j.mu.Lock()
		j.flushing, j.err = false, errors.Join(j.err, err)
		if err == nil {
			j.safe = upto
		}
		j.changed.Broadcast()
	}()
	upto, err = e.flush(j)
}

// flush writes one line. After a failure nobody knows what the file has, so
// nothing is tried again: a later line behind a torn one, or a later success of
// an fsync that failed once, would be no proof.
func (e *Engine) flush(j *journal) (upto uint64, err error) {
	t := e.take(j)
	if len(t.entries) > 0 {
		n, err := writeLine(j.file, t.entries...)
		if err != nil {
			return 0, err
		}
		if err := j.file.Sync(); err != nil {
			return 0, err
		}
		// A file without its name will not be found when the server is opened.
		if err := j.disk.named(j.path, j.file); err != nil {
			return 0, err
		}
		j.size += int64(n)
	}
	if t.snapshot != nil {
		j.mu.Lock()
		j.compacting = true
		j.mu.Unlock()
		t.snapshot.size = j.size
		go j.compact(t.snapshot)
	}
	return t.upto, nil
}

// What a flush takes over from the journal: nobody is in the middle of a commit.
type taken struct {
	entries  [][]byte
	upto     uint64
	snapshot *snapshot // with what the entries tell of, when compacting is due
}

func (e *Engine) take(j *journal) (t taken) {
	if !j.due() {
		e.mu.RLock()
		defer e.mu.RUnlock()
		return j.take()
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	t = j.take()
	t.snapshot = e.compaction(j)
	return t
}

func (j *journal) take() taken {
	j.mu.Lock()
	defer j.mu.Unlock()
	t := taken{entries: j.entries, upto: j.appended}
	j.entries = nil
	return t
}

// writeLine writes entries as one line.
func writeLine(w interface{ Write([]byte) (int, error) }, entries ...[]byte) (int, error) {
	const sum = "00000000" // until it is known
	size := len(sum) + len(" [\n")
	for _, piece := range entries {
		size += len(piece)
	}
	line := append(make([]byte, 0, size), sum+" ["...)
	for _, piece := range entries {
		line = append(line, piece...)
	}
	line[len(line)-1] = ']' // in the place of the last comma
	copy(line, fmt.Sprintf("%08x", crc32.Checksum(line[len(sum)+1:], castagnoli)))
	return w.Write(append(line, '\n'))
}

// What the file tells of is weighed by the bytes of items, more or less, so that
// it can be compared with what there is.
const entryWeight = 100

func weight(rec *record) int64 { return int64(entryWeight + sizeOf(rec)) }

// bodyWeight weighs the request or the definition of a table by its bytes.
func bodyWeight(bytes int) int64 { return int64(entryWeight + bytes) }

// logChanges appends what a commit did at a time.
func (e *Engine) logChanges(at time.Time, changes []*change) {
	// A delete of nothing and a check change nothing: there is nothing to keep.
	changes = slices.DeleteFunc(slices.Clone(changes), func(c *change) bool { return c.old == c.new })
	if len(changes) == 0 {
		return
	}
	total, expired := int64(0), false
	pieces := make([][]byte, 0, 2*len(changes)+1)
	before := append(appendStart(nil, at), `,"Changes":[`...)
	for _, c := range changes {
		if c.encoded == nil {
			c.encode()
		}
		pieces = append(pieces, before, c.encoded)
		before = []byte(",")
		total += weight(c.new)
		expired = expired || c.expired
	}
	end := "]" + entryEnd
	if expired {
		end = `],"Expired":true` + entryEnd
	}
	e.journal.append(total, append(pieces, []byte(end))...)
}

// encode writes what the journal tells of the change. Records never change, so it
// needs no lock.
func (c *change) encode() {
	var w api.Writer
	w.Element(func() { c.log(&w) })
	c.encoded = w.Buf
}

func (c *change) log(w *api.Writer) {
	w.Text("Table", c.table.name)
	if c.new != nil {
		w.Item("Put", c.new.item)
	} else if c.old != nil {
		w.Item("Delete", c.table.key.Pick(c.old.item))
	}
}

// encode writes the request for logRequest. It needs no lock.
func (c *Call) encode() {
	var w api.Writer
	w.Text("Op", c.Operation)
	w.Text("Request", string(c.body)) // as it came, with whatever line breaks
	c.encoded = w.Buf
}

// logRequest appends a request that changed a table as a whole.
func (e *Engine) logRequest(call *Call, at time.Time) {
	if e.journal != nil {
		e.journal.append(bodyWeight(len(call.body)), append(appendStart(nil, at), ','), call.encoded, []byte(entryEnd))
	}
}

// logToken appends that a token was spent.
func (j *journal) logToken(token string, payload api.Fingerprint, now time.Time) {
	j.append(weight(nil), appendEntry(nil, now, func(w *api.Writer) { writeSpent(w, token, payload) }))
}

func writeSpent(w *api.Writer, token string, payload api.Fingerprint) {
	w.Text("Token", token)
	w.Text("Payload", fmt.Sprintf("%x", payload))
}

// logLoaded appends a table that was loaded whole at a time.
func (e *Engine) logLoaded(t *table, at time.Time) {
	if e.journal == nil {
		return
	}
	e.journal.append(t.weight(), appendEntry(nil, t.created, t.writeState))
	for key, rec := range t.items.Ascend("") {
		e.logChanges(at, []*change{{table: t, key: key, new: rec}})
	}
	if t.stream.open() {
		e.journal.append(0, appendEntry(nil, t.stream.created, func(w *api.Writer) { t.stream.writeState(w, t) }))
	}
}
