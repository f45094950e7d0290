// Package schema describes a table as one Go value, creates it, writes it for
// CloudFormation, and compares it with what is deployed.
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
// # What stands
//
// [Diff] compares definitions with what is deployed, by reads alone: it names every
// difference, and whether and how the existing table can be changed. [Verify] is its
// short form for a service's start: an error if the tables lack anything that the
// definitions ask for. A service whose tables a stack makes calls Verify, and needs no
// right to create any.
//
// # Guarantees
//
//   - [Create] is idempotent. Two processes may call it at once, and one that
//     died half-way may be run again: what stands is compared, and TTL and
//     point-in-time recovery are switched on where they are missing. An endpoint that
//     knows no backups, such as DynamoDB Local, is left without: Verify names that.
//   - It never changes a key, an index, the encryption or the protection of an
//     existing table. Where one lacks what its definition asks for, the
//     error is a [*MismatchError], of Create and of Verify. Neither minds what a table
//     has beyond: more indexes, a TTL or protection that the definition does not name,
//     or another billing mode. Create switches nothing off.
//   - [Diff] and [Verify] change nothing.
//   - [CloudFormation] writes the same definitions as the same bytes.
//   - All contradictions are found before the first request is sent.
//
// # Least privilege
//
// Every store also names the IAM actions of its methods, those of the service apart
// from those that operators run by hand. [Policy] and [OperatorPolicy] make the
// policies of a service's stores, for a CloudFormation template or with plain ARNs.
// A program that only writes these needs no region and no credentials: it gives the
// stores dynamodb.New(dynamodb.Options{}), of which nothing is called.
//
// A service that calls Verify at its start must also be allowed to describe its
// tables, which [DescribePolicy] grants and Policy does not.
//
// # IAM actions
//
// Verify: dynamodb:DescribeTable; with TTL dynamodb:DescribeTimeToLive; with
// point-in-time recovery dynamodb:DescribeContinuousBackups. Diff: all three.
// Create: those of Verify and dynamodb:CreateTable; with TTL
// dynamodb:UpdateTimeToLive; with point-in-time recovery
// dynamodb:UpdateContinuousBackups. These calls cost no capacity units.
package schema
