// Command backfill adds to rows of the older system what they lack: see package
// backfill, and README.md of homeops.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	_ "time/tzdata" // zones on machines that have none

	"github.com/homeops/ddbpatterns/examples/homeops/upkeep/backfill"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // the second signal ends the process at once
	os.Exit(backfill.Command(ctx, os.Args[1:], os.LookupEnv, os.Stdout, os.Stderr))
}
