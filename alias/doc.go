// Package alias keeps a vocabulary for each scope: the phrases that people use,
// and the name that each phrase stands for. It learns phrases, counts how often
// they are confirmed, takes corrections, and finds the phrases in a text.
//
//	book, err := alias.New(db, "shop-words", nil)
//
//	out, err := book.Put(ctx, alias.Put{Scope: shop, Phrase: "Rain coat", Name: "rainwear", Event: ev, Actor: "42"})
//	var taken *alias.TakenError
//	if errors.As(err, &taken) { … }                       // it stands for taken.Owner; only Correct would change that
//
//	found, err := book.Match(ctx, shop, "a yellow RAIN  coat, please")
//	found[0].Name                                         // rainwear
//
// # Item
//
//	┌───────────────────┬─────────────────────────────────┐
//	│ pk (S)            │ sk (S)                          │
//	├───────────────────┼─────────────────────────────────┤
//	│ "ALIAS#shop-1"    │ "rain coat"                     │  scope as it is; phrase normalised
//	├───────────────────┴─────────────────────────────────┤
//	│ type              S "ALIAS"                         │  Config.Prefix
//	│ canonicalActivity S "rainwear"                      │  absent when forgotten
//	│ confirmations     N 3                               │
//	│ source            S "seed" or "learned"             │
//	│ learnedFrom       S "42"                            │  who taught it
//	│ namedBy           S "01KJP…"                        │  last event that decided the name
//	│ confirmers        BS [16 bytes, …]                  │  the 8 greatest events that were counted
//	│ gsi1pk            S "ALIASES_BY_ACTIVITY#shop-1"    │  GSI1, projects ALL
//	│ gsi1sk            S "rainwear"                      │
//	│ createdAt         S "2026-03-01T18:30:00.000Z"      │
//	│ updatedAt         S "2026-03-02T07:00:00.000Z"      │
//	└─────────────────────────────────────────────────────┘
//
// A Store with another Config.Prefix, say NAME, keeps another book in the same
// table: its items have pk NAME#<scope>, type NAME and gsi1pk
// NAME_BY_TARGET#<scope>.
//
// Items of an older system lack type and the events, and have times in other
// forms. Items of format 1 have confirmedBy, the last event that was counted, in
// place of confirmers. The package reads and updates both kinds as they are.
//
// An item whose sort key differs from its normal form (see [Normalize]) is an
// older spelling. It comes from an older system, or from normal form 1, which kept
// some invisible characters. Match, Resolve and All find such an item, and its
// name owns the phrase: a Put of another name is a [*TakenError], and a Seed
// leaves the item alone. Correct, Confirm and Forget first move the item to its
// normal form, as Put does if the item is forgotten. [Store.Adopt] moves all such
// items of a scope. An item in normal form hides the older spellings of its
// phrase, even after the phrase is forgotten. PhrasesOf reads the index and
// returns older spellings, even hidden ones. While another program still reads
// items by the keys of its own spellings, do not confirm, correct or forget that
// program's phrases, because the items would move.
//
// # What an event does
//
//	          phrase is free      has the name   has another name   named or forgotten by a later event
//	Put       taught              Duplicate      *TakenError        the same; if forgotten, ErrSuperseded
//	Correct   taught              noted          renamed            ErrSuperseded
//	Confirm   ErrNotFound         counted        *TakenError        ErrSuperseded
//	Forget    ErrNotFound, noted  forgotten      forgotten          ErrSuperseded
//
// One event decides only once what a phrase stands for. The event that named a
// phrase cannot forget the phrase ([event.ErrSuperseded]) or give it another name
// (*TakenError). The event that forgot a phrase cannot teach it (ErrSuperseded).
// The event that named a phrase may confirm it.
//
// # Guarantees
//
//   - Each write is safe to repeat, also after a lost reply. If the write took
//     effect and since then no other event has written to the phrase and no
//     Erase has deleted it, its repetition is Duplicate and changes nothing. If
//     another event has written to the phrase, the answer is as in the table,
//     with one exception: until the phrase is forgotten or gets another name,
//     the 8 latest confirming events are Duplicate, and earlier ones are
//     [event.ErrTooOld] or, if a later event has named the phrase, ErrSuperseded.
//   - Put and Seed never change the name that a phrase stands for, however many
//     writers call them at once. A name under an older spelling is protected in
//     the same way. But if an older writer adds the spelling after this Store
//     read the book, the Store sees the spelling only when it reads the book
//     again.
//   - Adopt is safe beside live writes and may be repeated. Adopt does not choose
//     between two names: an older spelling whose name differs from that of the row
//     in normal form stays, and Adopt reports it.
//   - A row that is written after an Erase holds nothing of the deleted rows.
//   - Among the Corrects and Forgets of a phrase, the event that happened last
//     wins, in any order of arrival. That event also wins over every earlier
//     Put. A Put that finds the phrase taken leaves no trace.
//   - An event is counted as a confirmation at most once, except if Adopt
//     merges two rows that both counted it and one of them no longer remembers
//     it. Up to 8 confirmations may arrive in any order. A confirmation that
//     arrives after 8 confirmations by later events is not counted (ErrTooOld),
//     so Alias.Confirmations is otherwise a lower bound.
//   - Seeds overwrite nothing, not even a forgotten phrase.
//   - A Store's reads see the Store's own writes. For Config.CacheTTL after a
//     write to a scope, the Store reads that scope consistently. After that
//     time, eventually consistent reads have caught up, unless CacheTTL is
//     below a few seconds. If the Store writes to more than 1,000 scopes within
//     Config.CacheTTL, it reads all scopes consistently. Only PhrasesOf may miss
//     a write: it reads the index, which cannot be read consistently.
//   - A Store sees another process's writes when its cache expires, after
//     Config.CacheTTL at most, or after Refresh.
//
// # Cache
//
// A Store keeps the whole book of each scope it is asked for, so even a question
// about an unknown phrase costs nothing. If many callers ask for a book that is
// not in memory, one caller reads it for all. If that caller gives up, another
// caller reads the book. A write drops the scope's book, except a Seed whose
// writes all succeed: it adds its phrases to the book. A read that was in
// progress does not fill the cache. Put, Correct and Forget still use a dropped
// book to know that a phrase has no older spelling, because no write of this
// package creates an older spelling. Erase takes the book out of memory.
//
// If one row cannot be read, all questions about its scope fail, unless
// [Config].OnUnreadable is set. With OnUnreadable, they are answered without
// the row.
//
// # Prices
//
// For the first delivery of an event, without competing writers, on items up to
// 1 KB:
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
// A seeded alias has about 220 bytes and a learned alias about 300. Each of up
// to 8 confirming events adds 16 bytes. So a read of 80 seeds costs 2.5 RCU, and
// a read of 80 phrases that were all learned and often confirmed costs 4 RCU. A
// refused write costs 1 WCU. With Config.NoCache every question, Put, Correct,
// Forget and Seed reads the book.
//
// A write that meets a transaction on the row, or another Region's write, is sent
// again, up to 5 times, with pauses of at most 0.62 seconds in all. Each
// repetition costs 1 request.
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
// DeleteItem is for older spellings: to move a row to its normal form, a
// transaction puts the new row and deletes the old row.
package alias
