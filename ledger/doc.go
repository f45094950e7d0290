// Package ledger remembers which events were handled, so that a webhook that
// delivers twice, a queue that redelivers and a worker that crashes lead to
// one effect and one answer.
//
// There are two ways to use it. [Store.MarkSeen] answers "first or duplicate"
// in one write, for work that is better lost than done twice:
//
//	out, err := seen.MarkSeen(ctx, key) // event.Created or event.Duplicate
//
// [Do] claims the key, does the work and stores its result, for work that must
// happen; a key that is done gives the stored result instead:
//
//	res, err := ledger.Do(ctx, seen, ledger.Request{Key: key, Payload: body},
//		func(ctx context.Context, c *ledger.Claim) (Receipt, error) { return charge(ctx, order, c.Fence) })
//
// [DoTx] is Do for work that writes to DynamoDB: its writes and its result are
// one transaction, and [Claim.Reasons] tells the work which of them were refused. [Store.Claim], [Claim.Renew], [Claim.Complete] and
// [Claim.Fail] are the steps of Do, for workers that do not fit into a function.
// [Claim.Release] gives a key up without counting the attempt, as a lock does;
// [Claim.Token] and [Store.Resume] hand a claim to another process.
// [Store.MarkItem] and [Claim.CompleteItem] are for a transaction of your own.
//
// Operators find failed, refused and stuck keys with [Store.List], let them be
// tried again with [Store.Reopen], remove what is stored with [Store.Erase], and
// have the work done anew with [Store.Forget].
//
// # Item
//
// One table, one row for each key; the partition key is all there is. Config
// gives pk and expiresAt other names, for a table that is there already.
//
//	pk           S  ALOWARE:719285063, from Key
//	seenAt       S  when the key was first seen
//	expiresAt    N  TTL, in seconds: logical expiry + 1 h of grace
//	source       S  first part of the key, for people
//	state        S  claimed, failed, done, refused
//	claim        S  nonce of the call that wrote or claimed the row
//	lease        N  while claimed: until when it is held, in ms
//	fence        N  of the last claim; rises with every claim
//	attempts     N  claims since the key was first seen or reopened, less those
//	                that were given back
//	fingerprint  B  SHA-256 of the payload
//	result       S  when done by Complete: the result as JSON
//	lastError    S  when failed or refused: why
//	errorCode    S  when refused: which known errors that is, for errors.Is
//
// MarkSeen writes pk, seenAt, expiresAt, source, state and claim. An erased row has
// these, fence and attempts. A row without claim is an older system's: it is done,
// and its expiresAt has no grace. All three are done without a result: Do and DoTx
// answer [ErrNoResult].
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
// Beside these, for a holder:
//
//	claimed ──Release──▶ failed      the attempt does not count
//	claimed ──Resume───▶ claimed     by another holder, with a higher fence
//
// and for operators:
//
//	failed, refused ──Reopen──▶ failed    with all attempts left
//	any row ────────Erase───▶ done        without a result, until it expires
//	any but held ───Forget──▶ no row
//
// While a row is claimed, Renew moves its lease and every other Claim answers
// [*InProgressError]. When the lease has lapsed by the skew budget, Claim takes
// it over as it does a failed row. A claim that its caller cancelled is given
// back: the row is failed, and the attempt does not count; so is one whose [DoTx]
// was throttled, or met other transactions, to the end. A payload of another
// fingerprint is refused in every state ([ErrFingerprintMismatch]).
//
// A delivery that crashes, worked through with a lease of 1 min, a skew budget
// of 10 s, and t in seconds; the fence begins with the clock in ms:
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
//   - At most one worker holds a key at a time, as long as no two clocks differ
//     by more than Config.MaxSkew; each claim has a higher fence than all
//     before it, also after the row expired and was deleted.
//   - Only the last claim, or whoever resumed it, can renew, complete or fail. A worker that lost its
//     lease is told [ErrLeaseLost], and changes nothing from then on.
//   - What has ended stays ended until it expires, whatever arrives late, and
//     every delivery until then gets the same result.
//   - No event is lost: a call whose reply was lost knows its own row by the
//     nonce and is never told that it is a duplicate of itself; after a crash
//     the key is free again when lease and skew budget are over.
//   - TTL's sweep changes no answer of MarkSeen, Claim and Get, nor which work
//     Do begins: whether a row has expired is judged in the condition, and a row
//     is deleted only when it has expired for every clock. A claim that is not
//     renewed for a whole Retention may still complete until the sweep takes its
//     row, and has lost its lease then.
//
// Outside of them: MarkSeen when the caller dies after it; the effects of the
// work itself, which happen at least once (use [Claim.Fence] or [DoTx]); global
// tables, which check conditions in each Region for itself (use one Region for one
// key); a row that people delete, unless it is by [Store.Forget], which keeps
// fences rising.
//
// # Prices
//
// Uncontended, on rows up to 1 KB; details stand at each method. A write to a
// larger row costs 1 WCU for each KB before or after it, whichever is more.
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
//	DoTx       2 requests, 3 WCU    and 2 WCU for each action of the work
//	Get        1 request, 1 RCU
//	List       1 request, 0.5 RCU   for 4 KB of the table: it reads all of it
//	Reopen     1 request, 1 WCU
//	Erase      1 request, 1 WCU
//	Forget     1 request, 1 WCU
//
// [Request.ReadFirst] makes a replay 1 request and 0.5 RCU; [Request.WaitUpTo]
// costs a refused claim each time it asks.
//
// A write that meets a transaction on the row, or another Region's write, is sent
// again, up to 5 times within 0.6 seconds: 1 request each.
//
// # IAM actions
//
// For [schema.Policy], as [Store.Actions] has them:
//
//   - The service, on the table: GetItem, PutItem, UpdateItem
//   - Operators (Erase, Forget, List, ListPage, Reopen; also Get), on the table:
//     DeleteItem, GetItem, Scan, UpdateItem
//
// A transaction is granted by the actions in it: [Claim.CompleteItem] is
// UpdateItem, [Store.MarkItem] is PutItem, and [DoTx] needs UpdateItem and what the
// work's own actions need.
package ledger
