// Package proof has no code of its own: its tests run two or three calls of the library's
// packages at once, in every order and with every fault within budgets, from the rows
// that they can meet. Package dynamotest/explore makes the orders and the faults;
// docs/proof.md has what came out.
//
// Each configuration is a starting row and a caller for each call. A caller makes its
// call until it has an answer; if it dies, it starts anew and makes the call again. What
// must hold:
//
//   - A rule of the package holds between the row before a write and the row after it,
//     such as: what is done stays done, a fence rises, a tombstone stays.
//   - A caller that has an answer finds it in the row from then on.
//   - When all have an answer, the rows are those that the calls leave when each is made
//     once, one after the other in some order. What differs with the clock or with a
//     nonce does not count. The ledger's rows depend on who comes when: there the rules
//     alone judge.
//   - If nothing disturbs the calls, the answers are those of such an order, too, and one
//     at most is told that it is the first.
//
// In go test ./... the cheapest schedules of a part of the configurations run.
// scripts/proof runs all, as far as they can be exhausted in the time that it is given.
package proof
