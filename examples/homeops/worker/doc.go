// Package worker takes updates from the queue and makes rows and replies of
// them. Every step is safe to repeat, so a delivery may break off anywhere and
// come again.
//
// A message passes these steps; a column is what happens side by side:
//
//	message.go  save the message          ∥ load the chat's phrases
//	            a duplicate: what did this event record ∥ has the bot answered it?
//	classify    what does it say?           (no requests)
//	record.go   record the activities     ∥ respond.go: is the chat moving fast?
//	learn.go    effort, habit             ∥ respond.go: take one of the day's replies, send
//
// which is at most four dependent round trips when the phrases are cached.
// Learning waits for the record: of two deliveries at once that classified
// differently, what was recorded first decides, and only that is learned.
//
// Steps side by side run to their end, each whatever becomes of the other:
// package trips has them, and counts the round trips.
//
// Instead of being classified, a message may want something of the bot:
// talk.go tells which, answer.go answers questions (topic.go finds what they are
// about), teach.go learns phrases.
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
package worker
