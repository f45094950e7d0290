package dynamotest

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/dynamotest/internal/api"
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
	// ThrottlingReasons. A transaction, PartiQL's too, is cancelled for that
	// reason, which the SDK does not retry. In BatchExecuteStatement it befalls
	// each statement that matches, whose Error has the code
	// ProvisionedThroughputExceeded; the others are performed. The code is the
	// same for tables on demand, see [Fault.Code]. An operation that consumes no
	// capacity, such as CreateTable, gets a ThrottlingException.
	Throttle
	// InternalError answers 500.
	InternalError
	// Unavailable answers 503.
	Unavailable
	// Conflict is that of transactions on one item. It concerns PutItem,
	// UpdateItem, DeleteItem, PartiQL statements that write, and transactions,
	// which are cancelled. In BatchExecuteStatement it befalls each statement
	// that matches, whose Error has the code TransactionConflict.
	Conflict
	// Unprocessed sends entries of a batch back without having looked at them.
	// BatchExecuteStatement sends nothing back: its entries have an Error with
	// the code InternalServerError instead, the reason besides throttling for
	// which an entry fails that is in order.
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
// Several faults may wait at once. Of those that lose a request or its reply the
// first that is due takes it, and the others stay due; so it is with those that
// answer it, which are asked when it arrives. Delays add up. Entries and
// statements of a batch are refused where the batch itself gets through, one
// statement by one fault. A fault that nobody would notice, such as the delay of
// the reply to a request that is lost, stays due.
type Fault struct {
	Do Disturbance
	Op string // the operation, such as "UpdateItem"; "" is any

	// Table must be named by the request; "" is any. It may be the table's ARN. A
	// request to an index names its table, and so does one about its tags or its
	// stream.
	Table string

	// Index must be the one that the request reads: a Query, a Scan or a single
	// SELECT; "" is any, and none. With Throttle and an Op that only writes, such
	// as "PutItem", it is a global index of the table written to that cannot keep
	// up: that throttles the writes, and the reasons name the index. Whether the
	// index has the item is not looked at.
	Index string

	// Key holds attributes that the key of an item in the request must have: a
	// partition key alone is any item of the partition. A Query and a Scan name
	// no items. A PartiQL statement names the item that it inserts, or the key
	// attributes that its WHERE holds to one value each; one on an index names
	// none. Nil is any.
	Key map[string]types.AttributeValue

	// Nth is the first request disturbed, counting those that match from 1.
	// Defaults to 1.
	Nth int
	// Times is how many are disturbed, from the Nth on. Defaults to 1, with a
	// Chance to -1; -1 disturbs all that follow.
	Times int

	// Chance, unless 0, is the probability that a matching request from the
	// Nth on is disturbed. The draws follow from Seed, the operation, the items
	// that the request names, and how often it has named them: the same requests
	// meet the same faults whatever concurrent callers do meanwhile. Only those
	// that name the same items, or none, depend on their order.
	Chance float64
	Seed   uint64

	// Delay is how long Delay and DelayReply hold back, on the wall clock or
	// that of a synctest bubble.
	Delay time.Duration

	// After lets the request take effect before InternalError or Unavailable
	// take the place of its reply.
	After bool

	// Code is the error of Throttle: "ProvisionedThroughputExceededException", or
	// "ThrottlingException", as AWS may call it of a table on demand; among the
	// reasons of a cancelled transaction, and of a statement in a batch, that is
	// "ThrottlingError". Defaults to the first, whatever the table's billing mode.
	Code string

	// Reason stands in the ThrottlingReasons of Throttle. Defaults to
	// "TableWriteKeyRangeThroughputExceeded" or its like for reads and for global
	// indexes.
	Reason string

	// Entries is how many of the matching entries Unprocessed sends back, the
	// last ones. Defaults to all.
	Entries int
}

type fault struct {
	Fault
	server      *control // nil on other backends
	key         attr.Map
	met         map[uint64]uint64 // how often what was named, by its hash, for draws
	seen, fired int
}

