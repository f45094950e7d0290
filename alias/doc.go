// Package alias keeps a book for each scope: the phrases that people use, and the
// name that each phrase stands for. It learns phrases, counts how often they are
// confirmed, takes corrections, and finds the phrases in a text.
//
//	book, err := alias.New(db, "shop-words", nil)
//
//	out, err := book.Put(ctx, alias.Put{Scope: shop, Phrase: "Rain coat", Name: "rainwear", Event: ev, Actor: "42"})
//	var taken *alias.TakenError
//	if errors.As(err, &taken) { … }                       // it stands for taken.Owner; Correct would change that
//
//	found, err := book.Match(ctx, shop, "a yellow RAIN  coat, please")
//	found[0].Name                                         // rainwear
//
// Each phrase of a scope has one item, under the phrase's normal form: see
// [Normalize]. FORMAT.md has the attributes. A Store with another Config.Prefix
// keeps other books in the same table.
//
// # What an event does
//
//	          phrase is free      has the name   has another name   named or forgotten by a later event
//	Put       taught              Duplicate      *TakenError        named: see left; forgotten: ErrSuperseded
//	Correct   taught              noted          renamed            ErrSuperseded
//	Confirm   ErrNotFound         counted        *TakenError        ErrSuperseded
//	Forget    ErrNotFound, noted  forgotten      forgotten          ErrSuperseded
//
// What is not Duplicate or an error is Created. One event decides only once what a
// phrase stands for. The event that named a phrase cannot forget the phrase
// ([event.ErrSuperseded]) or give it another name (*TakenError). The event that forgot
// a phrase cannot teach it (ErrSuperseded). The event that named a phrase may confirm
// it.
//
// # Guarantees
//
//   - Each write is safe to repeat, also after a lost reply: the repetition of a
//     write that took effect is Duplicate and changes nothing, unless Erase has
//     deleted the row. If another event has written to the phrase since, the
//     repetition is answered as in the table, except that of a Confirm. While the
//     phrase keeps its name, the 8 latest confirming events are Duplicate.
//     Earlier ones are [event.ErrTooOld], or ErrSuperseded if a later event has
//     named the phrase.
//   - Put and Seed never change the name that a phrase stands for, however many
//     writers call them at once.
//   - A row that is written after an Erase holds nothing of the deleted rows.
//   - Among the Corrects and Forgets of a phrase, the event that happened last
//     wins, in any order of arrival. That event also wins over every earlier
//     Put. A Put that finds the phrase taken leaves no trace.
//   - An event is counted as a confirmation at most once. A confirmation that
//     arrives after 8 confirmations by later events is not counted (ErrTooOld),
//     so Alias.Confirmations is a lower bound.
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
// A Store keeps the whole books of up to 1,000 scopes, so even a question about
// an unknown phrase costs nothing. If many callers ask for a book that is
// not in memory, one caller reads it for all. If that caller gives up, another
// caller reads the book. A write drops the scope's book, and a read that was in
// progress does not fill the cache.
//
// A seeded alias has about 220 bytes and a learned alias about 270. Each of up to
// 8 confirming events adds 16 bytes. So a read of 80 seeds costs 2.5 RCU, and a
// read of 80 phrases that were all learned and often confirmed costs 4 RCU.
//
// A write that meets a transaction on the row, or another Region's write, is sent
// again, up to 5 times, with pauses of at most 0.62 seconds in all. Each repetition
// costs 1 request. The deletions of Erase are not sent again for this reason.
//
// # Rows of older systems
//
// Items of an older system lack type and the events, and have times in other
// forms. Items of format 1 have confirmedBy, the last event that was counted, in
// place of confirmers. The package reads and updates both kinds as they are.
//
// A row whose sort key is not in normal form is an older spelling. It comes from
// an older system, or from normal form 1, which kept some invisible characters.
// Before a service with such rows starts, stop the program that writes them, and
// move them once: see [Store.Backfill].
//
// Until then, an older spelling is a row that cannot be read. Each question that reads
// it, and Seed, fails with an error that says so. With [Config].OnUnreadable they go
// on without the row. Put, Correct, Confirm and Forget do not see the row: to them, its
// phrase is free. The row itself stays as it is, and the backfill says if its phrase
// got another row meanwhile. Disown and Erase treat it like any other row.
//
// # IAM actions
//
// For [schema.Policy], as [Store.Actions] has them:
//
//   - The service, on the table: GetItem, Query, UpdateItem
//   - The service, on index GSI1: Query
//   - Operators (Disown, Erase), on the table: BatchWriteItem, Query, UpdateItem
package alias
