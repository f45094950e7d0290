// Command homeops is a household's Telegram bot on DynamoDB: a webhook, a queue
// and a worker that keep who did which chore when.
//
//	go run -C examples/homeops .                       replays a conversation and reports
//	go run -C examples/homeops . -updates "$PWD/FILE"  replays your own, "-" is standard input
//	go run -C examples/homeops . -serve ADDR           is the webhook and the worker
//	go run -C examples/homeops . dlq list              shows what could not be worked on
//	go run -C examples/homeops . export person ID      shows what is stored of somebody; erase erases it
//
// The way of an update: ingest → queue → worker → the library's packages. See
// README.md.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	_ "time/tzdata" // zones on machines that have none

	"github.com/homeops/ddbpatterns/examples/homeops/run"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // the second signal ends the process at once
	os.Exit(run.Program{Args: os.Args[1:], Env: os.LookupEnv, In: os.Stdin, Out: os.Stdout, Err: os.Stderr}.Run(ctx))
}
