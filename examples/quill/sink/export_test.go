package sink

// FileOn returns an empty File on the given file.
func FileOn(f file) *File { return &File{file: f} }
