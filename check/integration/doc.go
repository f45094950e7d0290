// Package integration runs the tests of a module on DynamoDB Local in a container,
// which testcontainers starts and removes.
//
//	go test -C check -count=1 -v ./integration              # skips where no engine answers
//	go test -C check -count=1 -v ./integration -required    # fails there
//	go test -C check -count=1 -v ./integration -required -module examples/homeops
//
// The tests are those of "go test ./...", which use the server at
// DYNAMODB_ENDPOINT. They know nothing of containers. This package is not in the root
// module, so that users of the library do not download anything of Docker.
//
// If no engine is installed, or no registry can be reached,
// scripts/docker-engine finds another way and runs a command with it:
//
//	scripts/docker-engine go test -C check -count=1 -v ./integration -required
//
// It needs -count=1, because go test does not notice a change in another
// module's tests, or an engine that was started since, and would repeat an
// earlier result.
package integration
