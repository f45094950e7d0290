package ledger

import (
	"errors"
	"fmt"
	"time"
)

var (
	// ErrFingerprintMismatch is returned by [Store.Claim] and [Do]: the key
	// stands for another payload. Trying again cannot help; the sender reuses
	// its ids, or the key is made of too little.
	ErrFingerprintMismatch = errors.New("ledger: the key was claimed with another payload")

	// ErrTooManyAttempts is returned by [Store.Claim] and [Do]: the key was
	// claimed Config.MaxAttempts times and never completed. It stays so until
	// the row expires: the event is poison, for the dead letters. Only the last
	// holder, whose lease has lapsed, may still complete it: later deliveries
	// then get a [*DoneError], or the result from Do. When the cause has been
	// repaired, [Store.Reopen] gives the key its attempts again, and a Store with
	// a greater MaxAttempts claims it. The error's
	// text says why the last attempt that gave up did.
	ErrTooManyAttempts = errors.New("ledger: too many attempts")

	// ErrNoResult is returned by [Do] and [DoTx] for a key that is done and has no
	// result to replay: [Store.MarkSeen] or an older system wrote its row, or
	// [Store.Erase] removed what was stored. The work was done, or is not to be
	// done, and trying again cannot help: the message can go.
	ErrNoResult = errors.New("ledger: done, and without a result")

	// ErrLeaseLost is returned by [Claim.Complete], [Claim.Fail], [Claim.Renew],
	// [Claim.Release], [Store.Resume], [CompleteItem.Outcome], [Do] and [DoTx], and
	// is the cause of the end of [Do]'s context: the claim is not held any more, and
	// another worker may be at it. It does not say that the call changed nothing: a
	// Fail whose reply was lost may have given the key up before another worker
	// claimed it.
	ErrLeaseLost = errors.New("ledger: lease lost")

	// ErrResultDiffers is returned by [Do] and [DoTx]: the claim is completed,
	// as by a transaction of the work's with [Claim.CompleteItem], and the work
	// returned another result than that. Neither is the answer of this call;
	// the stored one is what the next delivery gets.
	ErrResultDiffers = errors.New("ledger: the work returned another result than its claim is completed with")
)

// Errors of what operators do.
var (
	// ErrNotFound is returned by [Store.Reopen] and [Store.Erase]: the key has
	// no row.
	ErrNotFound = errors.New("ledger: no such key")

	// ErrChanged is returned by [Store.Reopen] and [Store.Forget]: the row is
	// not of the claim that was seen any more.
	ErrChanged = errors.New("ledger: the row changed since it was seen")
)

// errGivenUp is the ErrLeaseLost of a claim that its own Fail or Release gave up.
var errGivenUp = fmt.Errorf("%w: given up by its own holder", ErrLeaseLost)

// InProgressError is returned by [Store.Claim], [Do] and [DoTx] while another worker
// holds the key, and to operators by [Store.Reopen] and [Store.Forget].
type InProgressError struct {
	// Wait is how long until the key can be claimed, should its holder have
	// crashed. A holder that is well completes earlier or renews. So it is right
	// for a queue's message, and long for an HTTP client: give its request a
	// [Request.WaitUpTo] of a few seconds, and then a Retry-After of a few, whatever
	// the Wait.
	Wait time.Duration
}

// Error says how long to wait.
func (e *InProgressError) Error() string {
	if e.Wait <= 0 {
		return "ledger: in progress, and its lease has lapsed: the next delivery takes it over while attempts are left"
	}
	return fmt.Sprintf("ledger: in progress, to be claimed in %v unless renewed", e.Wait)
}

// DoneError is returned by [Store.Claim], [Store.Resume] and [Store.Reopen] for a key
// that is done, and by [Claim.Complete], [Claim.Fail], [Claim.Renew], [Claim.Release]
// and [CompleteItem.Outcome] when the claim's own completion stands already with
// another result. [Do] and [DoTx] replay what Claim finds.
type DoneError struct {
	// Record holds the result, which is nil when there is none.
	Record Record
}

// Error says so, without the result.
func (e *DoneError) Error() string { return "ledger: done already" }

// ResultError is returned by [Do] and [DoTx] for a key that is done, with a result
// that does not fit their type: another program stored it, or an earlier version
// of this one. The work was done, and trying again cannot help; Record.Result has
// what is stored.
type ResultError struct {
	Record Record

	op, table, want string
	cause           error
}

// Error says what was wanted, without the result.
func (e *ResultError) Error() string {
	return fmt.Sprintf("%s: %s on table %s: the stored result is not a %s: %v", pkg, e.op, e.table, e.want, e.cause)
}

// Unwrap returns the error of encoding/json.
func (e *ResultError) Unwrap() error { return e.cause }

// ItemError is returned by [DoTx] when an action of the work's was refused, and
// the work, called again, found no other; or when one failed for another reason,
// such as an invalid expression, or another transaction on its item to the end.
type ItemError struct {
	Index int    // of the first action at fault, from 0 among those that the work returned last
	Code  string // DynamoDB's reason, "ConditionalCheckFailed" as a rule

	table      string // the ledger's
	message    string // DynamoDB's, if there is one
	cause      error
	repeatable bool // nothing but conditions and a lack of capacity
}

// Error names the action and the reason.
func (e *ItemError) Error() string {
	why := e.Code
	if e.message != "" {
		why += ": " + e.message
	}
	return fmt.Sprintf("%s: DoTx on table %s: action %d of the work: %s", pkg, e.table, e.Index, why)
}

// Unwrap returns the error of the transaction.
func (e *ItemError) Unwrap() error { return e.cause }

// PermanentError is returned by [Do] and [DoTx] when the work returned
// [Permanent], and by them and [Store.Claim] whenever the key comes again. A claim
// whose Fail was given one returns it from all later calls, and so does [Store.Resume].
type PermanentError struct {
	// Message is the text of the error, cut to 512 bytes by [Permanent], and
	// when it is stored: the same when it is replayed.
	Message string

	cause error // when replayed, what was kept of it; nil if nothing was
}

// Permanent says that err will not go away by trying again: [Do] and
// [Claim.Fail] store it as the outcome of the key, and it is replayed as a
// [*PermanentError]. Permanent(nil) is nil.
//
// A replayed error is for errors.Is and errors.As what it was the first time,
// as far as this is known of: the sentinels of packages event and ledger, such
// as [event.ErrTooOld]; those of Config.Errors; and an [*event.InputError]. Of
// all other errors that it wraps only the text is kept. A row has 80 bytes for
// all of this: two sentinels always fit, or one beside an InputError, and what
// does not fit is left out.
//
// Of an InputError whose text does not show in that of the error, or not in the
// first 512 bytes, a replay has all text in Reason, and no Package and Field.
func Permanent(err error) error {
	if err == nil {
		return nil
	}
	if _, already := errors.AsType[*PermanentError](err); already {
		return err
	}
	return &PermanentError{Message: truncate(err.Error(), maxError), cause: err}
}

// Error is the message alone: that of the error given to [Permanent].
func (e *PermanentError) Error() string { return e.Message }

// Unwrap returns the error that was given to [Permanent]; when replayed, what
// was kept of it, which is nil when nothing was.
func (e *PermanentError) Unwrap() error { return e.cause }
