// Package integration runs the tests of the whole module on DynamoDB Local in
// a container, which testcontainers starts and removes.
//
//	go -C integration test -count=1 -v .              # skips where no engine answers
//	go -C integration test -count=1 -v . -required    # fails there
//	go -C integration test -count=1 -v . -image amazon/dynamodb-local:latest
//
// The tests are those of "go test ./...", which use the server at
// DYNAMODB_ENDPOINT. They know nothing of containers. This package is a module
// of its own, so that users of the library do not download anything of Docker.
//
// If no engine is installed, or no registry can be reached,
// scripts/docker-engine finds another way and runs a command with it:
//
//	scripts/docker-engine go -C integration test -count=1 -v . -required
//
// It needs -count=1, because go test does not notice a change in another
// module's tests, or an engine that was started since, and would repeat an
// earlier result.
package integration
