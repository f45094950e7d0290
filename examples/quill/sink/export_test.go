package sink

// FileOn returns a File on the given file.
func FileOn(f file) *File { return newFile(f) }
