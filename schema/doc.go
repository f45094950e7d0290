// Package schema describes a table as one Go value and creates it.
//
// Every store of this library gives its own definition, from its own
// settings, and [Create] makes the tables of a service in one call:
//
//	seen, _ := ledger.New(db, "QuillIdempotencyLedger", nil)
//	limits, _ := counter.New(db, "limits", tzclock.Stockholm, nil)
//	err := schema.Create(ctx, db, seen.Table(), limits.Table())
//
// Stores may share a table: definitions of one name and one key are merged to
// the union of their indexes, and contradictions are refused.
//
// # Guarantees
//
//   - [Create] is idempotent. Two processes may call it at once, and one that
//     died half-way may be run again: what stands is compared, what is missing
//     of a table's settings (TTL, point-in-time recovery) is switched on.
//   - It never changes a key or an index of a table that stands. Where the
//     table differs from the definition it returns a [*MismatchError].
//   - All contradictions are found before the first request is sent.
//
// # IAM actions
//
// dynamodb:CreateTable, dynamodb:DescribeTable, dynamodb:UpdateTimeToLive,
// dynamodb:DescribeTimeToLive, dynamodb:UpdateContinuousBackups,
// dynamodb:DescribeContinuousBackups. These calls
// cost no capacity units.
package schema
