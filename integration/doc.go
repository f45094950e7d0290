// Package integration runs the tests of the whole module on DynamoDB Local in
// a container, which testcontainers starts and removes.
//
//	go -C integration test -count=1 -v .              # skips where no engine answers
//	go -C integration test -count=1 -v . -required    # fails there
//	go -C integration test -count=1 -v . -image amazon/dynamodb-local:latest
//
// The tests are those of "go test ./...": they go to whatever listens at
// DYNAMODB_ENDPOINT. Nothing in them knows of containers, so it is a module of
// its own, and users of the library download nothing of Docker.
//
// Where no engine is installed, or no registry can be reached,
// scripts/docker-engine finds another way and runs a command with it:
//
//	scripts/docker-engine go -C integration test -count=1 -v . -required
//
// With -count=1, for go test sees no change in another module's tests, nor an
// engine that was started since, and would repeat an earlier result.
package integration
