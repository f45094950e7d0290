package event

// Outcome is what a write that is safe to repeat did. The zero Outcome is
// neither Created nor Duplicate, so that a dropped error never reads as a
// duplicate.
//
// The packages differ in what they answer when the SDK sends a write again
// because the reply was lost. Package counter and MarkSeen of package ledger
// know their own first attempt and answer Created. In activity, alias,
// pattern, ema and message both deliveries leave the same state, and the
// answer is Duplicate: there what must follow a write must not hang on
// Created. One exception: RecordAll of two or more activities is a transaction,
// whose token DynamoDB knows again, and answers Created.
type Outcome uint8

const (
	// Created says that this call took effect.
	Created Outcome = iota + 1
	// Duplicate says that what the write is keyed by stood there already: the
	// event, a message's number, a ledger's key. It came from another call, or
	// from an attempt of this one whose reply was lost. This attempt changed
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
