// Package wire is DynamoDB's HTTP protocol in front of an engine: targets,
// headers, checksums and the form of errors.
//
// There are two ways in, and one path behind them. Do takes a target and a body
// and answers on the caller's goroutine: an in-memory transport needs no more.
// Handler takes HTTP requests, from any SDK, and calls Do.
//
// No signature is checked.
package wire
