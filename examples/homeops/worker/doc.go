// Package worker takes updates from the queue and turns them into rows and
// replies. Every step is safe to repeat, so a delivery may break off anywhere
// and come again.
//
// A message passes these steps; ∥ separates what happens side by side:
//
//	message.go  save the message ∥ load the chat's phrases ∥ and names ∥ was it a group? ∥ who is it?
//	            a duplicate: what did this event record ∥ has the bot answered it?
//	classify    what does it say?           (no requests; two, one after the other, for a model's answer)
//	record.go   record the activities     ∥ respond.go: is the chat moving fast?
//	            effort, habit, promise    ∥ respond.go: take one of the day's replies, send
//
// That is at most four dependent round trips when the phrases are cached. If
// somebody else did it, reading their name takes one more. The reply is sent after
// the third. At the end household.go notes, on first contact, who they are and where they
// live.
//
// Learning waits for the record: if two deliveries at once classify
// differently, the one that records first decides, and only its activities are
// learned.
//
// Steps side by side run to their end, even if another fails.
//
// An activity belongs to the person that the message names for it, and so do
// effort, habit and promise. A forwarded message is saved, and means nothing.
//
// Instead of being classified, a message may want something of the bot: talk.go
// recognizes what and learns phrases, answer.go answers questions, household.go is
// about promises, weeks, and what people say of themselves. All that the bot says goes
// out by respond.go.
//
// A phrase counts in messages later than the event that taught it: a message is
// judged by what was known when it was sent. The bot asks the sender, by a mention,
// which comes back in the reply. Only the sender's answer says what they did. It
// follows from the question, so that two answers credit once. Anybody's answer
// teaches the phrase.
//
// # Jobs
//
// What the clock asks for (package job) comes through the queue, too: jobs.go. An
// hour's job sends a message for each thing that is due. What each of those has to
// say is sent like an answer, once for the job and not in quiet hours.
//
// # Failures
//
// Saving and recording are critical: a failure returns the item to the queue.
// So does trouble in the other steps, because a redelivery is safe. Only at the
// last delivery the worker logs such a step and goes on without it. If such a
// step has bad input, it is skipped at once, because repeating it cannot help.
//
// What can never succeed (bad input, such as a date far ahead) goes straight
// to the dead letters with its reason.
//
// # Sending
//
// sendMessage has no idempotency parameter, so each thing is said once at most,
// and only with leave to send, which the tables give once. For praise the leave
// is a fresh grant of the day's limit. Everything else needs a claim in the
// ledger, too.
//
// When Telegram asks to wait for long, the leave is released, and the delivery
// goes back to the queue for that long, or to the dead letters if it was the
// last. The next delivery takes the leave and sends. Waiting costs praise two
// requests (claim, release) and an answer one, in addition to those of the next
// delivery. What is sent at once costs nothing more.
//
// # Chats
//
// A message, its event and its answers are kept under the chat's own id. What
// the household keeps (activities, phrases, names, habits, limits) is kept
// under its scope: the id of the group that a supergroup was before, see
// package moved. The scope is read beside the phrases, unless the process
// remembers it.
//
// A person who has blocked the bot (package dmstatus) is not written to in
// private until the bot is started again: a private message takes one more
// read.
package worker
