// Command homeops is examples/homeops with SQS as its queue, whose URL is
// MESSAGES_QUEUE_URL.
package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
	_ "time/tzdata" // zones on machines that have none

	awsconfig "github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/homeops/ddbpatterns/examples/homeops/aws/sqsqueue"
	"github.com/homeops/ddbpatterns/examples/homeops/config"
	"github.com/homeops/ddbpatterns/examples/homeops/queue"
	"github.com/homeops/ddbpatterns/examples/homeops/run"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // the second signal ends the process at once
	os.Exit(run.Program{Args: os.Args[1:], Env: os.LookupEnv, In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Queue: open}.Run(ctx))
}

func open(ctx context.Context, cfg config.Config, _ *slog.Logger) (queue.Queue, error) {
	loaded, err := awsconfig.LoadDefaultConfig(ctx, awsconfig.WithRegion(cfg.Region))
	if err != nil {
		return nil, fmt.Errorf("AWS credentials: %w", err)
	}
	return sqsqueue.Open(ctx, sqs.NewFromConfig(loaded), cfg.QueueURL, nil)
}
