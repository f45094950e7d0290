package message

import "github.com/homeops/ddbpatterns/internal/ddb"

func (s *Store) wrap(op string, err error) error { return ddb.Wrap(pkg, op, s.table, err) }
