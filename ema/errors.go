package ema

import "github.com/homeops/ddbpatterns/record"

// ErrContended is returned by [Store.Observe] when other writers of the row
// won every one of 16 attempts, with pauses of some 5 seconds in all, 10 at most.
// Whether the event was counted is open, for the last attempt may have taken
// effect and lost its reply. Observe the same event again: it counts once. Seen
// often, the error says that one row takes more events at once than it can. It is
// [record.ErrContended].
var ErrContended = record.ErrContended
