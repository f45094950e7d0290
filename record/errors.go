package record

import "errors"

// ErrContended is returned by [Rows.Apply] and [Rows.ApplyAll] when other writers
// of the row won every one of 16 attempts, with pauses of some 5 seconds in all,
// 10 at most. Whether the event was counted is open, for the last attempt may have
// taken effect and lost its reply. Apply the same event again: it counts once.
// Seen often, the error says that one row takes more events at once than it can:
// ApplyAll takes 32 in one write.
var ErrContended = errors.New("record: other writers won every attempt")
