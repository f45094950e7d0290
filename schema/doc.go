// Package schema describes a table as one Go value, creates it, writes it for
// CloudFormation and Terraform, and compares it with what is deployed.
//
// Every store of this library gives its own definition, from its own
// settings, and [Create] makes the tables of a service in one call:
//
//	seen, _ := ledger.New(db, "seen", nil)
//	limits, _ := counter.New(db, "limits", tzclock.Stockholm, nil)
//	err := schema.Create(ctx, db, seen.Table(), limits.Table())
//
// If a stack makes the tables, [CloudFormation] writes the same definitions as
// resources of the stack's template. [Terraform] writes them as resources of a
// configuration.
//
// Stores may share a table. Definitions with the same name and the same key are
// merged into one definition with all their indexes. Contradictions are
// refused.
//
// # What is deployed
//
// [Diff] compares definitions with what is deployed, and only reads. It names every
// difference, and says whether and how the existing table can be changed. [Verify]
// is the short form of Diff for a service's start: it returns an error if the
// tables lack anything that the definitions ask for. If a stack makes the tables,
// the service calls Verify, and needs no right to create tables.
//
// # Guarantees
//
//   - [Create] is idempotent. Two processes may call it at once, and a process that
//     died half-way may run again. Create compares existing tables with their
//     definitions, and switches on TTL and point-in-time recovery if they are
//     missing. Create accepts an endpoint without backups, such as DynamoDB Local;
//     Verify reports the missing backups as a difference.
//   - Create never changes a key, an index, the encryption or the protection of
//     an existing table. If a table lacks what its definition asks for, Verify
//     returns a [*MismatchError]. So does Create, except for the TTL and the
//     backups that it switches on. Both accept what a table has in addition: more
//     indexes, a setting that the definition does not name, or another billing
//     mode. Create switches nothing off.
//   - [Diff] and [Verify] change nothing.
//   - [CloudFormation] and [Terraform] always give the same JSON for the same
//     definitions in the same order.
//   - All contradictions are found before the first request is sent.
//
// # Least privilege
//
// Every store also names the IAM actions of each of its calls. [Policy] makes the policy
// for the calls of a service, and [OperatorPolicy] for those that operators make by hand.
// They are for a CloudFormation template, for Terraform ([PolicyDocument.Terraform]) or
// with plain ARNs. With [Only] they grant the calls that the program makes and no others.
// So a worker that only records activities may not delete them:
//
//	doc, err := schema.Policy(schema.Only(log, "Record", "OfEvent"), schema.Only(seen, "Do"))
//
// A program that only writes policies needs no region and no credentials: it gives the
// stores dynamodb.New(dynamodb.Options{}), and the stores never call this client.
//
// A service that calls Verify at its start must also be allowed to describe its
// tables: [DescribePolicy] grants this, and Policy does not.
//
// # IAM actions
//
// Verify: dynamodb:DescribeTable; with TTL, also dynamodb:DescribeTimeToLive;
// with point-in-time recovery, also dynamodb:DescribeContinuousBackups. Diff:
// all three. Create: the actions of Verify and dynamodb:CreateTable; with TTL,
// also dynamodb:UpdateTimeToLive; with point-in-time recovery, also
// dynamodb:UpdateContinuousBackups. A KMSKey also needs rights on the key,
// which are not listed here. These calls cost no capacity units.
package schema
