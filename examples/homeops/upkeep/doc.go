// Package upkeep holds programs for operators of homeops. It has no code: package
// backfill and its command, cmd/backfill, add to rows of an older system what they
// lack. It is a module of its own, because a progress bar and a rate limiter are not
// for the library's users.
package upkeep
