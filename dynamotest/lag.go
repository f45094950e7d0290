package dynamotest

import "fmt"

// HoldIndex freezes a global index: until release is called, its queries and
// scans see it as they do now, whatever happens to the table. Consistency is not
// promised of global indexes, and mostly seen; code that counts on it fails
// here. Held again, it is frozen as of then; one release ends both.
//
// With [Config].IndexLag that is what the lag shows now, and the index follows
// the clock again when it is released: what was seen is never lost from sight.
// A release concerns nothing that was made under the same name, or restored,
// since.
func (s *Server) HoldIndex(table, index string) (release func(), err error) {
	if index == "" {
		return nil, fmt.Errorf("dynamotest: hold: no index named")
	}
	return s.hold(table, index)
}

// HoldReads freezes in the same way what eventually consistent reads, PartiQL's
// included, see of a table and of its local indexes. Reads with ConsistentRead,
// transactions and conditions see what is there.
func (s *Server) HoldReads(table string) (release func(), err error) { return s.hold(table, "") }

func (s *Server) hold(table, index string) (release func(), err error) {
	release, err = s.engine.Hold(table, index)
	if err != nil {
		return nil, fmt.Errorf("dynamotest: hold: %w", err)
	}
	return release, nil
}
