package run

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"net/url"

	"github.com/homeops/ddbpatterns/examples/homeops/config"
	"github.com/homeops/ddbpatterns/examples/homeops/dlq"
)

const aboutLetters = `
Dead letters, as updates are that could not be worked on:
  homeops dlq list
  homeops dlq show ID
  homeops dlq redrive ID… | -all    sends them again
Each works on the queue of MESSAGES_QUEUE_URL; without one on that of a service,
which holds it: -at URL is the service's address, and TELEGRAM_SECRET_TOKEN as it
has it.
`

// atHome is the service's address if -at is not given.
const atHome = "http://127.0.0.1:8080"

// letters are the flags of homeops dlq.
type letters struct {
	dlq.Command
	at string // "" if it was not given
}

// letters reads flags and ids in any order.
func (p Program) letters() (l letters, err error) {
	set := flag.NewFlagSet("homeops dlq", flag.ContinueOnError)
	set.SetOutput(p.Err)
	set.StringVar(&l.at, "at", "", "the `address` of the service that holds the queue (default "+atHome+")")
	set.BoolVar(&l.All, "all", false, "redrive all dead letters that can be sent")
	set.Usage = func() {
		fmt.Fprint(p.Err, "Usage of homeops dlq:\n")
		set.PrintDefaults()
		fmt.Fprint(p.Err, aboutLetters)
	}
	var words []string
	for rest := p.Args[1:]; len(rest) > 0; {
		if err := set.Parse(rest); err != nil {
			return letters{}, err // it is written already
		}
		if rest = set.Args(); len(rest) > 0 {
			words, rest = append(words, rest[0]), rest[1:]
		}
	}
	if len(words) > 0 {
		l.Name, l.IDs = words[0], words[1:]
	}
	return l, p.complain(l.check())
}

func (l letters) check() error {
	if err := l.Check(); err != nil {
		return err
	}
	if at, err := url.Parse(l.at); l.at != "" && (err != nil || at.Scheme != "http" && at.Scheme != "https" || at.Host == "" || at.RawQuery != "") {
		return fmt.Errorf("-at must be a URL such as %s, is %q", atHome, l.at)
	}
	return nil
}

// dlq is homeops dlq.
func (p Program) dlq(ctx context.Context) (exit int) {
	l, err := p.letters()
	if errors.Is(err, flag.ErrHelp) {
		return exitOK
	}
	if err != nil {
		return exitUsage
	}
	cfg, err := config.Load(p.Env)
	if err == nil {
		err = p.reachable(cfg, l)
	}
	return p.exit(err, func() error { return p.carryOut(ctx, cfg, l) })
}

// reachable refuses settings by which dead letters are nowhere, or in two
// places.
func (p Program) reachable(cfg config.Config, l letters) error {
	switch {
	case cfg.QueueURL == "" && cfg.TelegramSecret == "":
		return errors.New("TELEGRAM_SECRET_TOKEN: must be set to the service's secret: without it the service shows no dead letters. For a queue on SQS set MESSAGES_QUEUE_URL")
	case cfg.QueueURL != "" && l.at != "":
		return errors.New("-at and MESSAGES_QUEUE_URL exclude each other: the queue is either in the service or on SQS")
	case cfg.QueueURL != "" && cfg.AWSError != nil:
		return cfg.AWSError
	}
	return p.queueable(cfg)
}

func (p Program) carryOut(ctx context.Context, cfg config.Config, l letters) error {
	if cfg.QueueURL == "" {
		return dlq.Remote{At: cmp.Or(l.at, atHome), Secret: cfg.TelegramSecret}.Run(ctx, l.Command, p.Out)
	}
	q, err := p.Queue(ctx, cfg, p.logger(flags{}, slog.LevelError))
	if err != nil {
		return err
	}
	return l.Run(ctx, q, p.Out)
}
