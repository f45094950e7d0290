// Package bench measures dynamotest beside two ceilings and beside other
// servers, through the SDK's client as its users have it; and what the packages'
// calls cost in CPU beside that client and guregu/dynamo.
//
//	go test -run '^$' -bench Calls -benchtime 9x
//	go test -run '^$' -bench Process -benchtime 3x
//	go test -run '^$' -bench 'Start|Fork|Million'
//	go test -run '^$' -bench OwnWork -benchtime 9x
//
// Everything that is compared takes turns in one run, its clients in one process and
// every server in one of its own: machines differ, and so do their moods, so only
// ratios mean something. README.md tells what was found and how to add the peers.
package bench
