// Package run is the program quill: its command line and environment, the
// demonstration, the service and the commands.
//
//	run.go          the command line
//	demo.go         the demonstration
//	serve.go        the service: webhooks and poster in one process
//	connections.go  how many at once
//	clock.go        the poster's waits, which end with the service
//	health.go       whether it accepts webhooks, and how many facts are in which state
//	stores.go       the tables, and the stores on them
//	commands.go     the commands for looking up, and for the dataset
//	template.go     tables and rights for CloudFormation
package run

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"time"

	"github.com/homeops/ddbpatterns/examples/internal/serving"
	"github.com/homeops/ddbpatterns/examples/quill/config"
	"github.com/homeops/ddbpatterns/examples/quill/powerbi"
)

// Program is what a process gets: arguments, environment, output.
type Program struct {
	Args     []string
	Env      func(string) (string, bool)
	Out, Err io.Writer

	// PowerBI is the client of a dataset: Microsoft's if it is nil.
	PowerBI func(config.PowerBI) *powerbi.Client
	// Idle is how long the poster waits when nothing is pending: post's default if it is
	// zero.
	Idle time.Duration
	// Ending is [Orderly] if it is zero.
	Ending Ending
}

// These are the exit codes.
const (
	exitOK     = 0
	exitFailed = 1
	exitUsage  = 2 // wrong flags or variables: nothing has begun
)

// command is what the command line asks for.
type command struct {
	name string // "" for the demonstration and the service
	args []string

	serve, sink, log, prices string
	limit                    int
	again                    bool
}

// commands are those with a name, and how they are called.
var commands = map[string]string{
	"facts":          "facts KEY…",
	"refused":        "refused [-limit N] [-again]",
	"create-dataset": "create-dataset [NAME]",
	"template":       "template",
}

const about = `
Commands, which take -log as well:

  quill facts KEY…             prints facts as they are kept, by keys such as ALOWARE:CALL:985097163
  quill refused [-limit N]     prints what could not be read, the newest first; with -again it is read once more
  quill create-dataset [NAME]  makes the push dataset of Power BI and prints its id
  quill template               prints the tables, and the rights to use them, for CloudFormation
`

// parse reads the command line.
func (p Program) parse() (command, error) {
	var c command
	args := p.Args
	if len(args) > 0 && commands[args[0]] != "" {
		c.name, args = args[0], args[1:]
	}
	set := flag.NewFlagSet(strings.TrimSpace("quill "+c.name), flag.ContinueOnError)
	set.SetOutput(p.Err)
	set.StringVar(&c.log, "log", "text", "the `form` of the log on standard error: text or json")
	switch c.name {
	case "":
		set.StringVar(&c.serve, "serve", "", "take webhooks on this `address`, such as :8080, and post")
		set.StringVar(&c.sink, "sink", "", "with -serve, append rows to this `file`, as QUILL_SINK does")
		set.StringVar(&c.prices, "prices", "", "a JSON `file` of prices for the demonstration's report, instead of the one in examples/internal/prices")
	case "refused":
		set.IntVar(&c.limit, "limit", 100, "print at most `N`, the newest")
		set.BoolVar(&c.again, "again", false, "read the refused events again with the present configuration, and print the result")
	}
	set.Usage = func() {
		fmt.Fprintf(p.Err, "Usage of quill:\n")
		set.PrintDefaults()
		fmt.Fprint(p.Err, about)
	}
	if err := set.Parse(args); err != nil {
		return command{}, err // already written
	}
	c.args = set.Args()
	return c, p.complain(c.wrong())
}

// wrong says which flags and arguments do not go together.
func (c command) wrong() error {
	switch {
	case c.name == "" && len(c.args) > 0:
		return fmt.Errorf("unexpected argument %q", c.args[0])
	case c.name == "facts" && len(c.args) == 0,
		c.name == "refused" && len(c.args) > 0,
		c.name == "create-dataset" && len(c.args) > 1,
		c.name == "template" && len(c.args) > 0:
		return fmt.Errorf("usage: quill %s", commands[c.name])
	case c.sink != "" && c.serve == "":
		return errors.New("-sink can only be used with -serve")
	case c.prices != "" && c.serve != "":
		return errors.New("-prices is for the report of the demonstration: -serve writes no report")
	case c.name == "refused" && c.limit < 1:
		return fmt.Errorf("-limit must be positive, is %d", c.limit)
	case c.log != "text" && c.log != "json":
		return fmt.Errorf("-log must be text or json, is %q", c.log)
	}
	return nil
}

// complain writes an error for people and returns it.
func (p Program) complain(err error) error {
	if err != nil {
		fmt.Fprintf(p.Err, "quill: %v\n", err)
	}
	return err
}

// Run runs the program until it is done or the context ends, and returns its
// exit code: 0, 1 for a failure, 2 for wrong flags or variables.
func (p Program) Run(ctx context.Context) (exit int) {
	c, err := p.parse()
	if errors.Is(err, flag.ErrHelp) {
		return exitOK
	}
	if err != nil {
		return exitUsage
	}
	cfg, err := config.Load(p.Env)
	if err == nil {
		err = c.fits(&cfg)
	}
	if p.complain(err) != nil {
		return exitUsage
	}
	if p.complain(p.do(ctx, c, cfg)) != nil {
		return exitFailed
	}
	return exitOK
}

// fits says what the configuration lacks for the command.
func (c command) fits(cfg *config.Config) error {
	if c.sink != "" {
		if cfg.PowerBI.On() {
			return errors.New("-sink and POWERBI_TENANT_ID exclude each other: rows go to only one place")
		}
		cfg.Sink = c.sink
	}
	switch c.name {
	case "facts", "refused":
		if cfg.Embedded() {
			return fmt.Errorf("%s: set DYNAMO_ENDPOINT or AWS credentials: otherwise the database is a new one in this process, and empty", c.name)
		}
		return cfg.ForTables()
	case "create-dataset":
		return cfg.ForDataset()
	case "":
		if c.serve != "" {
			return cfg.ForService()
		}
	}
	return nil
}

func (p Program) do(ctx context.Context, c command, cfg config.Config) error {
	switch c.name {
	case "facts":
		return p.facts(ctx, cfg, c.args)
	case "refused":
		return p.refused(ctx, cfg, c)
	case "create-dataset":
		return p.createDataset(ctx, cfg, c.args)
	case "template":
		return p.template(cfg)
	}
	if c.serve != "" {
		return p.serve(ctx, cfg, c)
	}
	return p.demo(ctx, cfg, c)
}

func (p Program) logger(c command, level slog.Level) *slog.Logger {
	return serving.Log(p.Err, c.log, level)
}
