package message

import (
	"errors"

	"github.com/homeops/ddbpatterns/internal/ddb"
)

// ErrReadAtMost is the last that a walk yields when it has read as many rows as
// its ReadAtMost allows and more may follow. A Page has a cursor instead.
var ErrReadAtMost = errors.New("message: as many rows were read as ReadAtMost allows")

func (s *Store) wrap(op string, err error) error { return ddb.Wrap(pkg, op, s.table, err) }
