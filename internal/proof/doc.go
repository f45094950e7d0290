// Package proof has no code of its own: its tests run pairs of calls of the library's
// packages in every order and with every fault within budgets, from the rows that they
// can meet. Package dynamotest/explore makes the orders and the faults.
//
// Each configuration is a starting row and two callers. A caller makes its call until
// it has an answer; if it dies, it starts anew and makes the call again. What must hold
// does not come from the code under test:
//
//   - A rule of the package holds between the row before a write and the row after it,
//     such as: what is done stays done, a fence rises, a tombstone stays.
//   - A caller that has an answer finds it in the row from then on.
//   - When both have an answer, the rows are those that the two calls leave when each
//     is made once, one after the other in either order. What differs with the clock or
//     with a nonce does not count.
//
// In go test ./... a configuration runs its cheapest schedules only. scripts/proof runs
// all of them, as far as they can be exhausted in the time that it is given, and prints
// a row for each configuration.
package proof
