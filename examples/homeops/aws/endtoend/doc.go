// Package endtoend has only tests. They run the functions' own binaries against a
// fake Runtime API and Extensions API, DynamoDB over HTTP, and small fakes of
// SSM, SQS and Telegram.
package endtoend
