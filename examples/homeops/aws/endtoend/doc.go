// Package endtoend has no code, only tests: they run the functions' own binaries
// against a Runtime API and an Extensions API that they play, DynamoDB over HTTP,
// and small players of SSM, SQS and Telegram.
package endtoend
