// Command quill receives webhooks of Aloware and HubSpot, and reports each call and
// each change once.
//
//	go run -C examples/quill .                 replays bundled webhooks and reports
//	go run -C examples/quill . -serve ADDR     is the webhook and the poster
//	go run -C examples/quill . facts KEY…      prints facts, as they are kept
//	go run -C examples/quill . refused         prints what could not be read
//	go run -C examples/quill . create-dataset  makes the push dataset of Power BI
//	go run -C examples/quill . template        prints the tables for CloudFormation
//
// An event's path is: aloware, hubspot → intake → outbox → post → sink. See
// README.md.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/homeops/ddbpatterns/examples/quill/run"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // the second signal ends the process at once
	os.Exit(run.Program{Args: os.Args[1:], Env: os.LookupEnv, Out: os.Stdout, Err: os.Stderr}.Run(ctx))
}
