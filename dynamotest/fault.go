package dynamotest

import (
	"fmt"
	"maps"
	"slices"
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

	// Throttle refuses the request for want of capacity, with ThrottlingReasons.
	// The error is the same for tables on demand, see [Fault].Code. Some
	// operations are throttled in ways of their own:
	//
	//   - BatchGetItem and BatchWriteItem get through when only some of their
	//     entries match: those come back unprocessed. When nothing gets through,
	//     the answer is the error.
	//   - In BatchExecuteStatement each statement that matches has an Error with
	//     the code ProvisionedThroughputExceeded. The others are performed.
	//   - A transaction, PartiQL's too, is cancelled, with that code among the
	//     reasons. The SDK does not send it again.
	//   - An operation that consumes no capacity, such as CreateTable, gets a
	//     ThrottlingException without reasons.
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
//   - What nobody would notice does not happen, such as the delay of the reply to
//     a request that is lost.
//
// A fault that did nothing for one of these reasons stays due: the next request
// that matches meets it.
type Fault struct {
	Do Disturbance

	// Op is the operation, such as "UpdateItem"; "" is any. One that a server of
	// this process does not have is refused.
	Op string

	// Table must be named by the request; "" is any. It may be the table's ARN. A
	// request to an index names its table, and so does one about its tags or its
	// stream.
	Table string

	// Index is the index that the request reads. Query, Scan and ExecuteStatement
	// read indexes. "" is any, and none.
	//
	// With Throttle and an Op that writes, it is a global index that cannot keep
	// up: the writes to its table are throttled, and the reasons name the index.
	// Every write to the table matches, whether or not the index has the item.
	// The Ops that write are PutItem, UpdateItem, DeleteItem, BatchWriteItem,
	// TransactWriteItems and those of PartiQL, in which statements that read the
	// index match as well. Without an Op, Throttle finds reads of the index only.
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
	// indexes. Any text will do, so that code can be shown a reason that AWS has
	// not thought of yet. Those of today are Table or Index, Read or Write, and
	// one of ProvisionedThroughputExceeded, AccountLimitExceeded,
	// KeyRangeThroughputExceeded and MaxOnDemandThroughputExceeded, in one word.
	Reason string

	// Entries is how many of the matching entries Unprocessed sends back, the
	// last ones. Defaults to all.
	Entries int
}

type fault struct {
	Fault
	server         *control // nil on other backends
	key            attr.Map
	met            map[uint64]uint64 // how often what was named, by its hash, for draws
	matched, fired int
	passed         sightings
	keyHint        hint // from the keys of tables that passed
	indexHint      hint // from the indexes of tables that were written
}

// holdsBack tells whether the Index is one that holds writes back.
func (f *Fault) holdsBack() bool {
	return f.Index != "" && f.Do == Throttle && (is(f.Op, api.Writes) || is(f.Op, api.Statements))
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
	f.matched++
	lucky := f.Chance > 0 && f.draw(call, hit) >= f.Chance
	return f.matched >= f.Nth && (f.Times < 0 || f.fired < f.Times) && !lucky
}

// Inject adds a fault. On a [DB], one that never fired fails the test, which says
// what requests passed instead. It panics on a fault that is none, and on one that
// only a server can commit when the Tap is that of another backend.
func (t *Tap) Inject(f Fault) {
	if err := t.inject(f); err != nil {
		panic(err)
	}
}

func (t *Tap) inject(f Fault) error {
	armed, err := newFault(f, t.server)
	if err != nil {
		return err
	}
	if f.Do.byServer() && t.server == nil {
		return fmt.Errorf("dynamotest: fault %v needs a server in this process: this backend answers for itself", f.Do)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.faults = append(t.faults, armed)
	if f.Do.byServer() {
		t.server.arm()
	}
	return nil
}

// Heal removes all faults, and returns a sentence for each that never fired, with
// the requests that passed instead.
func (t *Tap) Heal() (idle []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, f := range t.faults {
		if f.fired == 0 {
			idle = append(idle, f.idle())
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
		call := f.onItsWay(op, body)
		f.see(call)
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

	parts     []*fault // those that refuse entries
	throttle  *fault   // the first of them that throttles
	throttled []bool   // the targets that it is about
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
		f.see(call)
		hit, ok := f.inCall(call)
		switch {
		case !ok || !f.due(call, hit):
		case f.parts(call, hit):
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
	if s.answer == nil && s.throttle != nil && call.Operation != "BatchExecuteStatement" && !slices.Contains(s.refuse, false) {
		s.answer, s.hit = s.throttle, s.throttled // nothing gets through
		takeBack(s.parts, true)
		s.parts = nil
	}
	return s
}

// takeBack makes faults due again that would have refused entries of a batch: it
// was refused as a whole. Those that throttle have their part in that when it was
// throttled.
func takeBack(parts []*fault, throttled bool) {
	for _, f := range parts {
		if f.Do != Throttle || !throttled {
			f.fired--
		}
	}
}

// refused makes due again what had no entries to refuse.
func (t *Tap) refused(parts []*fault, why *api.Error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	takeBack(parts, why.Code == api.ThroughputExceeded)
}

// parts tells whether the fault befalls parts of a batch instead of all of it.
func (f *fault) parts(call *engine.Call, hit []bool) bool {
	switch {
	case !is(call.Operation, api.Batch):
		return false
	case call.Operation == "BatchExecuteStatement" && (f.Do == Throttle || f.Do == Conflict), f.Do == Unprocessed:
		return true
	}
	return f.Do == Throttle && slices.Contains(hit, false)
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
		s.parts = append(s.parts, f)
		if f.Do == Throttle && s.throttle == nil {
			s.throttle, s.throttled = f, hit
		}
	}
}

// throttling is how Throttle throttles.
func (f *Fault) throttling() engine.Throttling {
	return engine.Throttling{OnDemand: f.Code == api.Throttling, Reason: f.Reason, Index: f.Index}
}

// statementError is what a statement of a batch meets.
func (f *fault) statementError() *api.Error {
	switch f.Do {
	case Throttle:
		return f.throttling().OfStatement()
	case Conflict:
		return engine.ErrConflict
	}
	return engine.ErrInternal
}
