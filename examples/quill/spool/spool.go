// Package spool keeps requests in files until they can be stored.
//
// An entry is a file, written and synced under a name that Open erases, and then
// renamed. So a process that dies leaves a whole entry or none. An entry is erased
// only after it is settled. If the process dies between the two, or the disk forgets
// the erasure, the entry comes again: settling must be safe to repeat.
//
// The files have personal data. Nobody else may read them: their mode is 0600.
package spool

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/homeops/ddbpatterns/examples/quill/lock"
)

// Most is how many bytes of files a directory may have.
const Most = 256 << 20

// These are the ends of names.
const (
	whole      = ".json"
	unfinished = ".tmp"
	unreadable = ".unreadable"
)

// ErrFull is the error of Put if the directory has no room.
var ErrFull = errors.New("spool: the directory is full")

// Entry is a request that was accepted.
type Entry struct {
	ReceivedAt time.Time `json:"receivedAt"`
	Body       []byte    `json:"body"` // base64, because a body may not be UTF-8
}

// Spool is a directory of entries. It is safe for concurrent use, except that only
// one goroutine may call Each.
type Spool struct {
	path string
	dir  *os.File // locked, and synced after each new name
	most int64

	mu    sync.Mutex
	bytes int64  // of all files, including those that Put is writing
	from  string // where Each begins

	settled map[string]int64 // sizes of the files that Each could not erase
}

// Open opens the directory for this process, and makes it if it does not exist. Its
// parent must exist, because nobody would make the names of more directories last.
// What another process has not finished is erased: nobody was told that it is kept.
func Open(path string, most int64) (*Spool, error) {
	if err := os.Mkdir(path, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	dir, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	s := &Spool{path: path, dir: dir, most: most, settled: map[string]int64{}}
	if err = lock.File(dir); err == nil { // before anything is erased
		err = errors.Join(syncParent(path), s.clean())
	}
	if err != nil {
		return nil, fmt.Errorf("spool: %s: %w", path, errors.Join(err, dir.Close()))
	}
	return s, nil
}

// syncParent makes the directory's own name last.
func syncParent(path string) error {
	parent, err := os.Open(filepath.Dir(filepath.Clean(path)))
	if err != nil {
		return err
	}
	return errors.Join(parent.Sync(), parent.Close())
}

// clean erases what is unfinished, and counts the bytes of the other files.
func (s *Spool) clean() error {
	files, err := os.ReadDir(s.path)
	if err != nil {
		return err
	}
	for _, file := range files {
		if strings.HasSuffix(file.Name(), unfinished) {
			if err := os.Remove(filepath.Join(s.path, file.Name())); err != nil {
				return err
			}
			continue
		}
		info, err := file.Info()
		if err != nil {
			return err
		}
		s.bytes += info.Size()
	}
	return nil
}

// Close gives the directory to another process.
func (s *Spool) Close() error { return s.dir.Close() }

// Put keeps the entry. When it returns nil, the entry is on the disk.
func (s *Spool) Put(e Entry) error {
	text, err := json.Marshal(e)
	if err != nil {
		return err
	}
	size := int64(len(text))
	if !s.reserve(size) {
		return ErrFull
	}
	gone, err := s.write(e, text)
	if gone {
		s.reserve(-size)
	}
	return err
}

// reserve reports whether so many more bytes are allowed, and counts them then.
func (s *Spool) reserve(size int64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.bytes+size > s.most {
		return false
	}
	s.bytes += size
	return true
}

// write reports whether the file is gone after an error: Each may have settled and
// erased it meanwhile.
func (s *Spool) write(e Entry, text []byte) (gone bool, _ error) {
	file, err := os.CreateTemp(s.path, fmt.Sprintf("%020d-*%s", e.ReceivedAt.UnixNano(), unfinished)) // mode 0600
	if err != nil {
		return true, err
	}
	temporary := file.Name()
	final := strings.TrimSuffix(temporary, unfinished) + whole
	_, err = file.Write(text)
	err = errors.Join(err, file.Sync(), file.Close())
	if err == nil {
		err = os.Rename(temporary, final)
	}
	if err == nil {
		err = s.dir.Sync()
	}
	if err != nil { // one of the two names exists
		gone = os.Remove(temporary) == nil || os.Remove(final) == nil
	}
	return gone, err
}

// Each calls settle for the entries, the oldest first, and erases those for which
// it returns true. It stops at the first other one, and begins after that one the
// next time, so that an entry that can never be settled holds up no other. A file
// that is not an entry is set aside, and Each returns an error for it. It also returns one
// for a settled file that it cannot erase, but only once, and does not settle it again.
func (s *Spool) Each(settle func(Entry) bool) error {
	names, err := s.names()
	if err != nil {
		return err
	}
	stays := s.stays()
	for name, size := range stays {
		if !slices.Contains(names, name) { // somebody else erased it
			_ = s.erase(name, size)
		}
	}
	at, _ := slices.BinarySearch(names, s.from)
	s.from = ""
	var errs []error
	for _, name := range slices.Concat(names[at:], names[:at]) {
		if size, ok := stays[name]; ok {
			errs = append(errs, s.erase(name, size))
			continue
		}
		path := filepath.Join(s.path, name)
		text, err := os.ReadFile(path)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		var e Entry
		if err := json.Unmarshal(text, &e); err != nil || e.ReceivedAt.IsZero() {
			errs = append(errs, fmt.Errorf("spool: %s is not an entry, and is renamed to *%s", path, unreadable), os.Rename(path, path+unreadable))
			continue
		}
		if !settle(e) {
			s.from = name + "\x00" // sorts right after the name
			break
		}
		errs = append(errs, s.erase(name, int64(len(text))))
	}
	return errors.Join(errs...)
}

// erase erases a settled file. If it cannot, it returns the error the first time.
func (s *Spool) erase(name string, size int64) error {
	err := os.Remove(filepath.Join(s.path, name))
	s.mu.Lock()
	defer s.mu.Unlock()
	_, told := s.settled[name]
	switch {
	case err == nil || errors.Is(err, fs.ErrNotExist):
		delete(s.settled, name)
		s.bytes -= size
		return nil
	case told:
		return nil
	}
	s.settled[name] = size
	return fmt.Errorf("spool: a settled entry stays, and is settled again by the next process: %w", err)
}

// stays returns the settled files that could not be erased, with their sizes.
func (s *Spool) stays() map[string]int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.settled)
}

// Len returns how many entries wait.
func (s *Spool) Len() (int, error) {
	names, err := s.names()
	stays := s.stays()
	names = slices.DeleteFunc(names, func(name string) bool { _, ok := stays[name]; return ok })
	return len(names), err
}

// names returns the files of entries, the oldest first.
func (s *Spool) names() (names []string, err error) {
	files, err := os.ReadDir(s.path) // sorted
	for _, file := range files {
		if strings.HasSuffix(file.Name(), whole) {
			names = append(names, file.Name())
		}
	}
	return names, err
}
