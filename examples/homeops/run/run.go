// Package run is the program homeops without its queue: the command line and the
// environment, the replay and the service. Two commands use it:
// examples/homeops, whose queue is in the process, and
// examples/homeops/aws/cmd/homeops, whose queue is SQS.
//
//	run.go       the command line
//	commands.go  what operators do: once for a service, with dead letters, export and erasure
//	serve.go     the service: webhook and worker in one process
//	health.go    whether it takes updates, how many are where, and the status page
//	gate.go      what it takes on, and when it stops to
package run

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strconv"
	"time"

	"github.com/homeops/ddbpatterns/alias"
	"github.com/homeops/ddbpatterns/counter"
	"github.com/homeops/ddbpatterns/examples/homeops/app"
	"github.com/homeops/ddbpatterns/examples/homeops/classify"
	"github.com/homeops/ddbpatterns/examples/homeops/config"
	"github.com/homeops/ddbpatterns/examples/homeops/demo/replay"
	"github.com/homeops/ddbpatterns/examples/homeops/demo/report"
	"github.com/homeops/ddbpatterns/examples/homeops/queue"
	"github.com/homeops/ddbpatterns/examples/internal/serving"
)

// The input of a replay without -updates and -seeds.
var (
	//go:embed testdata/conversation.jsonl
	conversation []byte
	//go:embed testdata/seeds.json
	seeds []byte
	// written is when the conversation was written: later dates in it are meant
	// to be refused, whatever time it is now.
	written = time.Date(2026, time.April, 23, 0, 0, 0, 0, time.UTC)
)

// Program is what a process gets from its environment.
type Program struct {
	Args     []string
	Env      func(string) (string, bool)
	In       io.Reader
	Out, Err io.Writer

	// Queue opens the queue of MESSAGES_QUEUE_URL. If it is nil, that variable
	// is refused, and the queue is in the process.
	Queue func(context.Context, config.Config, *slog.Logger) (queue.Queue, error)
	// Classifier opens the classifier of CLASSIFIER=openai. If it is nil, that
	// setting is refused. Without the setting [classify.Words] classifies.
	Classifier func(config.Config, *alias.Store, *counter.Store, *slog.Logger) (classify.Classifier, error)
	// Ending is [Orderly] if it is zero.
	Ending Ending
}

// Exit codes.
const (
	exitOK     = 0
	exitFailed = 1
	exitUsage  = 2 // wrong flags or variables: nothing was begun
)

// flags are the command line.
type flags struct {
	updates, serve, seeds, log, page string
	pollers                          int
}

const aboutUpdates = `
The updates of -updates may come in any order and leave gaps: the clock shows the
latest date so far and never goes back, so an
update that is older than one before it is late. An update dated more than an hour
ahead of the present does not move the clock, and is refused. The bot in them is
that of TELEGRAM_BOT_TOKEN, or without one user %d: a reply to the bot has that
id in reply_to_message.from.id.
`

func (p Program) flags() (flags, error) {
	var f flags
	set := flag.NewFlagSet("homeops", flag.ContinueOnError)
	set.SetOutput(p.Err)
	set.StringVar(&f.updates, "updates", "", "replay the updates of this `file`, one JSON object a line, instead of the bundled conversation; - is standard input")
	set.StringVar(&f.serve, "serve", "", "receive updates on this `address`, such as :8080, and work on them")
	set.IntVar(&f.pollers, "pollers", 2, "with -serve, work on `N` deliveries at once; 0 if only other processes work on the queue")
	set.StringVar(&f.seeds, "seeds", "", "a JSON `file` of phrases that chats start with: chat id → phrase → activity")
	set.StringVar(&f.page, "page", "", "write the status page at the end of a replay to this `file`; -serve has it at "+statusPath)
	set.StringVar(&f.log, "log", "text", "the `form` of the log on standard error: text or json")
	set.Usage = func() {
		fmt.Fprintf(p.Err, "Usage of homeops:\n")
		set.PrintDefaults()
		fmt.Fprintf(p.Err, aboutUpdates, int64(app.DefaultBotID))
		fmt.Fprint(p.Err, aboutSetUp, aboutLetters, aboutPersonal)
	}
	if err := set.Parse(p.Args); err != nil {
		return flags{}, err // it is written already
	}
	var wrong error
	switch {
	case set.NArg() > 0:
		wrong = fmt.Errorf("unexpected argument %q", set.Arg(0))
	case f.updates != "" && f.serve != "":
		wrong = errors.New("-updates and -serve exclude each other")
	case f.pollers < 0:
		wrong = fmt.Errorf("-pollers must not be negative, is %d", f.pollers)
	case f.page != "" && f.serve != "":
		wrong = errors.New("-page is for a replay: -serve has the page at " + statusPath + ", with STATUS_TOKEN")
	case f.log != "text" && f.log != "json":
		wrong = fmt.Errorf("-log must be text or json, is %q", f.log)
	}
	return f, p.complain(wrong)
}

