package record

import (
	"errors"
	"fmt"
)

// ErrContended is returned by [Rows.Apply] and [Rows.ApplyAll] when other writers of
// the row won all 16 attempts. The attempts may also have met transactions or, of an
// exact [Kind], been throttled. [ApplyItem.Outcome] returns it when the row has changed
// since the item was made: make the item anew. The pauses between the attempts take
// some 5 seconds in all, and at most 10.3. The event may have been counted, because the
// last attempt may have taken effect and lost its reply. Apply the same event again: it
// counts only once. If the error is frequent, the row gets more events at a time than
// single writes can count. Then use ApplyAll, which counts up to 32 events in one write
// (99 of an exact Kind), or Add.
var ErrContended = errors.New("record: other writers changed the row first")

// AddError is returned by [Rows.Apply], [Rows.ApplyAll] and [ApplyItem.Outcome] if
// the event is counted already, and added something else. What it added stands. The
// sender uses the identity of an event twice, or has changed an amount: somebody
// must look.
type AddError struct {
	Recorded map[string]int64 // what the event added, by the sum
	Given    map[string]int64 // what this call would have added
}

func (e *AddError) Error() string {
	return fmt.Sprintf("record: the event is counted already: it added %v, not %v", e.Recorded, e.Given)
}

// FloorError is returned by [Rows.Apply] and [ApplyItem.Outcome] if Add would make a
// sum less than AtLeast. It is an answer: nothing was written. If the same event is
// applied again when the sum is large enough, it counts.
type FloorError struct {
	Attribute string // the sum
	Stands    int64  // what the sum is
	AtLeast   int64
}

func (e *FloorError) Error() string {
	return fmt.Sprintf("record: %s is %d, and would become less than %d", e.Attribute, e.Stands, e.AtLeast)
}
