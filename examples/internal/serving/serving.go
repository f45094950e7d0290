// Package serving is what the services of homeops and quill have in common: their
// log, their HTTP server and its end, and the deletion of expired rows.
package serving

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"time"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/examples/internal/sleep"
)

// sweep is how often expired rows are deleted.
const sweep = time.Minute

// Log writes records of the level and above, in the form "json" or as text.
func Log(to io.Writer, form string, level slog.Level) *slog.Logger {
	options := &slog.HandlerOptions{Level: level}
	if form == "json" {
		return slog.New(slog.NewJSONHandler(to, options))
	}
	return slog.New(slog.NewTextHandler(to, options))
}

// Server returns a server that does not wait long for slow senders, and has the
// given time to answer a request.
func Server(handler http.Handler, answer time.Duration, log *slog.Logger) *http.Server {
	return &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       15 * time.Second,
		WriteTimeout:      answer,
		IdleTimeout:       75 * time.Second, // Telegram keeps connections for 60
		MaxHeaderBytes:    16 << 10,
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelWarn),
	}
}

// Close stops accepting requests, and waits up to the given time until those in
// flight are answered.
func Close(ctx context.Context, server *http.Server, within time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	if err := server.Shutdown(ctx); err != nil {
		return errors.Join(err, server.Close())
	}
	return nil
}

// Expire deletes expired rows now and then until the context ends, as DynamoDB
// does, for a database inside this process.
func Expire(ctx context.Context, db *dynamotest.Server) {
	for ctx.Err() == nil {
		_ = sleep.For(ctx, sweep)
		db.ExpireTTL()
	}
}
