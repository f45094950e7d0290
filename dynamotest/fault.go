package dynamotest

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/dynamotest/internal/attr"
	"github.com/homeops/ddbpatterns/dynamotest/internal/engine"
)

// Disturbance is what a [Fault] does to a request. The first four work on every
// backend, the others on a server of this process only: they are the server's
// own answers, so clients of [Server.Handler] meet them too.
type Disturbance uint8

const (
	// LoseReply lets the request take effect and drops the reply: the caller
	// sees a connection reset and cannot know.
	LoseReply Disturbance = iota + 1
	// LoseRequest drops the request before it takes effect; to the caller it
	// looks the same.
	LoseRequest
	// Delay holds the request back for [Fault.Delay]. One whose context ends
	// meanwhile is not sent.
	Delay
	// DelayReply holds the reply back for [Fault.Delay]: the request has taken
	// effect, whether or not its caller still waits.
	DelayReply

	// Throttle refuses the request for want of capacity, with
	// ThrottlingReasons. A transaction is cancelled for that reason, which the
	// SDK does not retry.
	Throttle
	// InternalError answers 500.
	InternalError
	// Unavailable answers 503.
	Unavailable
	// Conflict is that of transactions on one item. It concerns PutItem,
	// UpdateItem, DeleteItem, TransactWriteItems and TransactGetItems.
	Conflict
	// Unprocessed sends entries of a batch back without having looked at them.
	Unprocessed
)

var disturbances = [...]string{
	LoseReply: "LoseReply", LoseRequest: "LoseRequest", Delay: "Delay", DelayReply: "DelayReply", Throttle: "Throttle",
	InternalError: "InternalError", Unavailable: "Unavailable", Conflict: "Conflict", Unprocessed: "Unprocessed",
}

// String returns the name of the constant.
func (d Disturbance) String() string {
	if d == 0 || int(d) >= len(disturbances) {
		return fmt.Sprintf("Disturbance(%d)", uint8(d))
	}
	return disturbances[d]
}

func (d Disturbance) byServer() bool { return d >= Throttle }
func (d Disturbance) delays() bool   { return d == Delay || d == DelayReply }

// Fault disturbs chosen requests. Attempts are counted, not calls: what the
// SDK sends again is a request of its own.
//
// Several faults may wait at once. Of those that answer or lose a request the
// first that is due takes it, and the others stay due; delays and unprocessed
// entries add up with them.
type Fault struct {
	Do Disturbance
	Op string // the operation, such as "UpdateItem"; "" is any

	// Table must be named by the request; "" is any.
	Table string

	// Key holds attributes that the key of an item in the request must have: a
	// partition key alone is any item of the partition. A Query and a Scan name
	// no items. Nil is any.
	Key map[string]types.AttributeValue

	// Nth is the first request disturbed, counting those that match from 1.
	// Defaults to 1.
	Nth int
	// Times is how many are disturbed, from the Nth on. Defaults to 1, with a
	// Chance to -1; -1 disturbs all that follow.
	Times int

	// Chance, unless 0, is the probability that a matching request from the
	// Nth on is disturbed. The draws follow from Seed: the same requests in the
	// same order meet the same faults.
	Chance float64
	Seed   uint64

	// Delay is how long Delay and DelayReply hold back, on the wall clock or
	// that of a synctest bubble.
	Delay time.Duration

	// After lets the request take effect before InternalError or Unavailable
	// take the place of its reply.
	After bool

	// Reason stands in the ThrottlingReasons of Throttle. Defaults to
	// "TableWriteKeyRangeThroughputExceeded" or its like for reads.
	Reason string

	// Entries is how many of the matching entries Unprocessed sends back, the
	// last ones. Defaults to all.
	Entries int
}

type fault struct {
	Fault
	key         attr.Map
	draws       *rand.Rand // nil without a Chance
	seen, fired int
}

