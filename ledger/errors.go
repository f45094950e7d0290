package ledger

import (
	"errors"
	"fmt"
	"time"
)

var (
	// ErrFingerprintMismatch is returned by [Store.Claim], [Do], [DoTx] and [Hold]: the
	// key was claimed with another payload. Trying again cannot help: the sender reuses
	// its ids, or the key has too few parts.
	ErrFingerprintMismatch = errors.New("ledger: the key was claimed with another payload")

	// ErrTooManyAttempts is returned by [Store.Claim], [Do] and [DoTx]: the key has
	// used up its Config.MaxAttempts attempts. Its text has the reason of the last one
	// that failed. Unless a late holder ends or frees it, the key stays blocked until
	// its row expires: move the event to a dead-letter queue. After a repair,
	// [Operators.Reopen] frees a failed key, and [Operators.Forget] one whose last
	// holder crashed. A Store with a greater MaxAttempts can claim both.
	ErrTooManyAttempts = errors.New("ledger: too many attempts")

	// ErrNoResult is returned by [Do] and [DoTx] for a key that is done without a
	// result: [Store.MarkSeen] or an older system wrote its row, or [Store.Erase]
	// erased the key. Trying again cannot help: delete the queue's message.
	ErrNoResult = errors.New("ledger: the key is done and has no stored result")

	// ErrLeaseLost is returned by the calls and actions of a claim, [Store.Resume],
	// [Do], [DoTx] and [Hold]: the claim is no longer held, or not for certain. Another
	// worker took the key over, an operator erased or forgot it, TTL deleted its row, or
	// the claim gave it up, perhaps by this very call, whose first reply was lost.
	ErrLeaseLost = errors.New("ledger: lease lost")

	// ErrResultDiffers is returned by [Do] and [DoTx]: the work completed its claim
	// itself, with [Claim.Complete] or [Claim.CompleteItem], and then returned another
	// result. This call returns neither; the next delivery gets the stored result.
	ErrResultDiffers = errors.New("ledger: the work returned a result that differs from the stored one")

	// ErrResultNotStored is returned by [Do] and [DoTx], in a [*PermanentError]: the
	// work ran, and its result cannot be stored, as the [*event.InputError] in the same
	// error says. The work is done: this call also returns the result, later deliveries
	// get only this error, and after an [Operators.Reopen] the work would be done
	// twice. But if the work returned actions to DoTx, none were written, as the text
	// says, and Value is zero. [Claim.Check] tells before the work.
	ErrResultNotStored = errors.New("ledger: the work ran, but its result cannot be stored")
)

// Errors of Reopen, Erase and Forget, which are for operators.
var (
	// ErrNotFound is returned by [Operators.Reopen] and [Store.Erase]: the key has no
	// row. Reopen also returns it for a row that has expired.
	ErrNotFound = errors.New("ledger: no such key")

	// ErrChanged is returned by [Operators.Reopen] and [Operators.Forget]: since the
	// operator saw the record, the key was claimed or marked anew, resumed, reopened or
	// erased; or the record lacks its Nonce or Fence. Read the record again, and decide
	// again.
	ErrChanged = errors.New("ledger: the row changed since it was seen")
)

// errGivenUp is the ErrLeaseLost of a claim that its own Fail or Release gave up.
var errGivenUp = fmt.Errorf("%w: the holder itself gave the key up", ErrLeaseLost)

// InProgressError is returned by [Store.Claim], [Do], [DoTx] and [Hold] while another
// worker, or another call of this one, holds the key; by [Operators.Reopen] for a claim
// that has not ended, even if its lease has lapsed; by [Operators.Forget] if it must
// wait.
type InProgressError struct {
	// Wait is how long it takes until the key can be forgotten or, if its holder has
	// crashed, claimed. A healthy holder completes earlier or renews. Wait suits a
	// queue's delay. For HTTP clients, set [Request.WaitUpTo] to a few seconds,
	// then answer with a Retry-After of a few seconds.
	Wait time.Duration

	// Holder is the [Request.Holder] of the claim, "" if it has none.
	Holder string

	ended bool // nobody holds the key, and Forget must wait nevertheless
}

