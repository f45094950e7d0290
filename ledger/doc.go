// Package ledger remembers which events were handled: an idempotency ledger.
package ledger
