// Package api is the language that requests and replies are written in: what
// DynamoDB's operations take and give, read from JSON and written to it in one
// pass, and the constraints that a request must meet before any table is
// looked at.
//
// Every request type has a method for its members and one for its
// constraints; Decode applies both. Errors carry DynamoDB's names for them; the
// texts that do not depend on stored data stand in errors.go and check.go.
package api
