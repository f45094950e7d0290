// Package wire is DynamoDB's HTTP protocol in front of an engine: targets,
// headers, checksums and the form of errors.
//
// It has two entry points with the same code behind them. Do takes a target and
// a body, and answers on the caller's goroutine: that is enough for an
// in-memory transport. Handler takes HTTP requests, from any SDK, and calls Do.
//
// No signature is checked.
package wire
