package event

// Outcome is the result of a write: [Created] or [Duplicate]. The zero Outcome
// is neither of them, so that a caller who ignores an error never takes the
// failed write for a duplicate.
//
// If a reply is lost, the SDK sends the write again. The packages differ in
// their answer to this second attempt. Package counter, an exact Kind of package
// record, and MarkSeen of package ledger recognize their own first attempt and
// answer Created. (For events that are refunded or settled meanwhile, see Take of
// package counter. AddUnkeyed is not sent again, because it has no event.) In
// activity, alias, pattern, ema, message and all other Kinds of record, both attempts
// leave the same state, and the answer is Duplicate, unless another write changes the
// row in between. So if a step must follow such a write, take the step after Created
// and also after Duplicate. The exception is RecordAll of package activity with two or
// more activities: its transaction has a token that DynamoDB recognizes, so RecordAll
// answers Created.
type Outcome uint8

const (
	// Created means that this call took effect.
	Created Outcome = iota + 1
	// Duplicate means that the key of the write existed already. The key is the
	// event, a message's number or a ledger's key. Another call wrote this key,
	// or an earlier attempt of this call whose reply was lost. This attempt
	// changed nothing. Put of package alias also answers Duplicate if the
	// phrase has the name already, and Set of package record after a tie of
	// equal values.
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
