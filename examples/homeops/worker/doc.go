// Package worker takes updates from the queue and makes rows and replies of
// them. Every step is safe to repeat, so a delivery may break off anywhere and
// come again.
//
// A message passes these steps; a column is what happens side by side:
//
//	message.go  save the message ∥ load the chat's phrases ∥ and names ∥ was it a group? ∥ who is it?
//	            a duplicate: what did this event record ∥ has the bot answered it?
//	classify    what does it say?           (no requests; two, one after the other, for a model's answer)
//	record.go   record the activities     ∥ respond.go: is the chat moving fast?
//	learn.go    effort, habit, promise    ∥ respond.go: take one of the day's replies, send
//	person.go   what was said to the person is noted
//
// which is at most five dependent round trips when the phrases are cached, and one more
// where somebody else did it, whose name is read; the reply is sent after the third.
// Beside that, person.go learns whether the person answered what the bot said to them
// before. After all else it notes, on first contact, who they are and where they live.
//
// Learning waits for the record: of two deliveries at once that classified
// differently, what was recorded first decides, and only that is learned.
//
// Steps side by side run to their end, each whatever becomes of the other:
// package trips has them, and counts the round trips.
//
// An activity is of whoever the message names for it, and so are effort, habit and promise.
// A forwarded message is saved, and means nothing.
//
// Instead of being classified, a message may want something of the bot:
// talk.go tells which, answer.go answers questions (topic.go finds what they are
// about), teach.go learns phrases, household.go is about promises, weeks, and what
// people say of themselves. Whatever the bot says goes out by send.go.
//
// A phrase counts in messages later than the event that taught it: what a message says is
// judged by what was known when it was sent. What the bot asks it asks the sender, by
// a mention, which comes back in the reply: only their answer says what they did, and
// it follows from the question, so that two answers credit once. Anybody's teaches.
//
// # Jobs
//
// What the clock asks for (package job) comes through the queue, too: jobs.go. An hour's
// job sends a message for each thing that is due; each of those says what it has to
// say by the way of an answer, once for the job and not in quiet hours.
//
// # Failures
//
// Saving and recording are critical: a failure returns the item to the queue.
// So does trouble in the other steps, for a redelivery is safe, until the last
// delivery: then the worker logs the step and goes on without it. Bad input
// inside such a step, which repeating cannot help, is skipped at once.
//
// What can never succeed (bad input, such as a date far ahead) goes straight
// to the dead letters with its reason.
//
// # Sending
//
// sendMessage has no idempotency parameter, so each thing is said once at most,
// and only with leave that the tables give once. For praise that is the fresh
// grant of the day's limit; for the rest a claim in the ledger, too.
//
// When Telegram asks to wait for long, the leave is released, and the delivery
// goes back to the queue for that long, or to the dead letters if it was the
// last. The next delivery takes the leave and sends. Waiting costs praise two
// requests (claim, release) and an answer one, and what the next delivery does;
// what is sent at once costs nothing more.
//
// # Chats
//
// A message, its event and its answers are of the chat's own id. What the
// household keeps (activities, phrases, names, habits, limits) is of its scope:
// the id of the group that a supergroup was before, see package moved. That is
// read beside the phrases, unless the process remembers it.
//
// A person who has blocked the bot (package dmstatus) is not written to in
// private until the bot is started again: a private message is one more read.
package worker
