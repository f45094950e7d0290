// Package upkeep holds programs for operators of homeops. It has no code: package
// backfill and its command, cmd/backfill, add to rows of an older system what they
// lack.
package upkeep
