// Package schema describes a table as one Go value, creates it, and writes it for
// CloudFormation.
//
// Every store of this library gives its own definition, from its own
// settings, and [Create] makes the tables of a service in one call:
//
//	seen, _ := ledger.New(db, "QuillIdempotencyLedger", nil)
//	limits, _ := counter.New(db, "limits", tzclock.Stockholm, nil)
//	err := schema.Create(ctx, db, seen.Table(), limits.Table())
//
// Where tables are made by a stack, [CloudFormation] writes the same definitions as
// resources of its template.
//
// Stores may share a table: definitions of one name and one key are merged to
// the union of their indexes, and contradictions are refused.
//
// # Guarantees
//
//   - [Create] is idempotent. Two processes may call it at once, and one that
//     died half-way may be run again: what stands is compared, and TTL and
//     point-in-time recovery are switched on where they are missing.
//   - It never changes a key, an index, the encryption or the protection of an
//     existing table. Where one lacks what its definition asks for, the
//     error is a [*MismatchError]. It switches nothing off: a table may have
//     more indexes, a TTL or protection that the definition does not name.
//   - All contradictions are found before the first request is sent.
//
// # IAM actions
//
// dynamodb:CreateTable, dynamodb:DescribeTable, dynamodb:UpdateTimeToLive,
// dynamodb:DescribeTimeToLive, dynamodb:UpdateContinuousBackups,
// dynamodb:DescribeContinuousBackups. These calls
// cost no capacity units.
package schema
