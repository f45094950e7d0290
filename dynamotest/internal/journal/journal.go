// Package journal keeps in a file what an owner has in memory. Nothing that was
// acknowledged is lost.
//
//	j, err := journal.Open(path, journal.Options{}, owner) // the owner redoes the entries of the file
//	end, err := j.Begin()                                 // before anything that may commit
//	j.Append(weight, entry)                               // with the commit
//	err = j.Settle()                                      // before it is acknowledged
//	end()
//
// The file is a list of lines of entries. The owner defines the content of an
// entry.
package journal

import (
	"errors"
	"hash/crc32"
	"log/slog"
	"sync"
)

// A Journal is a file of lines. The first line names the format. Each flush
// adds one line:
//
//	1c291ca3 2 [{"At":1774785600000000000,"Op":"CreateTable","Request":{…}},
//	            {"At":…,"Changes":[{"Table":"orders","Put":{…}},{"Table":"orders","Delete":{…}}]},
//	            {"At":…,"Token":"…","Payload":"…"}]
//
// The checksum is that of the rest of the line, which begins with the line's
// number in the file, so that a line that is missing, or stands in another place,
// is noticed. What is committed under one lock stands in one line, so that half a transaction is never read back. A
// line is begun only when the line before it is safe, so only the last line can
// be torn.
//
// The file grows until most of its entries are outdated. Then a new file is
// begun with the present state, see compact.go.
type Journal struct {
	owner Owner

	disk Disk
	path string
	from int64 // its least growth before it is compacted
	log  *slog.Logger

	// These belong to the goroutine that opens the file and, later, to the one
	// that owns the flushing.
	file    File
	size    int64 // of the file
	lines   int   // of the file
	checked int64 // the size at which compacting was last considered

	running sync.RWMutex // held for reading by a caller that may commit, until its commit is safe

	mu         sync.Mutex // guards what follows; taken after the owner's
	changed    sync.Cond  // broadcast when the flushing or the compacting ends
	entries    [][]byte   // appended and not flushed, in pieces, each entry followed by a comma
	appended   uint64
	safe       uint64 // how many of the appended entries will survive a crash
	told       int64  // the weight of all entries of the file, see Owner
	flushing   bool
	compacting bool
	err        error // sticky: the file lacks something that memory has
}

const (
	journalName   = "dynamotest journal "
	journalFormat = 3 // 1 had no states of tables and streams

	numberedFrom = 3 // the format whose lines have numbers
)

var (
	castagnoli = crc32.MakeTable(crc32.Castagnoli)
	ErrClosed  = errors.New("the data file is closed")

	errPanicked = errors.New("writing it panicked")
)

// An Owner holds in memory the state that its journal records.
type Owner interface {
	// Redo applies the entries of a line, a JSON list, and returns their weight.
	Redo(entries []byte) (weight int64, err error)

	// Between calls f while no commit is under way. If alone is true, f runs alone,
	// to take a snapshot.
	Between(alone bool, f func())

	// Weight is the weight of a file with the present state only.
	Weight() int64

	// Snapshot returns a function that writes the state of now, even if the state
	// changes before it is called. Snapshot itself is called alone.
	Snapshot() func(out *Lines)
}

// Options configure a journal. The zero value works.
type Options struct {
	Disk        Disk         // defaults to the operating system's
	CompactFrom int64        // the least growth of a file before it is compacted, in bytes
	Log         *slog.Logger // defaults to slog.Default()
}

// Open reads the file into the owner, which must be empty and not yet used. A
// file that does not exist is begun.
func Open(path string, opt Options, o Owner) (*Journal, error) {
	if opt.Disk == nil {
		opt.Disk = osDisk{}
	}

	if opt.CompactFrom == 0 {
		opt.CompactFrom = compactFrom
	}

	if opt.Log == nil {
		opt.Log = slog.Default()
	}

	file, err := opt.Disk.Open(path)
	if err != nil {
		return nil, err
	}

	j := &Journal{owner: o, disk: opt.Disk, from: opt.CompactFrom, log: opt.Log, file: file}
	j.changed.L = &j.mu
	if err := j.openFile(path); err != nil {
		return nil, errors.Join(err, j.file.Close())
	}

	return j, nil
}

