package ledger

import (
	"errors"
	"fmt"
	"time"
)

var (
	// ErrFingerprintMismatch is returned by [Store.Claim], [Do] and [DoTx]: the
	// key was claimed with another payload. Trying again cannot help: the
	// sender reuses its ids, or the key has too few parts.
	ErrFingerprintMismatch = errors.New("ledger: the key was claimed with another payload")

	// ErrTooManyAttempts is returned by [Store.Claim], [Do] and [DoTx]: the key
	// has used up its Config.MaxAttempts attempts without completing. The key
	// stays blocked until its row expires: move the event to a dead-letter
	// queue. If the last holder is still at work after its lease has lapsed, it
	// can complete the key even then; later deliveries get a [*DoneError], or
	// the result from Do. It can also give its attempt back. When the cause has
	// been repaired, [Operators.Reopen] gives a failed key its attempts again; if
	// the last holder crashed, [Operators.Forget] frees the key. A Store with a
	// greater MaxAttempts can also claim the key. If an attempt failed, the
	// error's text has the reason of the last one that did.
	ErrTooManyAttempts = errors.New("ledger: too many attempts")

	// ErrNoResult is returned by [Do] and [DoTx] for a key that is done and has no
	// result to replay: [Store.MarkSeen] or an older system wrote its row, or
	// [Store.Erase] removed what was stored. The work was done, or should no
	// longer be done. Trying again cannot help: delete the queue's message.
	ErrNoResult = errors.New("ledger: the key is done and has no stored result")

	// ErrLeaseLost is returned by [Claim.Complete], [Claim.Fail], [Claim.Renew],
	// [Claim.Release], [Store.Resume], the actions of [Claim.CompleteItem] and
	// [Claim.CheckItem], [Do], [DoTx] and [Hold]: the claim is no longer held, and another worker may have the key. When Do and
	// DoTx lose the lease while the work runs, they also end the work's context
	// with this error as its cause. The call that returns ErrLeaseLost may have
	// changed something: for example, a Fail whose reply was lost may have given
	// the key up before another worker claimed it.
	ErrLeaseLost = errors.New("ledger: lease lost")

	// ErrResultDiffers is returned by [Do] and [DoTx]: the work completed its
	// claim itself, with [Claim.Complete] or in a transaction with
	// [Claim.CompleteItem], and then returned another result. This call returns
	// neither result; the next delivery gets the stored result. It is not
	// returned when an earlier transaction of DoTx completed the claim late:
	// DoTx then returns the result of that transaction or, if the work may have
	// stored that result itself, an [event.ErrUnknownOutcome].
	ErrResultDiffers = errors.New("ledger: the work returned a result that differs from the stored one")

	// ErrResultNotStored is returned by [Do] and [DoTx], in a [*PermanentError]:
	// the work ran, and its result cannot be stored, because it is over
	// Config.MaxResult or cannot be encoded. The [*event.InputError] in the same
	// error says why. In Do, the work is done: the call that did it also returns the
	// result, every later delivery gets only this error, and after a [Operators.Reopen]
	// the work would be done twice. So it is in DoTx, if the work returned no
	// actions. If it did, none of them were written, and the error's text says so.
	// Trying again cannot help. [Claim.Check] tells before the work.
	ErrResultNotStored = errors.New("ledger: the work ran, but its result cannot be stored")
)

// Errors of Reopen, Erase and Forget, which are for operators.
var (
	// ErrNotFound is returned by [Operators.Reopen] and [Store.Erase]: the key has
	// no row. Reopen also returns it for a row that has expired.
	ErrNotFound = errors.New("ledger: no such key")

	// ErrChanged is returned by [Operators.Reopen] and [Operators.Forget]: since the
	// operator saw the record, the key was claimed or marked anew, resumed,
	// reopened or erased.
	ErrChanged = errors.New("ledger: the row changed since it was seen")
)

// errGivenUp is the ErrLeaseLost of a claim that its own Fail or Release gave up.
var errGivenUp = fmt.Errorf("%w: the holder itself gave it up", ErrLeaseLost)

// InProgressError is returned by [Store.Claim], [Do] and [DoTx] while another
// worker, or another call of this one, holds the key. [Operators.Reopen] returns it
// if the claim that the operator saw has not ended, even if its lease has
// lapsed. [Operators.Forget] returns it if that claim still holds, and can return
// it if that claim is over but is younger than twice [Config].MaxSkew.
type InProgressError struct {
	// Wait is how long it takes until the key can be claimed, if its holder has
	// crashed. From [Operators.Forget], it is how long it takes until the key can be
	// forgotten. A healthy holder completes earlier or renews. Use Wait as the
	// delay of a queue's message. An HTTP client cannot wait that long: for its
	// requests, set [Request.WaitUpTo] to a few seconds, and if the key is still
	// held, answer with a Retry-After of a few seconds.
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
		return "ledger: in progress, and its lease has lapsed: the next delivery takes it over while attempts are left; otherwise Forget frees it"
	}
	who := "another worker"
	if e.Holder != "" {
		who = fmt.Sprintf("%q", e.Holder)
	}
	return fmt.Sprintf("ledger: in progress: %s holds the key for %v, or longer if it renews its lease", who, e.Wait)
}