func newFault(f Fault) (*fault, error) {
	if f.Do == 0 || int(f.Do) >= len(disturbances) {
		return nil, fmt.Errorf("dynamotest: fault: no such Do: %v", f.Do)
	}
	if f.Do.delays() && f.Delay <= 0 {
		return nil, fmt.Errorf("dynamotest: fault %v: Delay must be positive", f.Do)
	}
	if f.Chance < 0 || f.Chance > 1 {
		return nil, fmt.Errorf("dynamotest: fault %v: Chance %g is no probability", f.Do, f.Chance)
	}
	key, err := keyAttributes(f.Key)
	if err != nil {
		return nil, fmt.Errorf("dynamotest: fault %v: %w", f.Do, err)
	}
	armed := &fault{key: key}
	if f.Nth == 0 {
		f.Nth = 1
	}
	if f.Times == 0 {
		f.Times = 1
		if f.Chance > 0 {
			f.Times = -1
		}
	}
	if f.Chance > 0 {
		armed.draws = rand.New(rand.NewPCG(f.Seed, 0))
	}
	armed.Fault = f
	return armed, nil
}

// due counts a request that matches, and tells whether it is one to disturb.
func (f *fault) due() bool {
	f.seen++
	if f.seen < f.Nth || f.Times >= 0 && f.fired >= f.Times {
		return false
	}
	return f.draws == nil || f.draws.Float64() < f.Chance
}

// Inject adds a fault. On a [DB], one that never fired fails the test. It
// panics on a fault that is none, and on one that only a server can commit when
// the Tap is that of another backend.
func (t *Tap) Inject(f Fault) {
	if err := t.inject(f); err != nil {
		panic(err)
	}
}

func (t *Tap) inject(f Fault) error {
	armed, err := newFault(f)
	if err != nil {
		return err
	}
	if f.Do.byServer() {
		if t.server == nil {
			return fmt.Errorf("dynamotest: fault %v needs a server in this process: this backend answers for itself", f.Do)
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.faults = append(t.faults, armed)
	if f.Do.byServer() {
		t.server.arm()
	}
	return nil
}

// Heal removes all faults, and returns a sentence for each that never fired.
func (t *Tap) Heal() (idle []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, f := range t.faults {
		if f.fired == 0 {
			idle = append(idle, fmt.Sprintf("fault %v on request %d of %q never fired: %d requests matched", f.Do, f.Nth, f.Op, f.seen))
		}
	}
	t.faults = nil
	if t.server != nil {
		t.server.disarm()
	}
	return idle
}

// disturbed tells whether a request has to be looked at on its way.
func (t *Tap) disturbed() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, f := range t.faults {
		if !f.Do.byServer() {
			return true
		}
	}
	return false
}

// A verdict is what befalls a request on its way.
type verdict struct {
	do            Disturbance // LoseReply, LoseRequest or none
	before, after time.Duration
}

// verdict counts the request with every fault of the transport that it matches.
func (t *Tap) verdict(op string, body []byte) verdict {
	t.mu.Lock()
	defer t.mu.Unlock()
	var v verdict
	for _, f := range t.faults {
		if f.Do.byServer() || !f.inBody(op, body) || !f.due() {
			continue
		}
		switch {
		case f.Do == Delay:
			v.before += f.Delay
		case f.Do == DelayReply:
			v.after += f.Delay
		case v.do == 0:
			v.do = f.Do
		default:
			continue // it stays due
		}
		f.fired++
	}
	return v
}

// sentence counts the call with every fault of the server that it matches. It
// returns the first one that answers it, with the targets that are hit, and
// which entries of a batch go back.
func (t *Tap) sentence(call *engine.Call) (answer *fault, hit, refuse []bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, f := range t.faults {
		if !f.Do.byServer() {
			continue
		}
		targets, ok := f.inCall(call)
		if !ok || !f.due() {
			continue
		}
		switch {
		case f.Do == Unprocessed:
			refuse = f.refuse(targets, refuse)
		case answer == nil:
			answer, hit = f, targets
		default:
			continue // it stays due
		}
		f.fired++
	}
	return answer, hit, refuse
}

// refuse adds the last Entries of the targets hit to those that go back.
func (f *fault) refuse(hit, refuse []bool) []bool {
	if refuse == nil {
		refuse = make([]bool, len(hit))
	}
	left := f.Entries
	for i := len(hit) - 1; i >= 0; i-- {
		if hit[i] && (f.Entries == 0 || left > 0) {
			refuse[i] = true
			left--
		}
	}
	return refuse
}
