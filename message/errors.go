package message

import (
	"errors"

	"github.com/homeops/ddbpatterns/internal/ddb"
)

// ErrReadAtMost ends an InScope or a ByActor that has read as many rows as its
// ReadAtMost allows, if more rows may follow. InScopePage and ByActorPage
// return a Page with a cursor instead.
var ErrReadAtMost = errors.New("message: as many rows as ReadAtMost allows were read, and more may follow")

func (s *Store) wrap(op string, err error) error { return ddb.Wrap(pkg, op, s.table, err) }
