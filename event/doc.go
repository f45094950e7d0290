// Package event identifies what causes a write: an [Event] is the time and the
// identity of something that happened. The package also has the outcomes and
// errors that all packages of this library share.
//
// Webhooks, queues and SDK retries deliver the same thing twice, and replies
// get lost. So almost every write of this library is keyed by what caused it,
// never by the time of processing. Packages ledger and message have keys and
// numbers of their own. All other packages use an event:
//
//	ev, err := event.New(placedAt, "shop", orderID)
//
// # Layout
//
// An [Event] is a valid ULID of 16 bytes. Its bytes sort by time, and its text
// sorts as the bytes do:
//
//	 0                6                               15  16
//	┌────────────────┬────────────────────────────────┬───┐
//	│ time, ms (48)  │ SHA-256 of the parts (72 bits) │ n │
//	└────────────────┴────────────────────────────────┴───┘
//
// The hash covers every part. Before each part comes its length in bytes, as
// eight bytes, big-endian. So ("a", "bc") and ("ab", "c") are different events.
// The last byte, n, numbers the things that follow from one event, such as the
// lines of an order. [New] sets n to 1, and [Event.Nth] replaces it. So all
// things that follow from one event lie in one key range: they differ in their last
// byte, which is [Event.N].
//
// Different events of the same millisecond always sort in the same order, but
// the order has no meaning, except that the things that follow from one event
// sort by n. Events of one millisecond are common, because many senders give
// times in whole seconds.
//
// # Event or key
//
// An event has a time, and so a day, a week and a place in the order of events.
// It is the key of what is logged, counted and learned. A key of package ledger
// has no time: it only identifies one thing, for as long as the key is
// retained. If you make an event and a key from one message, use the same parts
// for both. Take the event's time from a field that the sender repeats on a
// redelivery, because a time that differs by a millisecond makes another event.
// If the sender's time varies, take the time of receipt once and keep it.
//
// If a request, such as a click, has no id of its own, give it an id where it
// comes in:
//
//	event.New(time.Now(), "password-reset", user, rand.Text())
//
// Make that event once and pass it on. Then a click that your queue or the SDK
// repeats is still one event, and two clicks are two events.
//
// # Guarantees
//
// The same time and parts always give the same event, and so the same keys, the
// same local day and the same week. Two different lists of parts with the same
// millisecond give the same event with a chance of about one in 2^72. Events
// sort by time. So a store can see that an event is too old to judge, and
// refuses such an event with [ErrTooOld] instead of guessing.
package event
