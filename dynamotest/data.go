package dynamotest

import (
	"errors"
	"fmt"
)

// OpenServer returns a server that keeps what it holds in a file, which is made
// if it does not exist. No reply leaves before all that it tells of is on disk,
// so nothing that was acknowledged is lost when the process is killed or the
// power fails; a line that was torn by that is cut off when the file is opened
// the next time. A file that is damaged elsewhere is refused.
//
// The file only grows. [Server.Dump] and [Server.Load] into a new one shrink it.
// One process uses it at a time; [Server.Close] ends that.
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

// Close closes the data file of a server that has one. Later requests fail.
func (s *Server) Close() error {
	if err := s.engine.CloseJournal(); err != nil {
		return fmt.Errorf("dynamotest: data file %s: %w", s.file, err)
	}
	return nil
}
