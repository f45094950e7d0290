// Package function is what stands between Lambda and homeops: how an event
// becomes what the service works on, and how its result is reported.
//
//	http.go   a request to a function URL or an HTTP API → http.Handler
//	batch.go  a batch of an SQS queue → messages, and which of them failed
//	start.go  the runtime: log, end of work, end of the process
package function
