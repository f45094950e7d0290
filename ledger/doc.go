// Package ledger remembers which events were handled, so that a webhook that
// delivers twice, a queue that redelivers and a worker that crashes lead to
// one effect and one answer.
//
// [Do] claims a key, does the work and stores its result. For a key that is done, Do
// returns the stored result instead:
//
//	res, err := ledger.Do(ctx, seen, ledger.Request{Key: key, Payload: body},
//		func(ctx context.Context, c *ledger.Claim) (Receipt, error) { return charge(ctx, order, c.Fence) })
//
// [Store.Claim], [Claim.Renew], [Claim.Complete] and [Claim.Fail] are the steps of
// Do, for work that does not fit into one function. [Claim.Release] gives a key up
// without counting the attempt.
//
// [Hold] does work while a key is held as a lock, and stores no result. With
// [Claim.CheckItem], the transactions of a worker that has lost its claim fail.
//
// [DoTx] is Do for work that writes to DynamoDB: the work's writes and its result
// are one transaction, and [Claim.Reasons] says which of the writes were refused.
//
// [Store.MarkSeen] answers "first or duplicate" in one write, for work that may be
// lost but must not be done twice:
//
//	out, err := seen.MarkSeen(ctx, key) // event.Created or event.Duplicate
//
// [Claim.Token] and [Store.Resume] hand a claim to another process.
// [Store.MarkItem] and [Claim.CompleteItem] are for a transaction that you send
// yourself. [Claim.Event] is the event of a request that has no time of its own,
// and [Claim.Check] reports whether a result can be stored.
//
// Operators find failed, refused and stuck keys with [Operators.List].
// [Operators.Reopen] lets a failed or refused key be tried again, [Store.Erase]
// removes what is stored with a key, and [Operators.Forget] lets the work be done
// anew.
//
// The table has one row for each key, and no sort key. FORMAT.md describes the row,
// and Config.Names can give its attributes other names, for an existing table.
// For MarkSeen's rows, erased rows and an older system's rows, Do returns
// [ErrNoResult]. Of an older system's row, Erase removes only the notes.
//
// # State machine
//
//	                 MarkSeen
//	   ┌──────────────────────────────────────────┐
//	   │                                          ▼
//	no row ──Claim──▶ claimed ──Complete(r)──▶  done ──▶ DoneError, or r replayed
//	or expired        │  ▲  │
//	   ▲              │  │  └─Fail(Permanent)─▶ refused ─▶ PermanentError replayed
//	   │              │  │
//	   │       Fail(e)▼  │Claim, until MaxAttempts
//	   │            failed  ───────────────────────────▶ ErrTooManyAttempts
//	   │
//	   └── when the row expires
//
// A holder can also do this:
//
//	claimed ──Release──▶ failed      the attempt does not count
//	claimed ──Resume───▶ claimed     by another holder, with a higher fence
//
// Operators can do this:
//
//	failed, refused ──Reopen──▶ failed    with all attempts left
//	any row ────────Erase───▶ done        without a result, until it expires
//	any but held ───Forget──▶ no row
//
// While a row is claimed, Renew moves its lease. Any further Claim returns an
// [*InProgressError] until the lease and the skew budget (Config.MaxSkew) are
// over; after that, a Claim takes the key over. A failed key can be claimed at
// once. In both cases, Claim returns [ErrTooManyAttempts] if no attempts are
// left. If the row has a fingerprint, a payload with another fingerprint is
// refused in every state ([ErrFingerprintMismatch]).
//
// An example of a crash, with a lease of 1 min and a skew budget of 10 s. t is
// in seconds, and the first fence comes from the clock in ms:
//
//	t     worker                     row after it                       answer
//	 0    A claims                   claimed, lease 60, attempts 1      fence 1800000000001
//	10    A renews (heartbeat)       claimed, lease 70                  held
//	15    A crashes                  the same
//	20    B claims                   the same                           InProgressError, wait 60 s
//	80    B claims                   claimed, lease 140, attempts 2     fence 1800000000002
//	85    A wakes up, completes      the same                           ErrLeaseLost
//	90    B completes, reply lost    done, result
//	      the SDK sends it again     the same                           completed, by the nonce
//	95    the event comes again      the same                           result replayed
//
// # Lease
//
// [Do], [DoTx] and [Hold] run the work on the caller's goroutine and renew the lease
// meanwhile. The work's context ends with the caller's. It also ends, with
// [ErrLeaseLost] as its cause, as soon as the lease is no longer certain. If the
// machine was suspended for longer than the lease, the context ends within a second
// after the machine resumes, unless a renewal succeeds first. When the context ends,
// the work must stop.
//
// When the work settles its claim itself, the renewals end, but the context does not.
// If it does so in a transaction with [Claim.CompleteItem], the claim learns of that
// from the answer to its next request, or from the action's Outcome. Until then, the
// context may end as if the lease were lost.
//
// Do and Hold record the outcome within 5 s after the work, even if the caller's
// context has ended. If that fails, the worker crashes or the work panics, the key
// stays blocked until the lease and the skew budget are over; then the next delivery
// claims it, if attempts are left. When the work of a Hold no longer needs the lock, it
// may call [Claim.Release].
//
// # Attempts
//
// A key may be claimed Config.MaxAttempts times; then it ends in [ErrTooManyAttempts].
// [Hold] does not look at that limit. Some attempts are given back and do not count:
//
//   - [Claim.Release] gave the key up.
//   - The context of [Store.Claim] was cancelled, or its deadline passed, before the
//     work began.
//   - The caller cancelled its context, for example because of a deploy, and the work's
//     error wraps the context's error or cause. If the deadline passed while the work
//     ran, the attempt counts, because the work itself may have been too slow.
//   - The work's error is or wraps the SDK's error of a throttled request to a service of
//     AWS, or of a conflict with a transaction. After a LimitExceededException, a quota,
//     the attempt counts.
//   - The work's error is or wraps the ErrContended of package record, pattern or ema.
//   - [DoTx] gives up because of throttling, conflicts or busy rows, or the context ends
//     in the pause after those. Rows are busy if each that refused both of the last two
//     transactions changed in between. Your own actions need
//     ReturnValuesOnConditionCheckFailure for that.
//
// If the ledger's own table is so busy that giving the attempt back fails, too, the
// attempt counts. For an event that never gets through, rely on the queue's own limit
// of receives. A holder that is still at work after its lease can give its attempt back:
// that frees a key that has ended in ErrTooManyAttempts.
//
// # Transactions
//
// [DoTx] stops renewing the lease before it sends the transaction. If less than a
// third of the lease is left then, it renews the lease once more. It sends the
// transaction again, unchanged, after a conflict with another transaction, after an
// unknown outcome, and after the throttling of an action, which the SDK does not
// repeat. All this takes at most 5 s, even if the caller's context has ended. If the
// outcome stays unknown, DoTx gives the key up, within 5 s more; the answer to that
// request shows whether the transaction took effect. Of all the transactions of a
// claim, at most one takes effect, even if some arrive late; DoTx or the next delivery
// returns that one's result. After [ErrLeaseLost], another worker may have the key.
//
// DoTx takes the [Claim.CheckItem] of another claim, such as that of a [Hold] around it.
// The pauses before further calls of the work grow up to 1.3 s. They end with the
// context, and the lease is renewed in them.
//
// If work that returns actions has completed its claim itself, DoTx returns an
// [*event.InputError] or, if it stored another result, perhaps [ErrResultDiffers]. If an
// earlier transaction, which came late, may also have stored what the work stored, DoTx
// returns an [event.ErrUnknownOutcome].
//
// A test that answers the transaction itself gives the completion the first reason,
// and the work's actions those after it: see Answer of package dynamotest. The work may
// make items anew to ask for their Outcome: see Spending.Buy in examples/cookbook.
//
// # Events
//
// [Claim.Event] is for a request that has no time of its own, such as one with an
// Idempotency-Key. After the key expired, or after [Operators.Forget], the event is
// another one: what the forgotten event counted is counted again. If the effect has an
// id and a time of its own, as a provider's charge has, make the events of what follows
// from that id and time instead.
//
// Each attempt keeps the row for another Retention, so SeenAt may be long ago. If a
// counter's window of that time ended longer ago than its Retention, the counter answers
// [event.ErrTooOld], and an earlier attempt may have counted. If the clock that saw the
// key first was ahead by more than [event.MaxAhead], which no MaxSkew allows, stores
// refuse the event, as an [*event.InputError], until it is no longer that far ahead.
//
// # Permanent errors
//
// A row stores the first 512 bytes of a [Permanent] error's text. It has 80 bytes for
// the fence of the claim and the codes of the errors that errors.Is and errors.As still
// find in a replay: two sentinels always fit, and so do one sentinel and an
// [*event.InputError]. A code that does not fit is not stored. A code that the reading
// Store does not know is ignored.
//
// If the stored text ends within the Reason of the InputError, the replayed Reason ends
// there, too. If the text does not have the Package and Field, the replayed InputError
// has all of it in Reason, and its Package and Field are empty.
//
// An error that is a Done for package verdict becomes a Poison when it is marked
// Permanent, unless it is [event.ErrSuperseded] or [ErrNoResult].
//
// # Operators
//
// [Operators.Reopen], [Operators.Forget] and [Store.Erase] are safe to repeat. After a
// lost reply, the SDK sends the request again, and Reopen recognizes its own change. If
// the key comes again before the repeated request arrives, Reopen and Forget return
// [ErrChanged]. Erase also erases a row that has expired and is not deleted yet. Forget
// also deletes the row if the claim that the operator saw has completed or failed since.
//
// To be able to erase everything about a person, let the keys begin with the person's
// opaque id, which [Filter].Prefix finds, or store the keys with the person's orders or
// messages. A name or an address has no place in a key: it stays until the row expires
// or is forgotten.
//
// # Guarantees
//
//   - As long as no two clocks differ by more than Config.MaxSkew, at most one
//     worker holds a key at a time, and each claim has a higher fence than all
//     earlier claims of the key, even after the row expired and was deleted.
//   - Only the worker that last claimed or resumed a key can renew, complete or
//     fail the claim. A worker that lost its lease gets [ErrLeaseLost], and
//     changes nothing from then on.
//   - A key that is done or refused stays so, even if requests arrive late,
//     until it expires or an operator changes it. Until then, every delivery
//     with the same payload gets the same result or the same permanent error.
//   - No event is lost. A call whose reply was lost recognizes its own row by
//     the nonce, so it never takes its own event for a duplicate. One exception:
//     if the key is erased after the lost reply, the repetition of MarkSeen
//     answers Duplicate, and that of Claim returns a [*DoneError]. After a crash,
//     the key is free again when the lease and the skew budget are over, if
//     attempts are left.
//   - Until a key expires or is forgotten, all attempts have the same [Claim.Event].
//   - Deletions of this package's rows by TTL do not change the answers of
//     MarkSeen, Claim and Get, or the work that Do begins. The package itself
//     judges whether a row has expired, and TTL deletes such a row only when it
//     has expired for every clock. A claim that is not renewed for a whole
//     Retention may still complete until its row is deleted; after that it gets
//     [ErrLeaseLost].
//
// Not guaranteed:
//
//   - that the work happens, if the caller of MarkSeen dies after the call
//   - that effects of the work happen only once: use [Claim.Fence], [Claim.CheckItem] or [DoTx]
//   - anything in global tables, whose Regions check conditions separately if
//     their consistency is eventual: use one Region for one key
//   - that fences rise after a row was deleted by anything except TTL and
//     [Operators.Forget], or for a Claim that was on its way during a Forget
//
// # Prices
//
// These prices are for this package's rows up to 1 KB, without contention. A
// write costs 1 WCU (in a transaction, 2) for each KB of the row before or after
// the write, whichever is larger.
//
//	MarkSeen   1 request, 1 WCU     first or duplicate
//	Claim      1 request, 1 WCU     granted or refused; twice that when the row
//	                                has expired and is not deleted yet
//	Renew      1 request, 1 WCU
//	Complete   1 request, 1 WCU
//	Fail       1 request, 1 WCU
//	Release    1 request, 1 WCU
//	Resume     1 request, 1 WCU
//	Do         2 requests, 2 WCU    a replay: 1 request, 1 WCU
//	Hold       2 requests, 2 WCU
//	DoTx       2 requests, 3 WCU    and 2 WCU for each action; without any, as Do
//	Get        1 request, 1 RCU
//	List       1 request, 0.5 RCU   for each 4 KB that it reads
//	Reopen     1 request, 1 WCU
//	Erase      1 request, 1 WCU
//	Forget     1 request, 1 WCU
//
// If the context of Claim or Resume ends before the answer comes, giving the key up
// costs one more request. After a transaction with [Claim.CompleteItem], Do still sends
// its second request, which finds the claim completed. When [DoTx] sends its transaction
// again after a lost reply, DynamoDB only reads: 2 RCU for each 4 KB of each action's
// item, including the completion.
//
// With [Request.ReadFirst], a replay costs 1 request and 0.5 RCU if the read shows that
// the key has ended. A marked or erased key has no payload, so the price of the claim is
// added. With [Request.WaitUpTo], the first and the last try that find the key held cost
// as much as a refused claim, and each read between them costs 1 request and 0.5 RCU for
// each 4 KB.
//
// A write that conflicts with a transaction on the row, or with another Region's
// write, is sent again, up to 5 times, with pauses of at most 0.62 seconds in
// all. Each repetition costs 1 more request.
//
// # IAM actions
//
// [Store.Actions] returns these actions for [schema.Policy]:
//
//   - The service, on the table: ConditionCheckItem, GetItem, PutItem, UpdateItem
//   - Operators (Erase, Forget, List, Reopen; also Get), on the table:
//     DeleteItem, GetItem, Scan, UpdateItem
//
// A transaction needs the rights for each action in it: UpdateItem for
// [Claim.CompleteItem], ConditionCheckItem for [Claim.CheckItem], and PutItem for
// [Store.MarkItem]. The transaction of [DoTx] needs UpdateItem and the rights for the
// work's own actions.
package ledger
