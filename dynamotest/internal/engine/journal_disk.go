package engine

import (
	"errors"
	"io"
	"io/fs"
	"os"
)

// A disk is where journals are. Tests put one in its place that fails, or loses
// its power.
type disk interface {
	// open opens a file to read and write, which is made if it does not exist.
	open(path string) (dataFile, error)

	// create makes an empty file, with the permissions of another.
	create(path string, like dataFile) (dataFile, error)

	// lock keeps other processes from using an open file until it is closed, and
	// sees that the path still is that file's.
	lock(path string, file dataFile) error

	rename(from, to string) error

	// remove removes a file if there is one.
	remove(path string) error

	// syncFolder makes the names in a file's folder safe.
	syncFolder(path string) error
}

type dataFile interface {
	io.ReadWriteSeeker
	io.ReaderAt
	io.Closer
	Truncate(size int64) error
	Sync() error
}

type osDisk struct{}

type osFile struct{ *os.File }

func (osDisk) open(path string) (dataFile, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	return osFile{file}, err
}

func (osDisk) create(path string, like dataFile) (dataFile, error) {
	info, err := like.(osFile).Stat()
	if err != nil {
		return nil, err
	}
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_TRUNC, info.Mode().Perm())
	return osFile{file}, err
}

var errReplaced = errors.New("the file was replaced while it was opened")

func (osDisk) lock(path string, file dataFile) error {
	opened := file.(osFile)
	if err := lockFile(opened.File); err != nil {
		return err
	}
	info, err := opened.Stat()
	if err != nil {
		return err
	}
	// A process that compacted the file meanwhile holds another one.
	if named, err := os.Stat(path); err != nil || !os.SameFile(info, named) {
		return errors.Join(errReplaced, err)
	}
	return nil
}

// Close ends the lock too, also where a process that is just being started has
// inherited the file.
func (f osFile) Close() error { return errors.Join(unlockFile(f.File), f.File.Close()) }

func (osDisk) rename(from, to string) error { return os.Rename(from, to) }

func (osDisk) remove(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

func (osDisk) syncFolder(path string) error { return syncFolder(path) }
