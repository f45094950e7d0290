// Package aws is homeops on AWS: the queue is SQS, webhook and worker run as
// Lambda functions or as one process. It is a module of its own, for what it
// needs is not for the library's users.
package aws
