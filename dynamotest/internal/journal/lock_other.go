//go:build !unix || solaris || aix

package journal

import "os"

// lockFile does nothing, because the standard library has no advisory locks for
// this system: the user must make sure that only one process uses the file.
func lockFile(*os.File) error { return nil }

func unlockFile(*os.File) error { return nil }

// syncFolder does nothing, because not every system can sync a folder.
func syncFolder(string) error { return nil }
