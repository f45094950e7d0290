package dynamotest

import (
	"fmt"
	"time"

	"github.com/homeops/ddbpatterns/dynamotest/internal/fault"
)

// An Effect is what a [Fault] does to a request. [LoseReply], [LoseRequest],
// [Delay], [DelayReply], [Before], [After] and [Answer] work on every backend.
// [Throttle], [InternalError], [Unavailable], [Conflict] and [Unprocessed] work
// only on a server of this process: the server itself gives these answers, so
// clients of [Server.Handler] also get them. Effects can be compared with ==.
type Effect interface {
	fmt.Stringer
	effect() fault.Effect
}

// Effects without options.
var (
	// LoseReply lets the request take effect and drops the reply. The caller
	// sees a connection reset and does not know whether the request took effect.
	LoseReply Effect = simple(fault.LoseReply)

	// LoseRequest drops the request before it takes effect. The caller sees a
	// connection reset, as with LoseReply.
	LoseRequest Effect = simple(fault.LoseRequest)

	// Conflict answers as if another transaction were using the same item. It
	// can meet PutItem, UpdateItem, DeleteItem, PartiQL statements that write,
	// and transactions. A transaction is cancelled. In BatchExecuteStatement,
	// each statement that matches has an Error with the code
	// TransactionConflict.
	Conflict Effect = simple(fault.Conflict)
)

// Effects with options.
var (
	// Throttle refuses the request as if capacity were exceeded.
	Throttle Throttling

	// InternalError answers 500.
	InternalError = Failure{kind: fault.InternalError}

	// Unavailable answers 503.
	Unavailable = Failure{kind: fault.Unavailable}

	// Unprocessed returns all matching entries of a batch unprocessed.
	Unprocessed Partial
)

// Delay holds the request back for a time on the wall clock, or on the clock of
// a synctest bubble. If the context ends during the delay, the request is not
// sent.
func Delay(d time.Duration) Effect { return delay{fault.Delay, d} }

// DelayReply holds the reply back for a time on the wall clock, or on the clock
// of a synctest bubble. The request has taken effect before the delay, even if
// its caller stops waiting.
func DelayReply(d time.Duration) Effect { return delay{fault.DelayReply, d} }

// Before calls f before the request is sent, on the goroutine that sends it. The
// request waits until f returns. So f can write what another process would write
// at that moment, or hold the request:
//
//	db.Inject(dynamotest.Fault{Do: dynamotest.Before(func() { close(held); <-release }), Op: "Query"})
//
// The requests that f sends meet faults as all others do, but not the fault that
// called f: while f runs, its fault neither counts nor disturbs requests.
func Before(f func()) Effect { return &calling{fault.Before, f} }

// After is like [Before], but calls f when the request has taken effect, or was
// refused, and before its reply is delivered. With LoseReply for the same request,
// f runs before the SDK sends the request again:
//
//	db.Inject(dynamotest.Fault{Do: dynamotest.LoseReply, Op: "UpdateItem"})
//	db.Inject(dynamotest.Fault{Do: dynamotest.After(func() { … }), Op: "UpdateItem"})
func After(f func()) Effect { return &calling{fault.After, f} }

// Answer answers the request instead of the backend, so the request has no effect.
// The status and the body are those of an HTTP response, such as 400 and
// {"__type": "TransactionConflictException"}, or 200 and {}. The SDK retries as
// after the same answer of DynamoDB. A cancelled transaction has one reason for
// each action. In ledger.DoTx, the first action is the completion:
//
//	{"__type": "TransactionCanceledException",
//	 "CancellationReasons": [{"Code": "None"}, {"Code": "ConditionalCheckFailed"}]}
func Answer(status int, body string) Effect { return answer{status, body} }

// A calling effect is a pointer, because functions cannot be compared.
type calling struct {
	kind fault.Kind
	call func()
}

func (c *calling) effect() fault.Effect { return fault.Effect{Kind: c.kind, Call: c.call} }

