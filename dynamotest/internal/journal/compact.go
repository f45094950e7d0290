package journal

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
)

// Compacting replaces the file by one that has the present state and nothing
// older:
//
//  1. A flush takes a snapshot together with its entries: the file up to there
//     and the snapshot describe the same state.
//  2. The snapshot is written to a new file, and that is synced. Meanwhile the
//     writers go on with the old file.
//  3. Between two flushes, the lines that came meanwhile are copied behind the
//     snapshot, with their numbers there; the new file is synced, takes the name of the old one, and the
//     folder is synced. Only then the next line is written, to the new file.
//
// The file of that name always has everything that was acknowledged, whenever
// the process dies. Until the new file has the name, its failures are only
// logged, because the old file is whole. What is left of the new file is removed
// at the next start.

// compactFrom is the least growth of a file before it is compacted, in bytes.
const compactFrom = 1 << 20

func (j *Journal) temporary() string { return j.path + ".compacting" }

// removeLeft removes the file that an interrupted compaction has left. Such a
// file begins with the first line of a journal, or with the part of it, or the
// zeros, that a crash kept. Any other file belongs to somebody else.
func (j *Journal) removeLeft() error {
	head, err := j.disk.Head(j.temporary(), Sector)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if begun := string(head); err == nil && !blank(head) && !strings.HasPrefix(begun, journalName) && !strings.HasPrefix(journalName, begun) {
		err = errors.New("not a data file of dynamotest")
	}
	if err != nil {
		return fmt.Errorf("%s is in the way of the next file: %w", j.temporary(), err)
	}
	return j.disk.Remove(j.temporary())
}

// due reports whether the file has doubled since compacting was last considered.
// The caller owns the flushing.
func (j *Journal) due() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return !j.compacting && j.size >= 2*j.checked+j.from
}

// A snapshot is what a new file begins with.
type snapshot struct {
	write func(out *Lines)
	size  int64 // of the file that has the same state
	lines int   // of that file
	told  int64 // the weight of that file
	live  int64 // the weight of the snapshot
}

// compaction returns the snapshot for a new file. It is nil if half of the old
// file or more is about the present state. Nothing else uses the owner
// meanwhile.
func (j *Journal) compaction() *snapshot {
	j.checked = j.size
	s := &snapshot{live: j.owner.Weight()}
	j.mu.Lock()
	s.told = j.told
	j.mu.Unlock()
	if s.told < 2*s.live {
		return nil
	}
	s.write = j.owner.Snapshot()
	return s
}

// compactAtStart compacts a file that has just been read, if it is due, and
// always if it has an older version.
func (j *Journal) compactAtStart(version int) error {
	old := version < journalFormat
	if !old && !j.due() {
		return nil
	}

	s := j.compaction()
	if s == nil && !old {
		return nil
	}

	if s == nil {
		s = &snapshot{write: j.owner.Snapshot(), told: j.told, live: j.owner.Weight()}
	}

	s.size, s.lines = j.size, j.lines
	if err := j.rewrite(s); err != nil && old {
		return fmt.Errorf("bringing it from format %d to %d: %w", version, journalFormat, err)
	} else if err != nil {
		j.complain(err)
	}

	return j.err
}

// compact runs beside the writers.
func (j *Journal) compact(s *snapshot) {
	err := j.rewrite(s)
	j.mu.Lock()
	defer j.mu.Unlock()
	if err != nil {
		j.complain(err)
	}
	j.compacting = false
	j.changed.Broadcast()
}

func (j *Journal) complain(err error) {
	j.log.Warn("dynamotest: the data file was not compacted", "file", j.path, "error", err)
}

// rewrite returns the error that left the old file in its place.
func (j *Journal) rewrite(s *snapshot) error {
	next, err := j.disk.Create(j.temporary(), j.file)
	if err != nil {
		return err
	}

	err = j.disk.Lock(next)
	var out *Lines
	if err == nil {
		out, err = writeFile(next, s.write)
	}

	if err == nil {
		err = next.Sync() // now, because nobody waits for it
	}

	if err == nil {
		err = j.replace(next, out, s)
	}

	if err != nil {
		return errors.Join(err, next.Close(), j.disk.Remove(j.temporary()))
	}
	return nil
}

// replace puts the next file in the place of the existing one.
func (j *Journal) replace(next File, out *Lines, s *snapshot) error {
	if err := j.own(); err != nil {
		return err
	}
	defer j.disown()
	// A line may have come in since the snapshot was taken.
	err := out.copy(io.NewSectionReader(j.file, s.size, j.size-s.size), s.lines, j.lines)
	if err == nil {
		err = next.Sync()
	}

	if err == nil {
		err = j.disk.Named(j.path, j.file) // otherwise another file could be overwritten
	}

	if err == nil {
		err = j.disk.Rename(j.temporary(), j.path)
	}

	if err != nil {
		// The old file must still have the name, because the next lines go to
		// it.
		if lost := j.disk.Named(j.path, j.file); lost != nil {
			j.fail(lost)
		}
		return err
	}

	old := j.file
	j.file, j.size, j.checked, j.lines = next, out.size, out.size, out.number
	_ = old.Close() // nothing was written since it was synced
	// Until the folder is synced, a crash may leave either file under the name.
	if err := j.disk.SyncFolder(j.path); err != nil {
		j.fail(err)
	}

	j.mu.Lock()
	defer j.mu.Unlock()
	j.told += s.live - s.told
	return nil
}

// fail is broken for a caller without the mutex.
func (j *Journal) fail(err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.broken(err)
}

// own waits until nobody flushes, and keeps others from flushing.
func (j *Journal) own() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	for j.flushing {
		j.changed.Wait()
	}
	j.flushing = j.err == nil
	return j.err
}

func (j *Journal) disown() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.flushing = false
	j.changed.Broadcast()
}

// WriteFile writes a file with the entries of a snapshot, and returns its size.
func WriteFile(file io.Writer, write func(out *Lines)) (int64, error) {
	out, err := writeFile(file, write)
	return out.size, err
}

func writeFile(file io.Writer, write func(out *Lines)) (*Lines, error) {
	out := &Lines{to: bufio.NewWriterSize(file, 1<<20)}
	out.raw([]byte(header(journalFormat)))
	write(out)
	out.flush()
	return out, out.end()
}
