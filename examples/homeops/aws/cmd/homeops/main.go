// Command homeops is examples/homeops with its queue on SQS: a household's
// Telegram bot whose webhook and worker survive a restart. A language model may
// understand what people write.
//
//	go run ./cmd/homeops -serve ADDR    is the webhook and the worker
//
// MESSAGES_QUEUE_URL names the queue. CLASSIFIER=openai asks OPENAI_MODEL: see
// examples/homeops/model. All else is as in examples/homeops: see README.md there.
// The AWS SDK finds the credentials, and AWS_ENDPOINT_URL_SQS names another server.
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

	"github.com/homeops/ddbpatterns/alias"
	"github.com/homeops/ddbpatterns/counter"
	"github.com/homeops/ddbpatterns/examples/homeops/aws/sqsqueue"
	"github.com/homeops/ddbpatterns/examples/homeops/classify"
	"github.com/homeops/ddbpatterns/examples/homeops/config"
	"github.com/homeops/ddbpatterns/examples/homeops/model"
	"github.com/homeops/ddbpatterns/examples/homeops/queue"
	"github.com/homeops/ddbpatterns/examples/homeops/run"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // the second signal ends the process at once
	os.Exit(run.Program{
		Args: os.Args[1:], Env: os.LookupEnv, In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Queue: openQueue, Classifier: openModel,
	}.Run(ctx))
}

func openQueue(ctx context.Context, cfg config.Config, log *slog.Logger) (queue.Queue, error) {
	loaded, err := awsconfig.LoadDefaultConfig(ctx, awsconfig.WithRegion(cfg.Region))
	if err != nil {
		return nil, fmt.Errorf("AWS credentials: %w", err)
	}
	// The queue may be in another region than the tables.
	if region := sqsqueue.Region(cfg.QueueURL); region != "" {
		loaded.Region = region
	}
	return sqsqueue.Open(ctx, sqs.NewFromConfig(loaded), cfg.QueueURL, &sqsqueue.Config{Log: log})
}

func openModel(cfg config.Config, phrases *alias.Store, limits *counter.Store, log *slog.Logger) (classify.Classifier, error) {
	return model.New(model.Config{
		URL: cfg.OpenAIBaseURL, Key: cfg.OpenAIKey, Model: cfg.OpenAIModel, Phrases: phrases.All, Log: log,
		Limits: limits, TokensADay: int64(cfg.OpenAITokens),
	})
}
