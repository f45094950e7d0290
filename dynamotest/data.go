package dynamotest

import (
	"errors"
	"fmt"
)

// OpenServer returns a server that keeps what it holds in a file, which is made
// if it does not exist. No reply leaves before all that it tells of is on disk,
// so nothing that was acknowledged is lost when the process is killed or the
// power fails. Callers side by side share one fsync.
//
// The file has everything: tables with all their settings, items, streams with
// their records, the tokens of transactions. It grows with every write.
// When more than half of it is obsolete, it is rewritten in the background, or at the
// next start: a new file without that is written to FILE.compacting and renamed. A link to the file stays one. What has that name and
// was not left there by a crash stays where it is, and OpenServer refuses to open the
// file beside it.
//
// Every write ends in a line with a checksum, and the next line is begun when that
// is safe. So when the file is opened, what follows the last whole line is either
// torn or damaged:
//
//   - Torn is a last line without its end, as a killed process or a full disk leaves
//     it, and one of which a whole sector of 512 bytes is zeros, as the power leaves
//     it. Nobody was told that it was safe, and it is cut off. The log says how many
//     bytes that were: when something else has cut the file short, or a disk has
//     lost its last sectors, it looks the same. A last line that lacks only its
//     newline, or has another byte there, is kept and mended.
//   - Everything else is damaged, one wrong byte in the last line included. The file
//     is refused and left as it is. The error names the line and the byte where it
//     begins; cut off there, the file opens without that line and what follows it.
//
// A file of a later version is refused too.
//
// When the disk is full or fails, or the file no longer has its name, because it was
// moved or removed, the write that met it and every request after it are answered
// with InternalServerError, for memory then has what the file may lack. What was
// acknowledged is there when the file is opened again.
//
// One server uses the file at a time, in whichever process; [Server.Close] ends
// that.
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

// Close closes the data file of a server that has one, when the requests that are
// under way are answered. Later ones are refused with the error ServerClosed, which
// clients do not retry, and change nothing that [Server.Dump] or a snapshot shows.
func (s *Server) Close() error {
	if err := s.engine.CloseJournal(); err != nil {
		return fmt.Errorf("dynamotest: data file %s: %w", s.file, err)
	}
	return nil
}
