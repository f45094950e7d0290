package run

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/homeops/ddbpatterns/examples/internal/prices"
	"github.com/homeops/ddbpatterns/examples/quill/config"
	"github.com/homeops/ddbpatterns/examples/quill/demo"
	"github.com/homeops/ddbpatterns/examples/quill/demo/stream"
)

// demo replays the bundled webhooks, or any number of made-up ones, and reports the
// outcome. It uses no secrets of a deployment, and never AWS.
func (p Program) demo(ctx context.Context, cfg config.Config, c command) error {
	priced, err := prices.Load(c.prices)
	if err != nil {
		return err
	}
	o := demo.Options{
		Requests: demo.Bundled(), Senders: 1,
		Endpoint: cfg.Endpoint, Region: cfg.Region, Prices: priced, Log: p.logger(c, slog.LevelError),
	}
	if c.events > 0 {
		o.Requests, o.Senders, o.Progress = stream.Of(demo.Seed, c.events), c.senders, p.Err
	}
	report, err := demo.Run(ctx, o)
	if err != nil {
		return err
	}
	if err := report.Write(p.Out); err != nil {
		return err
	}
	if !report.OK() {
		return fmt.Errorf("%d things do not add up", report.WrongAll)
	}
	return nil
}
