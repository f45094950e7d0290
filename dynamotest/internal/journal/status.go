package journal

// This file is for tests. It is not an export_test.go, because the tests of owners
// use it, too: they must know that a flush or a compaction is under way, to commit
// in the middle of it.

// A Status says what a journal is doing.
type Status struct {
	Size                          int64  // of the file
	Waiting                       int    // pieces of entries that are not flushed
	Appended                      uint64 // entries so far
	Flushing, Compacting, Closing bool
}

// Status returns what the journal is doing.
func (j *Journal) Status() Status {
	closing := !j.running.TryRLock()
	if !closing {
		j.running.RUnlock()
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	return Status{j.size, len(j.entries), j.appended, j.flushing, j.compacting, closing}
}

// WaitCompacted waits for a compaction that is under way.
func (j *Journal) WaitCompacted() {
	j.mu.Lock()
	defer j.mu.Unlock()
	for j.compacting {
		j.changed.Wait()
	}
}