// String returns the name of the effect.
func (c *calling) String() string { return c.kind.String() }

type answer struct {
	status int
	body   string
}

func (a answer) effect() fault.Effect {
	return fault.Effect{Kind: fault.Answer, Status: a.status, Body: a.body}
}

// String returns the name of the effect.
func (a answer) String() string { return fault.Answer.String() }

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

// Throttling is the effect [Throttle]: a request is refused as if capacity were
// exceeded. The error has ThrottlingReasons. Its code is
// ProvisionedThroughputExceededException for a provisioned table and
// ThrottlingException for a table on demand, unless [Throttling.As]
// sets it. Some operations are throttled in ways of their own:
//
//   - BatchGetItem and BatchWriteItem succeed if only some of their entries
//     match: the matching entries come back unprocessed. If no entry gets
//     through, the answer is an error. If the batch names several tables, the
//     code is that for the first entry's table, and the reasons name all
//     tables.
//   - In BatchExecuteStatement, each statement that matches has an Error with
//     the code ProvisionedThroughputExceeded, or ThrottlingError if the table is
//     on demand. The other statements are performed.
//   - A transaction, including PartiQL's ExecuteTransaction, is cancelled. The
//     cancellation reason of each matching action has the code
//     ProvisionedThroughputExceeded, or ThrottlingError if the table is on
//     demand. The SDK does not send the transaction again.
//   - An operation that consumes no capacity, such as CreateTable, gets a
//     ThrottlingException without reasons.
type Throttling struct{ code, index string }

// As sets the code of the error, for any billing mode of the table:
// "ProvisionedThroughputExceededException" or "ThrottlingException". In the
// reasons of a cancelled transaction, and for a statement in a batch, these become
// "ProvisionedThroughputExceeded" and "ThrottlingError". Operations that consume
// no capacity keep their code.
func (t Throttling) As(code string) Throttling {
	t.code = code
	return t
}

// ByIndex throttles writes to the tables that have a global index of this name, as
// if the index could not keep up. ThrottlingReasons name the index. Every write to
// such a table matches, even of an item that is not in the index; so do
// ConditionCheck and EXISTS. Reads do not match. The operations that write are
// PutItem, UpdateItem, DeleteItem, BatchWriteItem, TransactWriteItems,
// ExecuteStatement, BatchExecuteStatement and ExecuteTransaction.
func (t Throttling) ByIndex(name string) Throttling {
	t.index = name
	return t
}

func (t Throttling) effect() fault.Effect {
	return fault.Effect{Kind: fault.Throttle, Code: t.code, ByIndex: t.index}
}

// String returns the name of the effect.
func (t Throttling) String() string { return fault.Throttle.String() }

// Failure is the effect [InternalError] or [Unavailable]: the server answers with
// an error of its own.
type Failure struct {
	kind  fault.Kind
	after bool
}

// After lets the request take effect; then the caller gets the error instead of
// the reply.
func (f Failure) After() Failure {
	f.after = true
	return f
}

func (f Failure) effect() fault.Effect { return fault.Effect{Kind: f.kind, Late: f.after} }

// String returns the name of the effect.
func (f Failure) String() string { return f.kind.String() }

// Partial is the effect [Unprocessed]: entries of a batch come back unprocessed.
// BatchExecuteStatement has no unprocessed entries. There, each statement that
// matches has an Error with the code InternalServerError, as if DynamoDB itself
// had failed.
type Partial struct{ last int }

// Last limits the effect to the last n entries that match; n must be positive.
// Entries that a fault injected earlier refuses do not count.
func (p Partial) Last(n int) Partial {
	p.last = n
	if n == 0 {
		p.last = -1 // invalid like a negative number; 0 means all
	}
	return p
}

func (p Partial) effect() fault.Effect { return fault.Effect{Kind: fault.Unprocessed, Last: p.last} }

// String returns the name of the effect.
func (p Partial) String() string { return fault.Unprocessed.String() }
