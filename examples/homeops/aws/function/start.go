package function

import (
	"context"
	"io"
	"log/slog"
	"os"
	"time"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-lambda-go/lambdacontext"
)

// Margin is how long before the invocation's deadline its work ends. Lambda kills
// the process at the deadline, and then nobody learns what failed.
const Margin = 2 * time.Second

// inTime returns a context that ends Margin before the invocation.
func inTime(ctx context.Context) (context.Context, context.CancelFunc) {
	deadline, ok := ctx.Deadline()
	if !ok {
		return context.WithCancel(ctx)
	}
	return context.WithDeadline(ctx, deadline.Add(-Margin))
}

// Start runs the function until its process ends. Lambda sends SIGTERM when it
// no longer needs the process, which then ends: all that is acknowledged is in
// the queue or in tables by then.
func Start(handler any, log *slog.Logger) {
	slog.SetDefault(log) // the runtime writes errors by package log
	lambda.StartWithOptions(handler, lambda.WithEnableSIGTERM(func() {
		log.Info("ended", "cause", "SIGTERM")
		os.Exit(0)
	}))
}

// Log returns a logger that writes one JSON object a line, with the names that
// Lambda's own log uses and the id of the invocation.
func Log(w io.Writer) *slog.Logger {
	return slog.New(invocation{slog.NewJSONHandler(w, &slog.HandlerOptions{ReplaceAttr: lambdacontext.ReplaceAttr})})
}

// invocation adds the id of the invocation that the context belongs to.
type invocation struct{ slog.Handler }

// Handle implements slog.Handler.
func (h invocation) Handle(ctx context.Context, r slog.Record) error {
	if of, ok := lambdacontext.FromContext(ctx); ok {
		r = r.Clone()
		r.AddAttrs(slog.String("requestId", of.AwsRequestID))
	}
	return h.Handler.Handle(ctx, r)
}

// WithAttrs implements slog.Handler.
func (h invocation) WithAttrs(attrs []slog.Attr) slog.Handler {
	return invocation{h.Handler.WithAttrs(attrs)}
}

// WithGroup implements slog.Handler.
func (h invocation) WithGroup(name string) slog.Handler { return invocation{h.Handler.WithGroup(name)} }