// DoneError is returned by [Store.Claim] and [Operators.Reopen] for a key that is
// done, except when Reopen returns [ErrChanged]. [Store.Resume], [Claim.Fail],
// [Claim.Renew] and [Claim.Release] return it when their claim was completed
// before. [Claim.Complete] and [Claim.CompleteItem]'s action return it when their claim
// was completed before with another result. When [Do] and [DoTx] get it from
// Claim, they replay the stored result.
type DoneError struct {
	// Record is the key's row. Its Result is nil if the key has no result.
	Record Record
}

// Error says that the key is done. It does not show the result.
func (e *DoneError) Error() string { return "ledger: the key is already done" }

// ResultError is returned by [Do] and [DoTx] for a key that is done, if the stored
// result does not fit the type T of the call: another program, or an earlier
// version of this program, stored it, or T does not survive encoding/json. The
// work was done, and trying again cannot help. Record.Result has the stored
// result.
type ResultError struct {
	Record Record

	op, table, want string
	cause           error
}

// Error names the type that was wanted, and has the text of encoding/json's
// error. That text can quote a part of the result, such as a number or a time.
func (e *ResultError) Error() string {
	return fmt.Sprintf("%s: %s on table %s: the stored result does not fit the type %s: %v", pkg, e.op, e.table, e.want, e.cause)
}

// Unwrap returns the error of encoding/json.
func (e *ResultError) Unwrap() error { return e.cause }

// ItemError is returned by [DoTx] when the condition of an action failed, and
// calling the work again, up to 15 times, did not help. It is also returned when an
// action failed for another reason: for example, an operand of its update has the
// wrong type, or a conflict or throttling lasted until DoTx gave up. For a
// transaction that DynamoDB refuses as a whole, such as one with an invalid
// expression, DoTx returns DynamoDB's error instead.
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

// PermanentError is returned by [Do] and [DoTx] when the work returned a
// [Permanent] error, a result that cannot be stored (see [ErrResultNotStored]) or,
// in DoTx, too many actions.
// Whenever the key comes again with the same payload, Do, DoTx and [Store.Claim]
// return the stored error as a PermanentError, until the row expires or an
// operator changes it. Until then, after a [Claim.Fail] with a permanent error,
// all later requests of the claim also return the stored error, except a
// repetition of the same Fail; so does [Store.Resume].
type PermanentError struct {
	// Message is the text of the error, which [Permanent] cuts to 512 bytes. A
	// row stores the text up to that length, so a replay has the same Message.
	Message string

	cause error // when replayed, what was kept of it; nil if nothing was
}

// Permanent marks err as an error that would come again in every further
// attempt. [Do] and [Claim.Fail] store such an error as the outcome of the key,
// and later deliveries get it as a [*PermanentError]. Permanent(nil) is nil.
//
// Package verdict says which errors of the work to mark. Mark a Poison: unmarked, it
// uses up an attempt in each delivery, and after the last the answer is only
// [ErrTooManyAttempts]. Leave it unmarked if a later delivery may succeed: an event
// too far ahead, a *record.FloorError. Return a Retry as it is. A Done, such as an
// *activity.ConflictError, is an answer: make it the result, with a nil error.
// Marked, it would be Poison, unless it is [event.ErrSuperseded] or [ErrNoResult].
//
// In a replayed error, errors.Is and errors.As still find these wrapped errors:
// the sentinels of package event, such as [event.ErrTooOld]; the sentinels of
// this package, except [ErrNotFound] and [ErrChanged]; the sentinels of
// Config.Errors; and an [*event.InputError]. Of other wrapped errors, only the
// text is kept. A row has 80 bytes for the fence of the claim and the codes of
// the errors that are still found: two sentinels always fit, and so do one
// sentinel and an InputError. A code that does not fit is left out.
//
// If the first 512 bytes of the error's text end within the Reason of the
// InputError, the replayed Reason ends there too. If they do not have the
// Package and Field, the replayed InputError has the whole stored text in
// Reason, and its Package and Field are empty.
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

// Unwrap returns the error that was given to [Permanent]. In a replay, it
// returns the wrapped errors that were kept, or nil: see Permanent.
func (e *PermanentError) Unwrap() error { return e.cause }
