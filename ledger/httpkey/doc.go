// Package httpkey gives the handlers of net/http the header Idempotency-Key: a request
// that a client sends again, with the same key, gets the answer of the first.
//
//	keys, err := httpkey.New(answers, customerOf, nil) // answers is a *ledger.Store
//	mux.Handle("POST /charges", keys.Handler(charge))
//
// The handler stays an ordinary http.Handler. What it must know about keys is little:
//
//   - It runs at least once, as the work of [ledger.Do] does: again after a crash, a lost
//     lease or an answer that is not stored. Make the events of what it writes by
//     [ledger.Claim.Event] of [FromContext]'s claim, and give such an event to a provider
//     as the idempotency key. With time.Now, each attempt would charge anew.
//   - Its writes to DynamoDB can be one transaction with its answer: see [Add].
//   - It must stop when the request's context ends.
//
// # Answers
//
//	the first request                    the handler's answer
//	the same again                       the stored answer, Idempotent-Replayed: true
//	another method, URI or body          422
//	no key, two, or a malformed one      400
//	an empty caller                      401
//	a body above 1 MB                    413
//	a body that ends early               400, and the key is not used
//	in progress, after waiting for 1 s   409, Retry-After of 1 or 2 s
//	the handler takes too long           503, Retry-After: see Config.Timeout
//	DynamoDB is in trouble               503, Retry-After
//	the attempts are used up             500
//	a write of Add stays refused         503, Retry-After
//	the answer was erased                410
//	the answer is too large to be kept   500 to the requests after the first; with Add,
//	                                     to the first, too
//
// These answers have a body of application/problem+json, except the handler's own. A
// key has 1 to 255 characters. It is a string of structured fields (RFC 9651), "k-1", or
// bare, as most clients send it: both forms are the same key. GET, HEAD, OPTIONS and TRACE
// pass by. To make the header optional, call the handler itself for requests without it.
//
// Authentication belongs before this handler. A rate limit before it counts each request,
// also one that is answered from the ledger. One in the handler counts a request once, by
// [ledger.Claim.Event], and its 429 is not stored, so the request may be sent again.
//
// Each 5xx, crash and panic uses up an attempt. After the last, the 5th by default, the
// answer is 500. Other answers that are not stored use up no attempt, except when DynamoDB
// cannot be written to just then: the key stays in progress until its lease is over, and
// the attempt counts. For a provider that may be down for long, raise
// ledger.Config.MaxAttempts. A key is forgotten after the ledger's Retention: tell your
// clients.
//
// After a crash the key is in progress for the Lease and the MaxSkew of the ledger, 70 s by
// default. A client that obeys Retry-After asks every three seconds, for 6 requests to
// DynamoDB each. Where people wait for the answer, a Lease of some seconds is enough: it is
// renewed while the handler works.
//
// # What is stored
//
// The status, the body, and the headers Content-Type, Content-Encoding,
// Content-Location, ETag, Location and those of Config.Headers, as the result of the
// key caller:HTTP:hash in the ledger, {"status":201,"header":{…},"body":"base64…"}.
// The hash is the SHA-256 of the client's key, in hexadecimal digits: a client may make
// its keys of personal data. Base64 makes a body a third larger, so a
// ledger.Config.MaxResult of 16 KB stores almost 12 KB. The answer to an error of the
// moment is not stored: see Config.Keep.
//
// The caller is the first part of the key, so that a person can be erased: list the
// person's keys with [ledger.Operators.List], whose Filter.Prefix is ledger.Key(caller),
// and give each to [ledger.Store.Erase]. Let the caller be an opaque id, because the key
// stays until the row expires.
//
// # IAM actions
//
//   - The service, on the ledger's table: GetItem, UpdateItem
//
// They are those of DoTx: schema.Only(answers, "DoTx").
package httpkey
