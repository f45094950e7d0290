// Package api has the requests and replies of DynamoDB's operations, read from
// JSON and written to it in one pass. It also has the constraints that a
// request must meet before any table is read.
//
// Every request type has a method for its members and one for its constraints;
// Decode applies both. Errors have DynamoDB's names. Their texts are in
// errors.go and check.go, unless they depend on stored data.
package api
