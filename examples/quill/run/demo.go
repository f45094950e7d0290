package run

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/homeops/ddbpatterns/examples/internal/prices"
	"github.com/homeops/ddbpatterns/examples/quill/config"
	"github.com/homeops/ddbpatterns/examples/quill/demo"
)

// demo replays the bundled webhooks and reports the outcome. It uses no secrets of a deployment, and never AWS.
func (p Program) demo(ctx context.Context, cfg config.Config, c command) error {
	priced, err := prices.Load(c.prices)
	if err != nil {
		return err
	}
	report, err := demo.Run(ctx, demo.Options{
		Requests: demo.Bundled(),
		Endpoint: cfg.Endpoint, Region: cfg.Region, Prices: priced, Log: p.logger(c, slog.LevelError),
	})
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
