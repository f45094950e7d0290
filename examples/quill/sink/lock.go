//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package sink

import (
	"errors"
	"os"
	"syscall"
)

// lock keeps other processes from the file until it is closed, or the process
// ends.
func lock(f *os.File) error {
	err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return errors.New("another process has it open")
	}
	return err
}
