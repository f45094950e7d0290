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
//   - No event is lost silently: an error that Of does not know is a Retry, and
//     what cannot be judged ([event.ErrTooOld]) is Poison, for people to look at.
//   - Of sends no request. An error may be wrapped: what errors.Is and errors.As find
//     in it decides.
package verdict
