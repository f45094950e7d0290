// Package crash tests the whole pipeline: the webhook and two workers run as
// processes of their own, on SQS and on a DynamoDB with a data file. Updates come
// in over HTTP, some of them twice, some of them poison; every few seconds a
// worker is killed. In the end the tables are those of an undisturbed run, and the
// bot has said nothing twice.
//
//	stream_test.go   the updates
//	world_test.go    the processes, and what is played for them
//	crash_test.go    the run
//	compare_test.go  what must be the same
package crash