func newFault(f Fault) (*fault, error) {
	if f.Do == 0 || int(f.Do) >= len(disturbances) {
		return nil, fmt.Errorf("dynamotest: fault: no such Do: %v", f.Do)
	}
	f.Table = api.TableNameOf(f.Table)
	if wrong := cmp.Or(f.wrong(), f.wrongTarget(), f.wrongIndex()); wrong != "" {
		return nil, fmt.Errorf("dynamotest: fault %v: %s", f.Do, wrong)
	}
	key, err := keyAttributes(f.Key)
	if err != nil {
		return nil, fmt.Errorf("dynamotest: fault %v: %w", f.Do, err)
	}
	if f.Nth == 0 {
		f.Nth = 1
	}
	if f.Times == 0 {
		f.Times = 1
		if f.Chance > 0 {
			f.Times = -1
		}
	}
	return &fault{Fault: f, key: key, met: map[uint64]uint64{}}, nil
}

// wrong tells what contradicts itself: what would be ignored proves nothing.
func (f *Fault) wrong() string {
	switch {
	case f.Do.delays() && f.Delay <= 0:
		return "Delay must be positive"
	case !f.Do.delays() && f.Delay != 0:
		return "only Delay and DelayReply have a Delay"
	case !(f.Chance >= 0 && f.Chance <= 1):
		return fmt.Sprintf("Chance %g is no probability", f.Chance)
	case f.Nth < 0 || f.Times < -1 || f.Entries < 0:
		return "Nth, Times and Entries must not be negative, but for Times -1"
	case f.After && f.Do != InternalError && f.Do != Unavailable:
		return "only InternalError and Unavailable have an After"
	case f.Reason != "" && f.Do != Throttle:
		return "only Throttle has a Reason"
	case f.Entries != 0 && f.Do != Unprocessed:
		return "only Unprocessed has Entries"
	case f.Do.byServer() && f.Op != "" && !slices.Contains(engine.Operations(), f.Op):
		return fmt.Sprintf("there is no operation %q", f.Op)
	case f.Code != "" && f.Do != Throttle:
		return "only Throttle has a Code"
	case f.Code != "" && f.Code != api.ThroughputExceeded && f.Code != api.Throttling:
		return fmt.Sprintf("Code %q: Throttle knows %s and %s", f.Code, api.ThroughputExceeded, api.Throttling)
	case f.Do == Throttle && f.Op != "" && !engine.Consumes(f.Op) && (f.Code != "" || f.Reason != ""):
		return f.Op + " consumes no capacity: Throttle has neither a Code nor a Reason there"
	}
	return ""
}

// wrongTarget tells why no request could be about what the fault names.
func (f *Fault) wrongTarget() string {
	switch {
	case f.Do == Unprocessed && f.Op != "" && !strings.HasPrefix(f.Op, "Batch"):
		return f.Op + " is no batch"
	case f.Key != nil && f.Op != "" && (f.Op == "Query" || f.Op == "Scan" || !engine.Consumes(f.Op)):
		return "a " + f.Op + " names no items, so no Key finds it"
	case strings.HasPrefix(f.Table, "arn:"):
		return fmt.Sprintf("Table %q is the ARN of no table", f.Table)
	case strings.Contains(f.Table, "/"):
		return fmt.Sprintf("Table %q: a table has no slash; Index names an index", f.Table)
	}
	return ""
}

// wrongIndex tells why no request could be about the index.
func (f *Fault) wrongIndex() string {
	writes := slices.Contains(writes, f.Op)
	switch {
	case f.Index == "":
		return ""
	case strings.ContainsAny(f.Index, "/:"):
		return fmt.Sprintf("Index %q: give its own name, and its table's in Table", f.Index)
	case writes && f.Do == Throttle:
		return ""
	case writes:
		return "of writes only Throttle finds the Index"
	case f.Key != nil:
		return "a request to an index names no items, so no Key finds it"
	case f.Do == Conflict || f.Do == Unprocessed:
		return "transactions and batches read no Index"
	case f.Op != "" && !slices.Contains(indexReads, f.Op):
		return f.Op + " reads no index, so no Index finds it"
	}
	return ""
}