// complain writes an error for people and returns it.
func (p Program) complain(err error) error {
	if err != nil {
		fmt.Fprintf(p.Err, "homeops: %v\n", err)
	}
	return err
}

// Run runs the program until it is done or the context ends, and returns its
// exit code: 0, 1 for a failure, 2 for wrong flags or variables.
func (p Program) Run(ctx context.Context) (exit int) {
	if len(p.Args) > 0 {
		switch p.Args[0] {
		case "dlq":
			return p.dlq(ctx)
		case "export", "erase":
			return p.personal(ctx)
		case "webhook":
			return p.once(ctx, p.webhook)
		case "seed":
			return p.once(ctx, p.seed)
		case "token":
			return p.once(ctx, p.token)
		}
	}
	f, err := p.flags()
	if errors.Is(err, flag.ErrHelp) {
		return exitOK
	}
	if err != nil {
		return exitUsage
	}
	cfg, err := config.Load(p.Env)
	if err == nil {
		err = errors.Join(p.queueable(cfg), p.classifiable(cfg))
	}
	if err == nil && f.serve != "" {
		err = cfg.ForService()
	}
	return p.exit(err, func() error {
		if f.serve != "" {
			return p.serve(ctx, cfg, f)
		}
		return p.replay(ctx, cfg, f)
	})
}

// exit runs a command, unless its flags or variables are wrong, and returns the
// exit code.
func (p Program) exit(wrong error, do func() error) int {
	if p.complain(wrong) != nil {
		return exitUsage
	}
	if p.complain(do()) != nil {
		return exitFailed
	}
	return exitOK
}

// queueable refuses a queue that this program cannot reach.
func (p Program) queueable(cfg config.Config) error {
	if cfg.QueueURL == "" || p.Queue != nil {
		return nil
	}
	return errors.New("MESSAGES_QUEUE_URL: this command has its queue in its process: for SQS, run: go run -C examples/homeops ./aws/cmd/homeops")
}

// classifiable refuses a classifier that this program does not have.
func (p Program) classifiable(cfg config.Config) error {
	if cfg.Classifier != config.OpenAI || p.Classifier != nil {
		return nil
	}
	return errors.New("CLASSIFIER: this command has only the vocabulary: for openai, run: go run -C examples/homeops ./aws/cmd/homeops")
}

// classifier is the app's option.
func (p Program) classifier(cfg config.Config, log *slog.Logger) func(*alias.Store, *counter.Store) (classify.Classifier, error) {
	if cfg.Classifier != config.OpenAI {
		return nil
	}
	return func(phrases *alias.Store, limits *counter.Store) (classify.Classifier, error) {
		return p.Classifier(cfg, phrases, limits, log)
	}
}

func (p Program) replay(ctx context.Context, cfg config.Config, f flags) error {
	log := p.logger(f, slog.LevelError)
	o := replay.Options{Page: f.page, Config: cfg, Log: log, Classifier: p.classifier(cfg, log)}
	var err error
	switch f.updates {
	case "":
		o.Updates, o.Present = bytes.NewReader(conversation), written
		o.Config.TelegramToken = "" // the bot in it is another
		if f.seeds == "" {
			o.Seeds, err = readSeeds(seeds)
		}
	case "-":
		o.Updates = p.In
	default:
		file, openErr := os.Open(f.updates)
		if openErr != nil {
			return openErr
		}
		defer file.Close()
		o.Updates = file
	}
	if f.seeds != "" {
		o.Seeds, err = loadSeeds(f.seeds)
	}
	if err != nil {
		return err
	}
	facts, err := replay.Run(ctx, o)
	if err != nil {
		return err
	}
	return report.Write(p.Out, facts)
}

func (p Program) logger(f flags, level slog.Level) *slog.Logger {
	return serving.Log(p.Err, f.log, level)
}

func loadSeeds(path string) (app.Seeds, error) {
	if path == "" {
		return nil, nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	s, err := readSeeds(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return s, nil
}

func readSeeds(text []byte) (app.Seeds, error) {
	var s app.Seeds
	if err := json.Unmarshal(text, &s); err != nil {
		return nil, fmt.Errorf("seeds must be a JSON object of chat id → phrase → activity: %w", err)
	}
	for chat := range s {
		if _, err := strconv.ParseInt(chat, 10, 64); err != nil {
			return nil, fmt.Errorf("seeds must be a JSON object of chat id → phrase → activity: a chat id must be a whole number, is %q", chat)
		}
	}
	return s, nil
}
