package record

import "errors"

// ErrContended is returned by [Rows.Apply] and [Rows.ApplyAll] when other writers
// of the row won all 16 attempts. The pauses between the attempts take some 5
// seconds in all, and at most 10.3. The event may have been counted, because the
// last attempt may have taken effect and lost its reply. Apply the same event
// again: it counts only once. If the error is frequent, the row gets more events
// at a time than single writes can count: use ApplyAll, which counts up to 32
// events in one write.
var ErrContended = errors.New("record: other writers changed the row first at every attempt")
