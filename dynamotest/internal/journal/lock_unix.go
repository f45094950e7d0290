//go:build unix && !solaris && !aix

package journal

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
)

// lockFile keeps other processes from using the file. The lock ends with the
// process.
func lockFile(file *os.File) error {
	err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return ErrInUse
	}
	return err
}

func unlockFile(file *os.File) error { return syscall.Flock(int(file.Fd()), syscall.LOCK_UN) }

// syncFolder makes the names in a file's folder safe.
func syncFolder(path string) error {
	folder, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	err = folder.Sync()
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.ENOTSUP) {
		err = nil // not every file system can
	}
	return errors.Join(err, folder.Close())
}
