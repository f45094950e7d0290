// Package crash is a test of the whole: the webhook and two workers as processes
// of their own, on SQS and on a DynamoDB that keeps a file. Updates come in over
// HTTP, some twice, some that can never be processed; every few seconds a worker
// is killed. In the end all stands that an undisturbed run leaves, and nothing was
// said twice.
//
//	stream_test.go   the updates
//	world_test.go    the processes, and what is played for them
//	crash_test.go    the run
//	compare_test.go  what must be the same
package crash
