// Package aws is homeops on AWS: the queue is SQS, webhook and worker run as
// Lambda functions or as one process. It is a module of its own, because the
// SDKs that it needs are not for the library's users.
package aws
