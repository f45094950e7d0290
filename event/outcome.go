package event

// Outcome is the result of a write that is safe to repeat: [Created] or
// [Duplicate]. The zero Outcome is neither of them, so that a caller who
// ignores an error never takes the failed write for a duplicate.
//
// If a reply is lost, the SDK sends the write again. The packages differ in
// their answer to this second attempt. Package counter, and MarkSeen of package
// ledger, recognize their own first attempt and answer Created. In activity,
// alias, pattern, ema and message both attempts leave the same state, and the
// answer is Duplicate. So take a step that must follow such a write after
// either answer, not only after Created. The exception is RecordAll of two or
// more activities: its transaction has a token that DynamoDB recognizes, so it
// answers Created.
type Outcome uint8

const (
	// Created means that this call took effect.
	Created Outcome = iota + 1
	// Duplicate means that the key of the write existed already. The key is the
	// event, a message's number or a ledger's key. Another call wrote it, or an
	// earlier attempt of this call whose reply was lost. This attempt changed
	// nothing.
	Duplicate
)

// String returns "created", "duplicate" or "no outcome".
func (o Outcome) String() string {
	switch o {
	case Created:
		return "created"
	case Duplicate:
		return "duplicate"
	}
	return "no outcome"
}
