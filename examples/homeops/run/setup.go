package run

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/examples/homeops/app"
	"github.com/homeops/ddbpatterns/examples/homeops/config"
	"github.com/homeops/ddbpatterns/examples/homeops/ingest"
	"github.com/homeops/ddbpatterns/examples/homeops/queue"
	"github.com/homeops/ddbpatterns/examples/homeops/telegram"
	"github.com/homeops/ddbpatterns/examples/internal/database"
)

// aboutSetUp is the usage of the commands that are run once.
const aboutSetUp = `
Once, for a service:

  homeops webhook URL    tells Telegram where the service is, and its secret
  homeops seed FILE      writes the phrases that chats start with, as -seeds does
  homeops token CHAT     prints user and password of one household's status page
`

// once runs one of the commands that set a service up.
func (p Program) once(ctx context.Context, do func(context.Context, config.Config, string) error) int {
	cfg, err := config.Load(p.Env)
	if err == nil && len(p.Args) != 2 {
		err = fmt.Errorf("%s takes one argument:%s", p.Args[0], aboutSetUp)
	}
	ctx, cancel := context.WithTimeout(ctx, toSetUp)
	defer cancel()
	return p.exit(err, func() error { return do(ctx, cfg, p.Args[1]) })
}

// webhook calls setWebhook, and warns of what would keep the bot deaf.
func (p Program) webhook(ctx context.Context, cfg config.Config, address string) error {
	at, err := url.Parse(address)
	switch {
	case err != nil || at.Scheme != "https" || at.Host == "":
		return fmt.Errorf("webhook: the address must be a URL with https, because Telegram requires it, is %q", address)
	case cfg.TelegramToken == "" || cfg.TelegramSecret == "":
		return errors.New("webhook: TELEGRAM_BOT_TOKEN and TELEGRAM_SECRET_TOKEN must be set")
	}
	if at.Path == "" || at.Path == "/" {
		at.Path = ingest.Path
	}
	client := &telegram.Client{BaseURL: cfg.TelegramAPI, Token: cfg.TelegramToken}
	if err := client.SetWebhook(ctx, at.String(), cfg.TelegramSecret); err != nil {
		return err
	}
	me, err := client.Me(ctx)
	if err != nil {
		return err
	}
	fmt.Fprintf(p.Out, "@%s gets its updates at %s\n", me.Username, at)
	if !me.ReadsGroups {
		fmt.Fprintln(p.Out, "Privacy mode is on: in groups the bot sees only commands and replies to it. Switch it off with BotFather's /setprivacy, then add the bot to its groups anew.")
	}
	return nil
}

// seed writes phrases where the service has its tables.
func (p Program) seed(ctx context.Context, cfg config.Config, path string) error {
	seeds, err := loadSeeds(path)
	if err != nil {
		return err
	}
	a, db, err := p.open(ctx, cfg, "seed")
	if err != nil {
		return err
	}
	err = a.Seed(ctx, seeds)
	if _, missing := errors.AsType[*types.ResourceNotFoundException](err); missing {
		return fmt.Errorf("seed: table %s does not exist on %s: first deploy the stack, or start the service", cfg.HomeopsTable, db.Where)
	}
	if err != nil {
		return err
	}
	fmt.Fprintf(p.Out, "%d chats have their phrases, on %s\n", len(seeds), db.Where)
	return nil
}

// open opens tables that last, for a command that is named in errors.
func (p Program) open(ctx context.Context, cfg config.Config, command string) (a *app.App, db database.DB, err error) {
	switch {
	case cfg.Endpoint == "" && cfg.AWSError != nil:
		return nil, db, cfg.AWSError
	case cfg.Embedded():
		return nil, db, errors.New(command + ": set DYNAMO_ENDPOINT or AWS credentials: otherwise the database would end with this command")
	}
	if db, err = database.Open(ctx, cfg.Settings, time.Now); err != nil {
		return nil, db, err
	}
	a, err = app.New(app.Options{
		Config: cfg, DB: db.Client, Now: time.Now, Queue: queue.NewMemory(queue.Config{}),
		Sender: &telegram.Console{}, Log: slog.New(slog.DiscardHandler),
	})
	return a, db, err
}
