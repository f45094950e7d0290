package dynamotest

import (
	"fmt"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/dynamotest/internal/fault"
)

// Fault disturbs chosen requests.
//
// Op, Table, Index and Key say which requests match. An empty field matches all
// requests that the effect can meet. A request with several items or statements
// matches if at least one of them matches Table, Index and Key together. Nth,
// Times and Chance say which of the matching requests are disturbed. Each attempt
// is a request of its own: a retry of the SDK counts again.
//
// Several faults may be due for the same request. Then these rules determine
// which of these faults take effect:
//
//   - Delays add up. After them, the functions of Before and After are called one
//     after the other.
//   - If several of LoseRequest, LoseReply and Answer are due, the fault that was
//     injected first takes effect.
//   - If several of Throttle, InternalError, Unavailable and Conflict are due,
//     the fault that was injected first answers the request. LoseReply may then
//     drop that answer.
//   - Faults refuse entries or statements of a batch only if the batch itself
//     gets through. If several faults match an entry, the fault that was
//     injected first refuses it. If the batch is invalid, or throttled as a
//     whole, no entries come back unprocessed.
//   - DelayReply and After do not fire for a request that LoseRequest drops or
//     Answer answers. Before does.
//
// A fault that does nothing because of one of these rules stays due for the
// next request that matches. If it has a Chance, it draws again.
type Fault struct {
	// Do is what happens to the request.
	Do Effect

	// Op is the operation, such as "UpdateItem"; "" is any. If the Tap belongs
	// to a server of this process, [Tap.Inject] refuses an operation that the
	// server does not have.
	Op string

	// Table is a name or an ARN; "" is any. The request must name this table. A
	// request to an index names the index's table. A request about the tags or
	// the stream of a table also names the table.
	Table string

	// Index is the index that the request reads. Query, Scan and ExecuteStatement
	// read indexes; "" also matches requests that read no index. To throttle
	// writes by an index, use the effect [Throttling.ByIndex].
	Index string

	// Key holds attributes that the key of an item in the request must have: a
	// partition key alone matches any item of the partition. Query and Scan name
	// no items, so they match only if Key is nil. A PartiQL INSERT names its
	// item. Any other PartiQL statement names the key attributes that its WHERE
	// compares by = with one value each; but a statement that reads an index
	// names no item. A nil Key matches all requests.
	Key map[string]types.AttributeValue

	// Nth says at which matching request the fault begins: with 2, it spares
	// the first matching request. Defaults to 1.
	Nth int
	// Times is how many matching requests are disturbed at most, from the Nth
	// request on; -1 means no limit. Defaults to 1, or to -1 with a Chance.
	Times int

	// Chance, unless 0, is the probability that a matching request, from the
	// Nth on, is disturbed. Seed determines the draws: the same requests meet
	// the same faults in every run.
	//
	// Each draw follows from Seed, the effect, the operation, the matching items of the
	// request in any order, and how often the fault has met this operation on
	// these items before. Requests for other items do not change a draw, so
	// concurrent callers that name different items may come in any order,
	// unless Nth or Times is set. Requests of one operation that name the same
	// items take the draws in the order of their arrival. So do requests that
	// name no items, such as Scan. If such requests run concurrently, which of
	// them is disturbed can differ between runs. On a backend that is not this
	// server, an item to put is known only by its attributes that Key names, or
	// by all its attributes if Key is nil.
	Chance float64
	Seed   uint64
}

// String describes the effect and the requests that the fault matches.
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
		return rule, fmt.Errorf("dynamotest: fault %v: Key must name an attribute; a nil Key means any item", f.Do)
	}

	var err error
	if rule.Key, err = keyAttributes(f.Key); err != nil {
		return rule, fmt.Errorf("dynamotest: fault %v: %w", f.Do, err)
	}

	return rule, nil
}

// Inject adds a fault. If the Tap belongs to a [DB], a fault that never fired
// fails the test; the message lists the requests that passed. Inject panics if
// the fault is invalid. It also panics if the effect works only on a server of
// this process and the Tap does not belong to such a server.
func (t *Tap) Inject(f Fault) {
	if err := t.inject(f); err != nil {
		panic(err)
	}
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

// Heal removes all faults. For each fault that never fired, Heal returns a
// sentence that lists the requests that passed: the first eight kinds, and the
// number of the others. A Before or After that never called its function never
// fired.
func (t *Tap) Heal() (idle []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.server != nil {
		t.server.disarm()
	}
	return t.faults.Heal()
}
