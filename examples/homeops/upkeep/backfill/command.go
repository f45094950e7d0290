package backfill

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/homeops/ddbpatterns/examples/homeops/app"
	"github.com/homeops/ddbpatterns/examples/homeops/config"
	"github.com/homeops/ddbpatterns/examples/internal/database"
	"github.com/homeops/ddbpatterns/examples/internal/prices"
)

// Command is the program. Its exit code is 0 when all is done, 1 when something
// failed or interrupted it, and 2 for bad input, before any request is sent.
func Command(ctx context.Context, args []string, env func(string) (string, bool), out, log io.Writer) int {
	o := Options{Log: log}
	flags := flag.NewFlagSet("backfill", flag.ContinueOnError)
	flags.SetOutput(log)
	table := flags.String("table", "all", "the `table` to work on: activities, counters, ledger, phrases or all")
	flags.IntVar(&o.Segments, "segments", 4, "how many parts of a table are read side by side, 1 to 100")
	flags.IntVar(&o.Units, "units", 100, "capacity units a second, reads and writes together, 1 to 40000")
	flags.StringVar(&o.Checkpoint, "checkpoint", "backfill.json", "`file` that a run with -write is resumed from; it contains keys of rows")
	flags.BoolVar(&o.Write, "write", false, "write; without it rows are only counted")
	if flags.Parse(args) != nil { // which has said why
		return 2
	}
	cfg, err := config.Load(env)
	if err == nil {
		err = o.fill(ctx, cfg, *table, flags.Args())
	}
	var done map[string]Counts
	if err == nil {
		done, err = Run(ctx, o)
	}
	list, _ := prices.Load("") // of the program's own file, which its tests read
	for _, t := range o.Tables {
		if c, begun := done[t.Name]; begun {
			cost := prices.Dollars(list.Regions[cfg.Region].DynamoDB.Of(c.RCU, c.WCU))
			fmt.Fprintf(out, "%s: %d rows, %d lack something, %d left alone; %d written, %d changed meanwhile; %g RCU, %g WCU, %s\n",
				t.Name, c.Rows, c.Older, c.LeftAlone, c.Written, c.Changed, c.RCU, c.WCU, cost)
		}
	}
	switch {
	case err == nil && !o.Write:
		fmt.Fprintln(out, "nothing is written: the WCU are the most that -write takes, on rows up to 1 KB")
	case err == nil:
	case done == nil:
		fmt.Fprintln(log, err)
		return 2
	default:
		fmt.Fprintf(log, "%v\nwith -write the same command goes on from %s\n", err, o.Checkpoint)
		return 1
	}
	return 0
}

// fill refuses bad input, and sets the database and the tables.
func (o *Options) fill(ctx context.Context, cfg config.Config, which string, rest []string) error {
	switch {
	case len(rest) > 0:
		return fmt.Errorf("unexpected argument %q", rest[0])
	case o.Segments < 1 || o.Segments > 100:
		return fmt.Errorf("-segments: must be 1 to 100, is %d", o.Segments)
	case o.Units < 1 || o.Units > 40000:
		return fmt.Errorf("-units: must be 1 to 40000, is %d", o.Units)
	case cfg.Embedded():
		return errors.New("DYNAMO_ENDPOINT: must be set if there are no AWS credentials: this process has no tables of its own")
	case cfg.Endpoint == "" && cfg.AWSError != nil:
		return cfg.AWSError
	}
	db, err := database.Open(ctx, cfg.Settings, time.Now, func(d *dynamodb.Options) { d.RetryMaxAttempts = 10 })
	if err != nil {
		return err
	}
	a, err := app.New(app.Options{Config: cfg, DB: db.Client, Now: time.Now})
	if err != nil {
		return err
	}
	seen, err := a.Seen.Operators(db.Client)
	if err != nil {
		return err
	}
	o.DB, o.Where = db.Client, db.Where
	names := []string{"activities", "counters", "ledger", "phrases"}
	for i, t := range []Table{
		{Table: a.Activities.Table(), Backfill: a.Activities.Backfill},
		{Table: a.Limits.Table(), Backfill: a.Limits.Backfill},
		{Table: a.Seen.Table(), Backfill: seen.Backfill},
		{Table: a.Phrases.Table(), Moves: []Move{a.Phrases.Backfill, a.Names.Backfill}},
	} {
		if which == names[i] || which == "all" {
			o.Tables = append(o.Tables, t)
		}
	}
	if o.Tables == nil {
		return fmt.Errorf("-table: must be activities, counters, ledger, phrases or all, is %q", which)
	}
	return nil
}
