// Package bench measures dynamotest beside two ceilings and beside other
// servers, through the SDK's client as its users have it.
//
//	go test -run '^$' -bench Calls -benchtime 9x
//	go test -run '^$' -bench 'Start|Fork|Million'
//
// Everything that is compared takes turns in one process and one run: machines
// differ, and so do their moods, so only ratios mean something. README.md tells
// what was found and how to add the peers.
package bench
