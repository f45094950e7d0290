// Package bench compares dynamotest with two ceilings and with other servers,
// through the SDK's client as its users have it. It also compares the CPU costs
// of the packages' calls with that client and with guregu/dynamo.
//
//	go test -run '^$' -bench Calls -benchtime 9x
//	go test -run '^$' -bench Process -benchtime 3x
//	go test -run '^$' -bench 'Start|Fork|Million'
//	go test -run '^$' -bench OwnWork -benchtime 9x
//
// Everything that is compared takes turns in one run, with the clients in one
// process and every server in one of its own. Machines differ, and one machine
// differs from hour to hour, so only ratios mean something. README.md has the
// results and says how to add the peers.
package bench
