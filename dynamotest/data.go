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
// their records, and the tokens of transactions. It grows with every write. When
// more than half of the file is obsolete, the server compacts it in the
// background, or at the next start: the server writes a new file without the
// obsolete part to FILE.compacting, and then renames the new file to FILE. A
// symbolic link to the file stays a link. If FILE.compacting exists and was not
// left by a crash, OpenServer returns an error and does not touch
// FILE.compacting.
//
// Every write ends in a line with a checksum, and the server begins the next
// line only when this line is on disk. So when OpenServer finds bytes after the
// last whole line, they are either torn or damaged:
//
//   - A last line is torn if it lacks its end: the process was killed, or the disk
//     was full. It is also torn if a whole sector of 512 bytes in it is zeros: the
//     power failed. A torn line was never acknowledged, so OpenServer cuts it off.
//     OpenServer logs the number of bytes that it cut, because the file looks the
//     same if another program truncated it, or if the disk lost its last sectors.
//     If the last line lacks only its newline, or has another byte in place of the
//     newline, OpenServer keeps the line and repairs it.
//   - Everything else is damage, even one wrong byte in the last line. Then
//     OpenServer returns an error and does not change the file. The error names
//     the damaged line and the byte where the line begins. If you truncate the
//     file at that byte, it opens without the damaged line and the lines after it.
//
// OpenServer also returns an error if the file has the format of a later
// version.
//
// If a write finds the disk full or failing, or the file moved or removed, the
// server answers that write and every later request with InternalServerError,
// because its memory may now hold writes that the file lacks. When the file is
// opened again, all acknowledged writes are there.
//
// Only one server at a time can use the file, in this process or in another.
// [Server.Close] frees the file for the next server.
func OpenServer(file string, cfg *Config) (*Server, error) {
	if cfg != nil && cfg.From != nil {
		return nil, errors.New("dynamotest: Config.From and a data file exclude one another")
	}
	s := NewServer(cfg)
	if err := s.engine.OpenJournal(file); err != nil {
		return nil, fmt.Errorf("dynamotest: data file %s: %w", file, err)
	}
	s.file = file
	return s, nil
}

// Close closes the data file, if the server has one. The running requests are
// answered first. Later requests get the error ServerClosed, which clients do not
// retry. They change nothing that [Server.Dump] or a snapshot shows.
func (s *Server) Close() error {
	if err := s.engine.CloseJournal(); err != nil {
		return fmt.Errorf("dynamotest: data file %s: %w", s.file, err)
	}
	return nil
}
