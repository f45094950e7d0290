// Command homeops-ingest is the webhook as a Lambda function, behind a function URL
// or an HTTP API: what Telegram posts to /telegram goes to the queue.
package main

import (
	"context"
	"log/slog"
	"net/http"
	"os"
	_ "time/tzdata" // provided.al2023 has no zones

	"github.com/homeops/ddbpatterns/examples/homeops/aws/coldstart"
	"github.com/homeops/ddbpatterns/examples/homeops/aws/function"
	"github.com/homeops/ddbpatterns/examples/homeops/ingest"
)

func main() {
	log := function.Log(os.Stderr)
	routes, err := open(log)
	if err != nil {
		log.Error("cold start", "error", err)
		os.Exit(1) // Lambda starts another
	}
	function.Start(function.HTTP(routes), log)
}

func open(log *slog.Logger) (http.Handler, error) {
	ctx, cancel := context.WithTimeout(context.Background(), coldstart.Limit)
	defer cancel()
	f, err := coldstart.Open(ctx, os.LookupEnv, coldstart.SecretToken, log)
	if err != nil {
		return nil, err
	}
	routes := http.NewServeMux()
	routes.HandleFunc(ingest.Path, func(w http.ResponseWriter, r *http.Request) {
		webhook := ingest.Handler{Secret: f.Secret.Value(r.Context()), Queue: f.Queue, Log: log}
		webhook.ServeHTTP(w, r)
	})
	return routes, nil
}
