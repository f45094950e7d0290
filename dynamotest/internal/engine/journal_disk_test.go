package engine

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"

	"github.com/homeops/ddbpatterns/dynamotest/internal/journal"
)

// A model is a disk that fails at one operation, and knows what a crash may
// leave: everything synced, and any part of the rest.
type model struct {
	mu    sync.Mutex // guards what follows, and every inode
	names map[string]*inode
	kept  map[string]*inode // the names that are safe

	operations int
	renames    int
	failAt     int           // the operation that fails; 0: no operation
	hold       chan struct{} // a compaction begins when it receives; nil lets it go
	power      bool          // the power ends with it: all later operations fail, too
}

type inode struct {
	data, safe []byte
	// A sync failed: the bytes that it should have made safe, from some byte on,
	// do not become safe until they are written again.
	poisoned bool
	lost     int
	locked   bool
}

var errDisk = errors.New("the disk failed")

func newModel() *model { return &model{names: map[string]*inode{}, kept: map[string]*inode{}} }

// step counts an operation and reports whether it fails. The caller holds the
// mutex.
func (m *model) step() error {
	m.operations++
	if m.failAt != 0 && (m.operations == m.failAt || m.power && m.operations > m.failAt) {
		return errDisk
	}
	return nil
}

func (m *model) Open(path string) (journal.File, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.step(); err != nil {
		return nil, err
	}
	if m.names[path] == nil {
		m.names[path] = &inode{}
	}
	return &modelFile{model: m, inode: m.names[path]}, nil
}

func (m *model) Create(path string, _ journal.File) (journal.File, error) {
	if m.hold != nil {
		<-m.hold
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.step(); err != nil {
		return nil, err
	}
	if m.names[path] != nil {
		return nil, fs.ErrExist
	}
	m.names[path] = &inode{}
	return &modelFile{model: m, inode: m.names[path]}, nil
}

func (m *model) Resolve(path string) (string, error) { return path, nil }

func (m *model) Lock(file journal.File) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	f := file.(*modelFile)
	if f.inode.locked && !f.locks {
		return journal.ErrInUse
	}
	f.inode.locked, f.locks = true, true
	return nil
}

func (m *model) Named(path string, file journal.File) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.names[path] != file.(*modelFile).inode {
		return journal.ErrMoved
	}
	return nil
}

func (m *model) Rename(from, to string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.step(); err != nil {
		return err
	}
	m.renames++
	m.names[to] = m.names[from]
	delete(m.names, from)
	return nil
}

func (m *model) Head(path string, n int64) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.step(); err != nil {
		return nil, err
	}
	node := m.names[path]
	if node == nil {
		return nil, fs.ErrNotExist
	}
	return bytes.Clone(node.data[:min(n, int64(len(node.data)))]), nil
}

func (m *model) Remove(path string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.step(); err != nil {
		return err
	}
	delete(m.names, path)
	return nil
}

func (m *model) SyncFolder(string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.step(); err != nil {
		return err
	}
	m.kept = maps.Clone(m.names)
	return nil
}

// An image is what a crash may leave of a disk.
type image struct {
	names bool // unsynced names are left
	data  dataImage
}

type dataImage int

// The part of the unsynced bytes that is left.
const (
	nothing dataImage = iota
	everything
	aPart
	sectors       // some, in any order; the others are as they were, or zeros
	sectorsOfPart // and the file is shorter
	dataImages
)

func images() (all []image) {
	for data := range dataImages {
		all = append(all, image{false, data}, image{true, data})
	}
	return all
}

// sum is equal for disks with the same names and bytes.
func (m *model) sum() [sha256.Size]byte {
	var all []byte
	for _, name := range slices.Sorted(maps.Keys(m.names)) {
		all = fmt.Appendf(all, "%q %d ", name, len(m.names[name].data))
		all = append(all, m.names[name].data...)
	}
	return sha256.Sum256(all)
}

// crash returns the disk as it is after a crash.
func (m *model) crash(img image, draw *rand.Rand) *model {
	m.mu.Lock()
	defer m.mu.Unlock()
	names := m.kept
	if img.names {
		names = m.names
	}
	out := newModel()
	for name, node := range names {
		data := node.after(img.data, draw)
		out.names[name] = &inode{data: data, safe: append([]byte(nil), data...)}
	}
	out.kept = maps.Clone(out.names)
	return out
}

// restarted returns the disk as the next process finds it if this one is killed:
// it reads everything that was written, safe or not.
func (m *model) restarted() *model {
	m.mu.Lock()
	defer m.mu.Unlock()
	out := newModel()
	nodes := map[*inode]*inode{}
	again := func(names map[string]*inode) map[string]*inode {
		found := map[string]*inode{}
		for name, node := range names {
			if nodes[node] == nil {
				nodes[node] = &inode{data: bytes.Clone(node.data), safe: bytes.Clone(node.safe), poisoned: node.poisoned, lost: node.lost}
			}
			found[name] = nodes[node]
		}
		return found
	}
	out.names, out.kept = again(m.names), again(m.kept)
	return out
}

func (n *inode) after(img dataImage, draw *rand.Rand) []byte {
	out, grown := bytes.Clone(n.data), len(n.data)-len(n.safe)
	if img == aPart || img == sectorsOfPart {
		out = out[:len(out)-draw.IntN(max(grown, 0)+1)]
	}
	switch img {
	case nothing:
		return bytes.Clone(n.safe)
	case sectors, sectorsOfPart:
		for start := 0; start < len(out); start += journal.Sector {
			if draw.IntN(2) == 0 {
				part := out[start:min(start+journal.Sector, len(out))]
				clear(part[copy(part, n.safe[min(start, len(n.safe)):]):])
			}
		}
	}
	return out
}

// A modelFile is an open file.
type modelFile struct {
	*model
	*inode
	at    int64
	locks bool
}

func (f *modelFile) Read(p []byte) (int, error) {
	n, err := f.ReadAt(p, f.at)
	f.at += int64(n)
	if n > 0 {
		err = nil
	}
	return n, err
}

func (f *modelFile) ReadAt(p []byte, at int64) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if at >= int64(len(f.data)) {
		return 0, io.EOF
	}
	n := copy(p, f.data[at:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// Write writes one half if it fails.
func (f *modelFile) Write(p []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	err := f.step()
	if err != nil {
		p = p[:len(p)/2]
	}
	after := f.data[min(int(f.at)+len(p), len(f.data)):]
	f.data = bytes.Join([][]byte{f.data[:f.at], p, after}, nil)
	f.poisoned = f.poisoned && int(f.at) > f.lost
	f.at += int64(len(p))
	return len(p), err
}

func (f *modelFile) Seek(offset int64, whence int) (int64, error) {
	if whence != io.SeekStart {
		return 0, errors.New("only from the start")
	}
	f.at = offset
	return offset, nil
}

func (f *modelFile) Truncate(size int64) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.step(); err != nil {
		return err
	}
	f.data = f.data[:size:size]
	return nil
}

func (f *modelFile) Sync() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.step(); err != nil {
		if !f.poisoned {
			f.poisoned, f.lost = true, len(f.safe)
		}
		return err
	}
	if !f.poisoned {
		f.safe = append([]byte(nil), f.data...)
	}
	return nil
}

func (f *modelFile) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.locks {
		f.inode.locked = false
	}
	return nil
}
