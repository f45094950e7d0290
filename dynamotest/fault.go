package dynamotest

import (
	"fmt"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/dynamotest/internal/fault"
)

// Fault disturbs chosen requests.
//
// Op, Table, Index and Key say which requests match; those left empty match all.
// One item, statement or page in the request must have all that Table, Index and
// Key ask for. Of the requests that match, Nth, Times and Chance say which are
// disturbed. Attempts are counted, not calls: what the SDK sends again is a request
// of its own.
//
// Several faults may wait at once. This is how those that are due share a request:
//
//   - Delays add up.
//   - Of LoseRequest and LoseReply, the one injected first loses it.
//   - A request that arrives is answered by the one injected first of Throttle,
//     InternalError, Unavailable and Conflict. Its reply may still be lost.
//   - Entries and statements of a batch are refused only when the batch itself
//     gets through, each by one fault, the one injected first. A batch that is
//     invalid, or throttled as a whole, sends none back.
//   - A fault whose effect could not be observed does not fire, such as the delay of
//     the reply to a request that is lost.
//
// A fault that did nothing for one of these reasons stays due: the next request
// that matches meets it.
type Fault struct {
	// Do is what happens to the request.
	Do Effect

	// Op is the operation, such as "UpdateItem"; "" is any. One that a server of
	// this process does not have is refused.
	Op string

	// Table must be named by the request; "" is any. It may be the table's ARN. A
	// request to an index names its table, and so does one about its tags or its
	// stream.
	Table string

	// Index is the index that the request reads. Query, Scan and ExecuteStatement
	// read indexes; "" is any, and none. What holds writes back is an effect, see
	// [Throttling.ByIndex].
	Index string

	// Key holds attributes that the key of an item in the request must have: a
	// partition key alone is any item of the partition. A Query and a Scan name
	// no items. A PartiQL statement names the item that it inserts, or the key
	// attributes that its WHERE holds to one value each; one that reads an index
	// names none. Nil is any.
	Key map[string]types.AttributeValue

	// Nth is the first request disturbed, counting those that match from 1.
	// Defaults to 1.
	Nth int
	// Times is how many are disturbed, from the Nth on. Defaults to 1, with a
	// Chance to -1; -1 disturbs all that follow.
	Times int

	// Chance, unless 0, is the probability that a matching request from the Nth
	// on is disturbed. Seed decides the draws: the same requests meet the same
	// faults in every run.
	//
	// Each draw follows from Seed, the operation, the items that the request
	// names, and how often the fault has met these before. Other requests do not
	// matter. So callers side by side that name different items may come in any
	// order. Of requests that name the same items, or none, as a Scan does, the
	// first meets the first draw, and so on.
	Chance float64
	Seed   uint64
}

// String says what the fault is looking for.
func (f *Fault) String() string {
	rule, err := f.rule()
	if err != nil {
		return err.Error()
	}
	return rule.String()
}

// rule is the fault in the form of package fault.
func (f *Fault) rule() (fault.Fault, error) {
	rule := fault.Fault{Op: f.Op, Table: f.Table, Index: f.Index, Nth: f.Nth, Times: f.Times, Chance: f.Chance, Seed: f.Seed}
	if f.Do != nil {
		rule.Effect = f.Do.effect()
	}
	switch {
	case f.Key == nil:
		return rule, nil
	case len(f.Key) == 0:
		return rule, fmt.Errorf("dynamotest: fault %v: Key names no attribute; nil is any item", f.Do)
	}
	var err error
	if rule.Key, err = keyAttributes(f.Key); err != nil {
		return rule, fmt.Errorf("dynamotest: fault %v: %w", f.Do, err)
	}
	return rule, nil
}

// Inject adds a fault. On a [DB], one that never fired fails the test, which says
// what requests passed instead. It panics if the fault is invalid, or if it needs a
// server of this process and the Tap is that of another backend.
func (t *Tap) Inject(f Fault) {
	if err := t.inject(f); err != nil {
		panic(err)
	}
}

// Check returns why Inject would panic, nil if it would not: for programs that
// take faults from their users.
func (t *Tap) Check(f Fault) error {
	rule, err := f.rule()
	if err != nil {
		return err
	}
	return t.faults.Check(rule)
}

func (t *Tap) inject(f Fault) error {
	rule, err := f.rule()
	if err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.faults.Add(rule); err != nil {
		return err
	}
	if rule.Effect.OfServer() {
		t.server.arm()
	}
	return nil
}

// Heal removes all faults, and returns a sentence for each that never fired, with
// the requests that passed instead.
func (t *Tap) Heal() (idle []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.server != nil {
		t.server.disarm()
	}
	return t.faults.Heal()
}
