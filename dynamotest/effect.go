package dynamotest

import (
	"fmt"
	"time"

	"github.com/homeops/ddbpatterns/dynamotest/internal/fault"
)

// An Effect is what a [Fault] does to a request: [LoseReply], [LoseRequest],
// [Delay] and [DelayReply] on every backend, [Throttle], [InternalError],
// [Unavailable], [Conflict] and [Unprocessed] on a server of this process only.
// The latter are the server's own answers, so clients of [Server.Handler] meet them
// too. Effects can be compared with ==.
type Effect interface {
	fmt.Stringer
	effect() fault.Effect
}

// Effects that need no more to be said.
var (
	// LoseReply lets the request take effect and drops the reply: the caller
	// sees a connection reset and cannot know.
	LoseReply Effect = simple(fault.LoseReply)

	// LoseRequest drops the request before it takes effect; to the caller it
	// looks the same.
	LoseRequest Effect = simple(fault.LoseRequest)

	// Conflict is that of transactions on one item. It concerns PutItem,
	// UpdateItem, DeleteItem, PartiQL statements that write, and transactions,
	// which are cancelled. In BatchExecuteStatement it affects each statement
	// that matches, whose Error has the code TransactionConflict.
	Conflict Effect = simple(fault.Conflict)
)

// Effects that may be said more precisely.
var (
	// Throttle refuses the request for want of capacity.
	Throttle Throttling

	// InternalError answers 500.
	InternalError = Failure{kind: fault.InternalError}

	// Unavailable answers 503.
	Unavailable = Failure{kind: fault.Unavailable}

	// Unprocessed sends all entries of a batch back that match.
	Unprocessed Partial
)

// Delay holds the request back for a time on the wall clock, or on that of a
// synctest bubble. A request whose context ends meanwhile is not sent.
func Delay(d time.Duration) Effect { return delay{fault.Delay, d} }

// DelayReply holds the reply back for a time on the wall clock, or on that of a
// synctest bubble: the request has taken effect, whether or not its caller still
// waits.
func DelayReply(d time.Duration) Effect { return delay{fault.DelayReply, d} }

type simple fault.Kind

func (s simple) effect() fault.Effect { return fault.Effect{Kind: fault.Kind(s)} }

// String returns the name of the effect.
func (s simple) String() string { return fault.Kind(s).String() }

type delay struct {
	kind fault.Kind
	wait time.Duration
}

func (d delay) effect() fault.Effect { return fault.Effect{Kind: d.kind, Wait: d.wait} }

// String returns the name of the effect.
func (d delay) String() string { return d.kind.String() }

// Throttling is the effect [Throttle]: a request is refused for want of capacity,
// with ThrottlingReasons. A provisioned table answers
// ProvisionedThroughputExceededException, one on demand ThrottlingException, unless
// [Throttling.As] or [Throttling.Because] says otherwise. Some operations are
// throttled in ways of their own:
//
//   - BatchGetItem and BatchWriteItem get through when only some of their
//     entries match: those come back unprocessed. When nothing gets through,
//     the answer is the error, of several tables that of the first entry's.
//   - In BatchExecuteStatement each statement that matches has an Error with
//     the code ProvisionedThroughputExceeded, or ThrottlingError where the table is
//     on demand. The others are performed.
//   - A transaction, PartiQL's too, is cancelled, with such a code among the
//     reasons. The SDK does not send it again.
//   - An operation that consumes no capacity, such as CreateTable, gets a
//     ThrottlingException without reasons.
type Throttling struct{ code, reason, index string }

// As sets the code of the error, whatever the table's billing mode:
// "ProvisionedThroughputExceededException" or "ThrottlingException". Among the
// reasons of a cancelled transaction, and of a statement in a batch, the latter is
// "ThrottlingError".
func (t Throttling) As(code string) Throttling {
	t.code = code
	return t
}

// Because sets the reason that stands in the ThrottlingReasons. The default is
// "TableWriteKeyRangeThroughputExceeded" or its like for reads and for global
// indexes. Any text will do, so that code can be shown a reason that AWS has not
// thought of yet. Those of today are Table or Index, Read or Write, and one of
// ProvisionedThroughputExceeded, AccountLimitExceeded, KeyRangeThroughputExceeded
// and MaxOnDemandThroughputExceeded, in one word. The first sets the code
// "ProvisionedThroughputExceededException", the second and the last, which are of
// tables on demand, "ThrottlingException", unless [Throttling.As] does.
func (t Throttling) Because(reason string) Throttling {
	t.reason = reason
	return t
}

// ByIndex throttles writes to the tables with a global index of the name, which
// cannot keep up: the reasons name the index. Every write to such a table matches,
// whether or not the index has the item; no read does. The operations that write
// are PutItem, UpdateItem, DeleteItem, BatchWriteItem, TransactWriteItems and those
// of PartiQL.
func (t Throttling) ByIndex(name string) Throttling {
	t.index = name
	return t
}

func (t Throttling) effect() fault.Effect {
	return fault.Effect{Kind: fault.Throttle, Code: t.code, Reason: t.reason, ByIndex: t.index}
}

// String returns the name of the effect.
func (t Throttling) String() string { return fault.Throttle.String() }

// Failure is the effect [InternalError] or [Unavailable]: the server answers that it
// is in trouble.
type Failure struct {
	kind  fault.Kind
	after bool
}

// After lets the request take effect before the error takes the place of its
// reply.
func (f Failure) After() Failure {
	f.after = true
	return f
}

func (f Failure) effect() fault.Effect { return fault.Effect{Kind: f.kind, Late: f.after} }

// String returns the name of the effect.
func (f Failure) String() string { return f.kind.String() }

// Partial is the effect [Unprocessed]: entries of a batch come back without having
// been looked at. BatchExecuteStatement sends nothing back: its entries have an
// Error with the code InternalServerError instead, the reason besides throttling
// for which a valid entry fails.
type Partial struct{ last int }

// Last limits the effect to the last n of the entries that match. It must be
// positive.
func (p Partial) Last(n int) Partial {
	p.last = n
	if n == 0 {
		p.last = -1 // as invalid as what is negative; zero is all
	}
	return p
}

func (p Partial) effect() fault.Effect { return fault.Effect{Kind: fault.Unprocessed, Last: p.last} }

// String returns the name of the effect.
func (p Partial) String() string { return fault.Unprocessed.String() }
