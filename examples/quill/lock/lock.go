//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

// Package lock keeps a file or directory for one process.
package lock

import (
	"errors"
	"os"
	"syscall"
)

// File keeps other processes from the file until it is closed, or the process
// ends.
func File(f *os.File) error {
	err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return errors.New("another process has it open")
	}
	return err
}
