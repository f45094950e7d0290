// Package partiql is DynamoDB's dialect of PartiQL: SELECT, INSERT, UPDATE,
// DELETE and EXISTS.
//
// A statement passes three stages, like an expression. Parsing depends on the
// source alone; its result is immutable and may be kept. Binding fills in the
// parameters. The last stage depends on the key of the table.
//
// The grammar is the part of PartiQL's own grammar that DynamoDB supports, and
// somewhat more. The reason: DynamoDB first reports what is not well-formed, in
// the words of PartiQL's parser, and then what it does not support. So parsing
// converts a source to a tree (parse.go, statement.go, term.go), and a
// translation converts the tree to a Statement (translate.go, condition.go,
// value.go).
//
//	stmt, err := partiql.Parse(`SELECT * FROM "music" WHERE artist = ? AND year > 1970`)
//	b, err := stmt.Bind(parameters)
//
//	parts, err := b.Where.Partitions(hash, sort)     // what to query; none: scan
//	where, err := b.Where.Predicate()                // the whole condition, as a filter
//
//	key, rest, err := b.Where.Key(names)             // of the one item to write
//
// Conditions and updates become those of package expr, so that a statement has
// the same meaning as the equivalent operation.
//
// Every error is an *Error or an *expr.Error: a ValidationException whose text
// is its Error(). No source makes the package panic: the length and the depth
// of a source are limited.
package partiql
