//go:build unix && !solaris && !aix

package engine

import (
	"os"
	"syscall"
)

// lockFile keeps other processes from using the file. The lock ends with the
// process.
func lockFile(file *os.File) (release func() error, err error) {
	fd := int(file.Fd())
	if err := syscall.Flock(fd, syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return nil, err
	}
	return func() error { return syscall.Flock(fd, syscall.LOCK_UN) }, nil
}