// String says what the fault is looking for.
func (f *Fault) String() string {
	text := fmt.Sprintf("%v on request %d", f.Do, f.Nth)
	for _, part := range []struct{ name, value string }{{"Op", f.Op}, {"Table", f.Table}, {"Index", f.Index}} {
		if part.value != "" {
			text += " of " + part.name + " " + part.value
		}
	}
	for _, name := range slices.Sorted(maps.Keys(f.Key)) {
		text += " with " + name
	}
	return text
}

// due counts a request that matches, and tells whether it is one to disturb.
func (f *fault) due(call *engine.Call, hit []bool) bool {
	f.seen++
	lucky := f.Chance > 0 && f.draw(call, hit) >= f.Chance
	return f.seen >= f.Nth && (f.Times < 0 || f.fired < f.Times) && !lucky
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
	armed.server = t.server
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
			idle = append(idle, fmt.Sprintf("fault %v never fired: %d requests matched", &f.Fault, f.seen))
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
	var late []*fault // delays of a reply, if there is going to be one
	for _, f := range t.faults {
		if f.Do.byServer() {
			continue
		}
		call := f.onItsWay(t.server, op, body)
		hit, ok := f.inCall(call)
		if !ok || !f.due(call, hit) {
			continue
		}
		switch {
		case f.Do == DelayReply:
			late = append(late, f)
			continue
		case f.Do == Delay:
			v.before += f.Delay
		case v.do == 0:
			v.do = f.Do
		default:
			continue // it stays due
		}
		f.fired++
	}
	if v.do != LoseRequest {
		for _, f := range late {
			v.after += f.Delay
			f.fired++
		}
	}
	return v
}

// A sentence is what befalls a call when it has arrived.
type sentence struct {
	answer *fault // the one that answers it, if there is one
	hit    []bool // the targets that it is about
	refuse []bool // entries of a batch that go back
	errors []*api.Error
}

// sentence counts the call with every fault of the server that it matches.
func (t *Tap) sentence(call *engine.Call) sentence {
	t.mu.Lock()
	defer t.mu.Unlock()
	var s sentence
	var partly []func() // what faults do to parts of a batch
	for _, f := range t.faults {
		if !f.Do.byServer() {
			continue
		}
		hit, ok := f.inCall(call)
		switch {
		case !ok || !f.due(call, hit):
		case f.parts(call):
			partly = append(partly, func() { f.refuse(&s, hit) })
		case s.answer == nil:
			s.answer, s.hit = f, hit
			f.fired++
		}
	}
	if s.answer == nil || s.answer.After {
		for _, refuse := range partly {
			refuse()
		}
	}
	return s
}

// parts tells whether the fault befalls parts of a batch instead of all of it.
func (f *fault) parts(call *engine.Call) bool {
	return f.Do == Unprocessed || call.Operation == "BatchExecuteStatement" && (f.Do == Throttle || f.Do == Conflict)
}

// refuse adds the last Entries of the targets hit to those that are refused. It
// counts unless there is none to add.
func (f *fault) refuse(s *sentence, hit []bool) {
	if s.refuse == nil {
		s.refuse, s.errors = make([]bool, len(hit)), make([]*api.Error, len(hit))
	}
	added := 0
	for i := len(hit) - 1; i >= 0; i-- {
		if hit[i] && !s.refuse[i] && (f.Entries == 0 || added < f.Entries) {
			s.refuse[i], s.errors[i] = true, f.statementError()
			added++
		}
	}
	if added > 0 {
		f.fired++
	}
}

// statementError is what a statement of a batch meets.
func (f *fault) statementError() *api.Error {
	switch {
	case f.Do == Throttle && f.Code == api.Throttling:
		return engine.ErrOnDemand
	case f.Do == Throttle:
		return engine.ErrThrottled
	case f.Do == Conflict:
		return engine.ErrConflict
	}
	return engine.ErrInternal
}
