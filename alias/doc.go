// Package alias keeps a vocabulary for each scope: what people say, and the
// name it stands for. It learns phrases, counts how often they are confirmed,
// takes corrections, and finds the phrases in a text.
//
//	book, err := alias.New(db, "homeops", nil)
//
//	out, err := book.Put(ctx, alias.Put{Scope: chat, Phrase: "Ta disken", Name: "diskning", Event: ev, Actor: "42"})
//	var taken *alias.TakenError
//	if errors.As(err, &taken) { … }                       // taken.Owner has it; Correct would take it
//
//	found, err := book.Match(ctx, chat, "jag kan ta  DISKEN ikväll")
//	found[0].Name                                         // diskning
//
// # Item
//
//	┌───────────────────┬─────────────────────────────────┐
//	│ pk (S)            │ sk (S)                          │
//	├───────────────────┼─────────────────────────────────┤
//	│ "ALIAS#-100123"   │ "ta disken"                     │  scope as it is; phrase normalised
//	├───────────────────┴─────────────────────────────────┤
//	│ type              S "ALIAS"                         │  Config.Prefix
//	│ canonicalActivity S "diskning"                      │  absent when forgotten
//	│ confirmations     N 3                               │
//	│ source            S "seed" or "learned"             │
//	│ learnedFrom       S "42"                            │  who taught it
//	│ namedBy           S "01KJP…"                        │  last event that decided the name
//	│ confirmers        BS [16 bytes, …]                  │  the 8 greatest events that were counted
//	│ gsi1pk            S "ALIASES_BY_ACTIVITY#-100123"   │  GSI1, projects ALL
//	│ gsi1sk            S "diskning"                      │
//	│ createdAt         S "2026-03-01T18:30:00.000Z"      │
//	│ updatedAt         S "2026-03-02T07:00:00.000Z"      │
//	└─────────────────────────────────────────────────────┘
//
// A Store with another Config.Prefix, say NAME, keeps another book in the same
// table: its items have pk NAME#<scope>, type NAME and gsi1pk
// NAME_BY_TARGET#<scope>.
//
// Items of an older system lack type and the events, and have times in other
// forms; those of format 1 have confirmedBy, the last event that was counted, in
// place of confirmers. They are read and changed as they are.
//
// Where the sort key of an item is not what [Normalize] makes of it, the item is
// an older spelling: an older system's, or one of normal form 1, which kept some
// invisible characters. Match, Resolve and All find it, and its name owns the
// phrase: Put of another is a [*TakenError], a Seed leaves it alone. What changes
// the phrase, a Correct, Confirm or Forget, first moves the item under its normal
// form, and [Store.Adopt] moves all of a scope. An item in normal form hides older
// spellings beside it, even after it is forgotten. PhrasesOf reads the index and
// shows older spellings, hidden or not. While a program runs that reads its own
// spellings by key, correct and forget nothing that it has.
//
// # What an event does
//
//	          phrase is free      has the name   has another name   named or forgotten by a later event
//	Put       taught              Duplicate      *TakenError        the same; if forgotten, ErrTooOld
//	Correct   taught              noted          renamed            ErrTooOld
//	Confirm   ErrNotFound         counted        *TakenError        ErrTooOld
//	Forget    ErrNotFound, noted  forgotten      forgotten          ErrTooOld
//
// One event does one thing to a phrase. The event that named it cannot forget
// it (ErrTooOld) or give it another name (*TakenError), and the event that
// forgot it cannot teach it (ErrTooOld). The event that named it may confirm it.
//
// # Guarantees
//
//   - Each write is safe to repeat. One that took effect is Duplicate and
//     changes nothing, also after a lost reply, as long as no other event has
//     written to the phrase since. After another event the answer is as the
//     table says, except that the 8 greatest confirming events stay Duplicate
//     until the phrase is forgotten or gets another name.
//   - A phrase is never taken from its name by Put or Seed, however many write
//     at once. An older spelling protects its phrase too, unless an older writer
//     wrote it after this Store read the book: it is seen when the cache
//     expires.
//   - Adopt is safe beside live writes and may be repeated. It loses no row: of two
//     with different names it touches neither, and says so.
//   - What an Erase deletes is in nothing that is written after it.
//   - Among the corrections of a phrase, Forget being one, the event that
//     happened last wins, in whatever order they arrive; it also wins over
//     every earlier Put. A Put that finds the phrase taken leaves no trace.
//   - An event is counted as confirmation once, in whatever order up to 8 arrive.
//     The horizon is the least of the 8 greatest: a confirmation that more than
//     that have overtaken is not counted (ErrTooOld), and Alias.Confirmations is
//     the least that there were.
//   - Seeds overwrite nothing, not even what was forgotten.
//   - What a Store wrote, its own reads see: for Config.CacheTTL after a write
//     all its reads of the scope are consistent, and by then eventually
//     consistent ones have long caught up. Writes to more than
//     Config.CacheScopes scopes within that time make its reads of all scopes
//     consistent. PhrasesOf reads the index, which cannot be read so.
//   - What another process wrote, a Store sees when the cache expires, after
//     Config.CacheTTL at most, or after Refresh.
//
// # Cache
//
// A Store keeps the whole book of each scope it is asked for, so that a phrase
// that is not in it costs nothing either. However many ask for a book that is
// not in memory, it is read once; when the caller whose context the read runs
// under gives up, another reads. A write drops the scope's book, and a read
// under way then does not fill the cache. A dropped book still tells Put, Correct
// and Forget that a phrase has no older spelling, for no write of this package
// makes any. Erase takes it out of memory.
//
// One row that cannot be read fails all questions about its scope, unless
// [Config].OnUnreadable says to go on without it.
//
// # Prices
//
// First and uncontended, on items up to 1 KB:
//
//	Confirm                  1 request   2 WCU   (2 and 3 after 8 others)
//	Correct                  as All, and 1 request, 3 WCU   (2 of a free phrase)
//	Put, Forget              as All, and 1 request, 2 WCU
//	Seed of n new phrases    as All, and n requests, 2n WCU; of known ones as All
//	All, Resolve, Match      1 request   0.5 RCU for each 4 KB of the book, cold;
//	                         nothing warm; 1 RCU within CacheTTL after a write
//	Refresh                  1 request   1 RCU for each 4 KB of the book
//	Get                      1 request   1 RCU
//	PhrasesOf                1 request   0.5 RCU for each 4 KB of the answer
//	Adopt                    as Refresh, and 3 requests, 2 RCU, 6 WCU for each older spelling
//	Erase                    1 request   1 RCU for each 4 KB of the book, and 1 request
//	                         for each 25 rows, 2 WCU for each
//
// A seeded alias has about 220 bytes, a learned one 300, and 16 more for each of
// up to 8 events that confirmed it: 80 seeds are read with 2.5 RCU, 80 phrases
// that were all learned and often confirmed with 4. A refused write costs 1 WCU.
// With Config.NoCache every question, Put, Correct, Forget and Seed reads the book.
//
// A write that meets a transaction on the row, or another Region's write, is sent
// again, up to 5 times within 0.6 seconds: 1 request each.
//
// # IAM actions
//
// For [schema.Policy], as [Store.Actions] has them:
//
//   - The service, on the table: DeleteItem, GetItem, PutItem, Query, UpdateItem
//   - The service, on index GSI1: Query
//   - Operators (Adopt, Disown, Erase), on the table: BatchWriteItem, DeleteItem,
//     GetItem, PutItem, Query, UpdateItem
//
// DeleteItem is for older spellings: a transaction of a put and a deletion moves one
// to its normal form.
package alias
