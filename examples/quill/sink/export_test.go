package sink

// FileOn is an empty File on another file than the system's.
func FileOn(f file) *File { return &File{file: f} }
