// Package function connects Lambda and homeops: it turns an event into what the
// service works on, and reports the result.
//
//	http.go   a request to a function URL or an HTTP API → http.Handler
//	start.go  the runtime: log, end of work, end of the process
package function