// Error says how long to wait.
func (e *InProgressError) Error() string {
	switch {
	case e.ended:
		return fmt.Sprintf("ledger: no worker holds the key, but its last claim is too young to be forgotten: wait %v", e.Wait)
	case e.Wait <= 0:
		return "ledger: the key is claimed, and the lease has lapsed: the next delivery takes the key over if attempts are left; otherwise Forget frees it"
	}
	who := "another worker"
	if e.Holder != "" {
		who = fmt.Sprintf("%q", e.Holder)
	}
	return fmt.Sprintf("ledger: in progress: %s holds the key for %v, or longer if it renews its lease", who, e.Wait)
}

// DoneError means that the key is done. [Store.Claim], [Hold] and [Operators.Reopen]
// return it; [Do] and [DoTx] replay the result instead. For a claim that was completed
// before, [Store.Resume] and the claim's own calls and actions return it, too; Complete
// and CompleteItem do so only for another result.
type DoneError struct {
	// Record is the key's row. Its Result is nil if the key has no result.
	Record Record
}

// Error says that the key is done. It does not show the result.
func (e *DoneError) Error() string { return "ledger: the key is already done" }

// ResultError is returned by [Do] and [DoTx] when the stored result, in Record.Result,
// does not fit the type T of the call: another program or version stored it, or T does
// not survive encoding/json. The work was done. Trying again cannot help.
type ResultError struct {
	Record Record

	op, table, want string
	cause           error
}

// Error names the type that was wanted, and has the text of encoding/json's error,
// which can quote a part of the result, such as a number.
func (e *ResultError) Error() string {
	return fmt.Sprintf("%s: %s on table %s: the stored result does not fit the type %s: %v", pkg, e.op, e.table, e.want, e.cause)
}

// Unwrap returns the error of encoding/json.
func (e *ResultError) Unwrap() error { return e.cause }

// ItemError is returned by [DoTx] when an action failed: its condition, and calling the
// work again did not help; or otherwise, for example by a conflict that lasted. If
// DynamoDB refuses a transaction as a whole, DoTx returns DynamoDB's error.
type ItemError struct {
	Index int    // position, from 0, of the first action at fault in the list that the work returned last
	Code  string // DynamoDB's reason, usually "ConditionalCheckFailed"

	table      string // the ledger's
	message    string // DynamoDB's, if there is one
	cause      error
	repeatable bool // nothing but conditions and a lack of capacity
	contended  bool // repeatable, and not by the same rows as the time before: others write them
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

// PermanentError is returned by [Do] and [DoTx] when the work returned a [Permanent]
// error, a result that cannot be stored or, in DoTx, too many actions. Once it is
// stored, further claims of the key with the same payload return it too, until the row
// expires or an operator changes it. So do further calls of the claim, except the same
// [Claim.Fail].
type PermanentError struct {
	// Message is the text of the error, which [Permanent] cuts to 512 bytes. A replay
	// has the same Message.
	Message string

	cause error // when replayed, what was kept of it; nil if nothing was
}

// Permanent marks err as an error that would come again in every further attempt. [Do],
// [DoTx] and [Claim.Fail] store it as the outcome of the key, and later deliveries get
// it as a [*PermanentError]. Permanent(nil) is nil.
//
// Package verdict says which errors of the work to mark. Mark a Poison: unmarked, it
// uses up an attempt in each delivery. Leave it unmarked if a later delivery may
// succeed: an event too far ahead, a *record.FloorError. Return a Retry as it is. A
// Done, such as an *activity.ConflictError, is an answer: make it the result, with a
// nil error.
//
// In a replayed error, errors.Is and errors.As still find an [*event.InputError] and
// the sentinels of package event, this package and Config.Errors, except [ErrNotFound]
// and [ErrChanged]. The package comment (Permanent errors) has the bounds.
func Permanent(err error) error {
	if err == nil {
		return nil
	}
	if _, already := errors.AsType[*PermanentError](err); already {
		return err
	}
	return &PermanentError{Message: truncate(err.Error(), maxError), cause: err}
}

// Error returns the Message and adds nothing to it.
func (e *PermanentError) Error() string { return e.Message }

// Unwrap returns the error that was given to [Permanent]; in a replay, the wrapped
// errors that were kept, or nil.
func (e *PermanentError) Unwrap() error { return e.cause }
