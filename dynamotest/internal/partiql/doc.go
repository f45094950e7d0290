// Package partiql is DynamoDB's dialect of PartiQL: SELECT, INSERT, UPDATE,
// DELETE and EXISTS.
//
// A statement passes three stages, like an expression. Parsing depends on the
// source alone; what it yields is immutable and may be kept. Binding fills in
// the parameters. The rest depends on the key of the table.
//
// The grammar is that of PartiQL's own parser, as far as DynamoDB takes it and
// somewhat further: DynamoDB first says what is not well-formed, in that parser's
// words, then what it does not do. Parsing therefore makes a tree of a source
// (parse.go, statement.go, term.go), and a translation makes a Statement of the
// tree (translate.go, condition.go, value.go).
//
//	stmt, err := partiql.Parse(`SELECT * FROM "music" WHERE artist = ? AND year > 1970`)
//	b, err := stmt.Bind(parameters)
//
//	parts, err := b.Where.Partitions(hash, sort)     // what to query; none: scan
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
