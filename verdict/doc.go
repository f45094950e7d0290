// Package verdict says what an error of this library means for a queue's worker and
// for an HTTP handler: done, something for people to look at, or try again. It knows
// the errors of all packages; docs/errors.md has them in a table.
//
//	switch v := verdict.Of(handle(ctx, delivery)); v.Kind {
//	case verdict.Done:
//		queue.Delete(delivery)
//	case verdict.Poison:
//		queue.ToDeadLetters(delivery)
//	case verdict.Retry:
//		queue.VisibleAfter(delivery, v.Wait)
//	}
//
// # Guarantees
//
//   - Only an answer is Done. An error that Of does not know is a Retry. What cannot be
//     judged ([event.ErrTooOld]), or may yet count ([record.FloorError]), is Poison, for
//     people to look at. You may want to note two of the answers: an
//     [activity.ConflictError] drops what this delivery says, and [counter.ErrFull]
//     refuses an event.
//   - A [*ledger.PermanentError] has the same verdict when it is replayed.
//   - Of sends no request. An error may be wrapped: what errors.Is and errors.As find
//     in it decides.
package verdict