func (j *Journal) openFile(path string) (err error) {
	// Compacting replaces the file, not a link to it. The link may exist before
	// the file, so the path is resolved after the file was made.
	if j.path, err = j.disk.Resolve(path); err != nil {
		return err
	}
	if err := j.disk.Lock(j.file); err != nil {
		return err
	}
	// Another process may have compacted the file meanwhile: then its file has
	// the name.
	if err := j.disk.Named(j.path, j.file); err != nil {
		return err
	}

	version, err := j.reopen()
	if err != nil {
		return err
	}
	if err := j.removeLeft(); err != nil {
		return err
	}
	// The name of a new file is not safe until its folder is.
	if err := j.disk.SyncFolder(j.path); err != nil {
		return err
	}

	return j.compactAtStart(version)
}

// Close closes the file. Everything acknowledged is safe already. Nothing can
// begin any more.
func (j *Journal) Close() error {
	j.running.Lock()
	defer j.running.Unlock()
	err := j.Settle()
	if errors.Is(err, ErrClosed) {
		return nil
	}

	j.mu.Lock()
	defer j.mu.Unlock()
	for j.compacting || j.flushing {
		j.changed.Wait()
	}

	j.err = ErrClosed
	return errors.Join(err, j.file.Close())
}

// Begin is called before anything that may commit: a change that the file does
// not take must not take effect in memory either. The file is not closed before
// end is called.
func (j *Journal) Begin() (end func(), err error) {
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

// Append adds an entry of some weight, in pieces. The owner is in the middle of a
// commit, so it encodes large pieces beforehand.
func (j *Journal) Append(weight int64, pieces ...[]byte) {
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

// Settle waits until everything committed so far is safe. The first caller
// flushes for those that come meanwhile.
func (j *Journal) Settle() error {
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
		j.flushNow()
	}
	return j.err
}

// flushNow flushes, and releases the journal's mutex meanwhile.
func (j *Journal) flushNow() {
	upto, err := uint64(0), errPanicked
	j.flushing = true
	j.mu.Unlock()
	defer func() { // also after a panic, otherwise others would wait for ever
		j.mu.Lock()
		j.flushing = false
		if err != nil {
			j.broken(err)
		} else {
			j.safe = upto
		}
		j.changed.Broadcast()
	}()

	upto, err = j.flush()
}

// broken makes every request fail from now on. The caller holds the mutex.
func (j *Journal) broken(err error) {
	if j.err == nil {
		j.log.Error("dynamotest: the data file cannot be written: every request fails, reads too, until the server is opened again", "file", j.path, "error", err)
	}
	j.err = errors.Join(j.err, err)
}

// flush writes one line. After a failure nobody knows what the file has, so
// nothing is tried again: neither a later line behind a torn one, nor a later
// success of an fsync that failed once, would prove that the file is whole.
func (j *Journal) flush() (upto uint64, err error) {
	t := j.take()
	if len(t.entries) > 0 {
		n, err := writeLine(j.file, j.lines+1, t.entries...)
		if err != nil {
			return 0, err
		}
		if err := j.file.Sync(); err != nil {
			return 0, err
		}
		// A file that lost its name will not be found when the server is
		// opened.
		if err := j.disk.Named(j.path, j.file); err != nil {
			return 0, err
		}
		j.size, j.lines = j.size+int64(n), j.lines+1
	}

	if t.snapshot != nil {
		j.mu.Lock()
		j.compacting = true
		j.mu.Unlock()
		t.snapshot.size, t.snapshot.lines = j.size, j.lines
		go j.compact(t.snapshot)
	}
	return t.upto, nil
}

// A flush takes this over from the journal while nobody is in the middle of a
// commit.
type taken struct {
	entries  [][]byte
	upto     uint64
	snapshot *snapshot // includes the entries; nil unless compacting is due
}

func (j *Journal) take() (t taken) {
	due := j.due()
	j.owner.Between(due, func() {
		t = j.takeEntries()
		if due {
			t.snapshot = j.compaction()
		}
	})
	return t
}

func (j *Journal) takeEntries() taken {
	j.mu.Lock()
	defer j.mu.Unlock()
	t := taken{entries: j.entries, upto: j.appended}
	j.entries = nil
	return t
}
