package journal

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// A Disk holds journals. Tests replace it by one that fails, or loses power.
type Disk interface {
	// Open opens a file to read and write. It makes the file if it does not
	// exist.
	Open(path string) (File, error)

	// Resolve returns a path of a file that stays valid when links and the
	// working folder change.
	Resolve(path string) (string, error)

	// Create makes an empty file, with the permissions of another. It fails if
	// the name is taken.
	Create(path string, like File) (File, error)

	// Lock keeps other processes from using an open file until it is closed.
	Lock(file File) error

	// Named returns an error if a path is no longer that of an open file.
	Named(path string, file File) error

	Rename(from, to string) error

	// Head returns the first bytes of a file, at most n.
	Head(path string, n int64) ([]byte, error)

	// Remove removes a file if it exists.
	Remove(path string) error

	// SyncFolder makes the names in a file's folder safe.
	SyncFolder(path string) error
}

// A File is an open data file.
type File interface {
	io.ReadWriteSeeker
	io.ReaderAt
	io.Closer
	Truncate(size int64) error
	Sync() error
}

type osDisk struct{}

type osFile struct{ *os.File }

func (osDisk) Open(path string) (File, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("not a regular file")
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return osFile{file}, nil
}

func (osDisk) Resolve(path string) (string, error) {
	path, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "", err
	}
	return filepath.Abs(path)
}

func (d osDisk) Create(path string, like File) (File, error) {
	info, err := like.(osFile).Stat()
	if err != nil {
		return nil, err
	}
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	if err := permit(file, info.Mode().Perm()); err != nil {
		return nil, errors.Join(err, file.Close(), d.Remove(path))
	}
	return osFile{file}, nil
}

// permit gives a file these permissions, regardless of the process's mask. It changes
// only those that differ: a file system that cannot set permissions refuses Chmod, but
// has the same ones for all files.
func permit(file *os.File, mode fs.FileMode) error {
	info, err := file.Stat()
	if err != nil || info.Mode().Perm() == mode {
		return err
	}
	return file.Chmod(mode)
}

var (
	ErrInUse = errors.New("another process uses it, or a server of this one that is not closed")
	ErrMoved = errors.New("it was moved, removed or replaced while it was open")
)

func (osDisk) Lock(file File) error {
	err := lockFile(file.(osFile).File)
	if err != nil && !errors.Is(err, ErrInUse) {
		return fmt.Errorf("it cannot be locked: %w", err)
	}
	return err
}

func (osDisk) Named(path string, file File) error {
	opened, err := file.(osFile).Stat()
	if err != nil {
		return err
	}
	if named, err := os.Stat(path); err != nil || !os.SameFile(opened, named) {
		return errors.Join(ErrMoved, err)
	}
	return nil
}

// Close also ends the lock, even if a process that is just being started has
// inherited the file.
func (f osFile) Close() error { return errors.Join(unlockFile(f.File), f.File.Close()) }

func (osDisk) Rename(from, to string) error { return os.Rename(from, to) }

// Head does not follow links, because the user who made a link wants to keep
// the file behind it.
func (osDisk) Head(path string, n int64) ([]byte, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("not a regular file")
	}

	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}

	head, err := io.ReadAll(io.LimitReader(file, n))
	return head, errors.Join(err, file.Close())
}

func (osDisk) Remove(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

func (osDisk) SyncFolder(path string) error { return syncFolder(path) }
