// Package aws is homeops on AWS: the queue is SQS, webhook and worker run as
// Lambda functions or as one process.
package aws
