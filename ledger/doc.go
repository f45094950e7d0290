// Package ledger remembers which events were handled, so that a webhook that
// delivers twice, a queue that redelivers and a worker that crashes lead to
// one effect and one answer.
//
// There are two ways to use the package. [Store.MarkSeen] answers "first or
// duplicate" in one write, for work that may be lost but must not be done
// twice:
//
//	out, err := seen.MarkSeen(ctx, key) // event.Created or event.Duplicate
//
// [Do] is for work that must happen: it claims the key, does the work and
// stores its result. For a key that is done, Do returns the stored result
// instead:
//
//	res, err := ledger.Do(ctx, seen, ledger.Request{Key: key, Payload: body},
//		func(ctx context.Context, c *ledger.Claim) (Receipt, error) { return charge(ctx, order, c.Fence) })
//
// [DoTx] is Do for work that writes to DynamoDB: the work's writes and its result
// are one transaction, and [Claim.Reasons] says which of the writes were refused.
// [Store.Claim], [Claim.Renew], [Claim.Complete] and [Claim.Fail] are the steps of
// Do, for work that does not fit into one function. [Claim.Release] gives a key up
// without counting the attempt.
// [Hold] does work while a key is held as a lock, and stores nothing. [Claim.CheckItem]
// lets the transactions of a worker that has lost its claim fail.
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
// # Item
//
// One table without a sort key, with one row for each key. Config.Names can
// give the attributes other names, for an existing table.
//
//	pk           S  CHARGE:ch_719285063, from Key
//	seenAt       S  when the key was first seen
//	expiresAt    N  TTL, in seconds: logical expiry + 1 h of grace
//	source       S  first part of the key, for people
//	state        S  claimed, failed, done, refused
//	claim        S  nonce of the call that wrote or claimed the row
//	lease        N  while claimed: when the lease ends, in ms
//	fence        N  of the last claim; rises with every claim
//	attempts     N  claims since the key was first seen or reopened, less those
//	                that were given back
//	fingerprint  B  SHA-256 of the payload
//	result       S  when done by Complete: the result as JSON
//	lastError    S  when failed or refused: why
//	errorCode    S  when refused: codes of the known errors, for errors.Is
//	holder       S  name that the last claim gave, for people
//
// MarkSeen writes pk, seenAt, expiresAt, source, state and claim. An erased row has
// the same attributes, and also fence and attempts if the key was claimed before;
// an older system's row only loses its notes. A row without the attribute claim is
// an older system's, and its expiresAt has no grace. MarkSeen's rows, erased rows
// and an older system's rows are done and have no result: Do and DoTx return
// [ErrNoResult] for their keys.
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
//	   └── every row, Config.Retention after the last write to it
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
// [*InProgressError] until the lease has ended and then Config.MaxSkew, the
// skew budget, has passed; after that, a Claim takes the key over. A failed key
// can be claimed at once. In both cases, Claim returns [ErrTooManyAttempts] if
// no attempts are left. If a caller cancels its context and the work stops for
// that reason, the claim is given back: the row becomes failed, and the attempt
// does not count. [Do] and [DoTx] also give a claim back after throttling or
// conflicts with other transactions, and DoTx when other writers of a row were
// always first. If the row has a
// fingerprint, a payload with another fingerprint is refused in every state
// ([ErrFingerprintMismatch]).
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
//     the nonce, so it never takes its own event for a duplicate. There is one
//     exception: if a key is erased after a MarkSeen whose reply was lost, the
//     repetition of that MarkSeen answers Duplicate. After a crash, the key is
//     free again when the lease and the skew budget are over, if attempts are
//     left.
//   - All attempts of a key have the same [Claim.Event].
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
// These prices are for rows up to 1 KB, without contention. The doc of each
// method has the details. A write to a larger row costs 1 WCU for each KB of
// the row as it is before or after the write, whichever is larger.
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
//	DoTx       2 requests, 3 WCU    and 2 WCU for each action of the work
//	Get        1 request, 1 RCU
//	List       1 request, 0.5 RCU   for 4 KB of the table: it reads all of it
//	Reopen     1 request, 1 WCU
//	Erase      1 request, 1 WCU
//	Forget     1 request, 1 WCU
//
// With [Request.ReadFirst], a replay costs 1 request and 0.5 RCU if the read
// shows that the key has ended. With [Request.WaitUpTo], the first and the last try
// that find the key held cost as much as a refused claim, and each read between them
// costs 1 request and 0.5 RCU.
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
// [Store.MarkItem]. The transaction of
// [DoTx] needs UpdateItem and the rights for the work's own actions.
package ledger
