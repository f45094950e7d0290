// Package function connects Lambda and homeops: it turns an event into what the
// service works on, and reports the result.
//
//	http.go   a request to a function URL or an HTTP API → http.Handler
//	batch.go  a batch of an SQS queue → messages, and which of them failed
//	start.go  the runtime: log, end of work, end of the process
package function
