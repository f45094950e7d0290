// Package replay runs a file of updates through the whole pipeline on the
// updates' own clock: the webhook's HTTP handler, the queue, the worker, the
// tables. Weeks pass in a second, and what the clock decides (quiet hours, the
// day's limit, the queue's visibility timeout) is decided as it was then.
//
// The clock shows the latest date so far and never goes back. Updates may leave
// gaps and come in any order: an update that is older than the clock is
// delivered late, without moving it. A date more than an hour ahead of the
// present does not move the clock, so the worker refuses its update.
//
// At every full hour that passes between two updates the hour's job is done, but
// only in the first 14 days of a gap: a file of years takes no longer for its
// silence.
//
//	source.go   reads updates, tells when each came in, and what time it is
//	replay.go   the loop: post to the webhook, then let the worker empty the queue
//	open.go     the database, embedded or a real endpoint with TTL off
package replay
