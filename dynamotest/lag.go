package dynamotest

import "fmt"

// HoldIndex freezes a global index: until release is called, queries and scans
// of the index see the state at the time of the call, even if the table changes.
// In DynamoDB, a global index is usually consistent with its table, but not
// always. Code that relies on that fails under HoldIndex. A second HoldIndex of
// the same index freezes the state at the second call; calling either release
// ends both holds.
//
// With [Config].IndexLag, the frozen state is already behind the table by the
// lag. After the release, the index follows the clock again. It shows a state
// earlier than the frozen state only if the clock goes back. A release frees
// only the index that was held: if that index was deleted and made again, or if
// [Server.Restore] replaced it, the release does nothing.
func (s *Server) HoldIndex(table, index string) (release func(), err error) {
	if index == "" {
		return nil, fmt.Errorf("dynamotest: HoldIndex of table %q: index is empty: give the name of a global index", table)
	}
	return s.hold(table, index)
}

// HoldReads is [Server.HoldIndex] for the eventually consistent reads of a
// table and of its local indexes, including PartiQL's reads: until release is
// called, these reads see the state at the time of the call. The lag of these
// reads is [Config].ReadLag. Reads with ConsistentRead, transactions and
// conditions see the current state.
func (s *Server) HoldReads(table string) (release func(), err error) { return s.hold(table, "") }

func (s *Server) hold(table, index string) (release func(), err error) {
	release, err = s.engine.Hold(table, index)
	if err != nil {
		return nil, fmt.Errorf("dynamotest: hold of table %q, index %q: %w", table, index, err)
	}
	return release, nil
}
