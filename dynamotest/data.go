package dynamotest

import (
	"errors"
	"fmt"
)

// OpenServer returns a server that keeps its data in a file. It creates the
// file if necessary. The server sends a reply only when everything that the
// reply reports is on disk, so no acknowledged write is lost when the process
// is killed or the power fails. Concurrent callers share one fsync.
//
// The file holds the tables with all their settings, the items, the streams with
// their records, and the tokens of transactions. It grows with the writes. From
// a size of 1 MB on, the server checks now and then whether at least half of the
// file is obsolete. If so, the server compacts the file, in the background or at
// the next start: it writes a new file without the obsolete part to
// FILE.compacting, and then renames the new file to FILE. A symbolic link to the
// file stays a link. A crash may leave a FILE.compacting. OpenServer removes it if
// it is empty, begins like a data file, or has only zeros in its first 512 bytes.
// For any other FILE.compacting, OpenServer returns an error and does not touch
// it.
//
// Every write is part of a line with a checksum and the line's number, and the
// server begins a line only when the line before it is on disk. So a crash can
// leave only the last line incomplete. If OpenServer finds a line after the first
// that is not whole, or not in its place, one of these rules applies:
//
//   - If the last line lacks only its newline, or has another byte in place of
//     the newline, OpenServer repairs the line and keeps it.
//   - If the last line has no newline and is not whole without it, the process was
//     killed or the disk was full. If the part of the last line in some 512-byte
//     sector is all zeros, the power failed. In both cases, the line was never
//     acknowledged, so OpenServer cuts it off. OpenServer logs the number of bytes
//     that it cut, because a file that another program truncated, or whose last
//     sectors the disk lost, looks the same.
//   - Every other line that is not whole is damaged, even if only one byte in the
//     last line is wrong. So is a line whose number is not its place in the file,
//     because lines before it are missing or were moved. Then OpenServer returns an
//     error and does not change the file. The error names the damaged line and the
//     byte where the line begins.
//     If you truncate the file at that byte, it opens without the damaged line and
//     the lines after it. Only whole lines that are missing at the end leave no
//     trace.
//
// The first line names the format. OpenServer reads files of earlier formats,
// whose lines have no numbers, and rewrites them in the present one. If only a
// part of the first line exists and nothing follows, OpenServer begins the file
// anew. OpenServer returns an error if the first line is damaged or names the
// format of a later version.
//
// If a write finds the disk full or failing, or the file moved or removed, the
// server logs that. It answers that write and every later valid request, even a
// read, with InternalServerError, because its memory may hold writes that the file
// lacks. When the file is opened again, all acknowledged writes are there.
//
// Only one server at a time may use the file, in this process or in another.
// OpenServer returns an error for a second server, except on Windows, Solaris,
// AIX and other systems without flock. [Server.Close] frees the file for the
// next server.
func OpenServer(file string, cfg *Config) (*Server, error) {
	if cfg != nil && cfg.From != nil {
		return nil, errors.New("dynamotest: OpenServer: Config.From must be nil: fill the file with Server.Load")
	}
	s := NewServer(cfg)
	if err := s.engine.OpenJournal(file); err != nil {
		return nil, fmt.Errorf("dynamotest: data file %s: %w", file, err)
	}
	s.file = file
	return s, nil
}

// Close closes the data file. On a server without a data file, Close does
// nothing. The requests that the server is already performing finish before the
// file is closed. Later requests change nothing and get the error ServerClosed,
// which clients do not retry.
func (s *Server) Close() error {
	if err := s.engine.CloseJournal(); err != nil {
		return fmt.Errorf("dynamotest: data file %s: %w", s.file, err)
	}
	return nil
}
