// Package event names what happened: the time and the identity of the thing
// in the world that causes a write, and the words every package of this
// library uses for what came of it.
//
// Webhooks, queues and SDK retries deliver twice, and replies get lost. So
// every write of this library is keyed by the event that caused it, never by
// the moment somebody processed it:
//
//	ev, err := event.New(sentAt, "telegram", chatID, messageID)
//
// # Layout
//
// An [Event] is 16 bytes and a valid ULID, so its text sorts as its bytes do
// and the bytes sort by time:
//
//	 0                6                               15  16
//	┌────────────────┬────────────────────────────────┬───┐
//	│ time, ms (48)  │ SHA-256 of the parts (72 bits) │ n │
//	└────────────────┴────────────────────────────────┴───┘
//
// The hash covers every part preceded by its length in bytes as eight bytes,
// big-endian, so ("a", "bc") and ("ab", "c") are different events. The last
// byte counts what follows from the event: [New] gives 1, [Event.Nth] replaces
// it. All that follows from one event is therefore one key range, from
// [Event.First] to [Event.Last].
//
// Events of one millisecond have a stable order that means nothing: Telegram,
// for one, gives whole seconds, so ties are normal.
//
// # Event or key
//
// An event has a time, and so a day, a week and a place in the order of things;
// it keys what is logged, counted and learned. A ledger's key has none: it
// says only "this one", for as long as it is retained. Where both are made of
// one message, make both of the same parts, and the event's time of what the
// sender repeats: a time that differs by a millisecond is another event. If
// the sender's varies, take the time of receipt once and keep it.
//
// # Guarantees
//
// The same time and parts always give the same event, and so the same keys,
// the same local day and the same week. Two different events share a key with
// a chance of about one in 2^72 for each pair of the same millisecond.
// Because events sort by time, "too old to judge" can be decided, and refused
// with [ErrTooOld], rather than guessed.
package event
