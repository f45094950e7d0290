// Command homeops-worker is the worker as a Lambda function, behind an event source
// mapping of the queue with ReportBatchItemFailures.
package main

import (
	"context"
	"log/slog"
	"os"
	"time"
	_ "time/tzdata" // provided.al2023 has no zones

	"github.com/homeops/ddbpatterns/examples/homeops/app"
	"github.com/homeops/ddbpatterns/examples/homeops/aws/coldstart"
	"github.com/homeops/ddbpatterns/examples/homeops/aws/function"
	"github.com/homeops/ddbpatterns/examples/homeops/queue"
	"github.com/homeops/ddbpatterns/examples/homeops/telegram"
	"github.com/homeops/ddbpatterns/examples/internal/database"
)

func main() {
	log := function.Log(os.Stderr)
	handler, err := open(log)
	if err != nil {
		log.Error("cold start", "error", err)
		os.Exit(1) // Lambda starts another
	}
	function.Start(handler, log)
}

func open(log *slog.Logger) (any, error) {
	ctx, cancel := context.WithTimeout(context.Background(), coldstart.Limit)
	defer cancel()
	f, err := coldstart.Open(ctx, os.LookupEnv, coldstart.BotToken, log)
	if err != nil {
		return nil, err
	}
	db, err := database.Open(ctx, f.Config.Settings, time.Now)
	if err != nil {
		return nil, err
	}
	a, err := app.New(app.Options{
		Config: f.Config, DB: db.Client, Now: time.Now, Queue: f.Queue, Sender: bot{f}, Log: log,
	})
	if err != nil {
		return nil, err
	}
	return queue.Function(f.Queue, f.Queue.MaxReceives(), a.Worker.Handle, log)
}

// bot sends with the token as it is now.
type bot struct{ *coldstart.Function }

// Send implements telegram.Sender.
func (b bot) Send(ctx context.Context, out telegram.Outgoing) (int64, error) {
	client := telegram.Client{BaseURL: b.Config.TelegramAPI, Token: b.Secret.Value(ctx)}
	return client.Send(ctx, out)
}
