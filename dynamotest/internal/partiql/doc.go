// Package partiql is DynamoDB's dialect of PartiQL: SELECT, INSERT, UPDATE,
// DELETE and EXISTS.
//
// A statement passes three stages, like an expression. Parsing depends on the
// source alone; what it yields is immutable and may be kept. Binding fills in
// the parameters. The rest depends on the key of the table:
//
//	stmt, err := partiql.Parse(`SELECT * FROM "music" WHERE artist = ? AND year > 1970`)
//	b, err := stmt.Bind(parameters)
//
//	parts, exact := b.Where.Partitions(hash, sort)   // what to query; none: scan
//	where, err := b.Where.Predicate()                // the whole condition, as a filter
//
//	key, rest, err := b.Where.Key(names)             // of the one item to write
//
// Conditions and updates become those of package expr, so that a statement
// means what the operation means that it stands for.
//
// Every error is an *Error or an *expr.Error, a ValidationException whose text
// is its Error(). Nothing here panics, whatever the source: its length and its
// depth are limited.
package partiql
