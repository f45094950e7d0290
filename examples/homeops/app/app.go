// Package app puts the pipeline together: which store keeps its rows in which
// table, and what the worker and the webhook are given.
package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/homeops/ddbpatterns/activity"
	"github.com/homeops/ddbpatterns/alias"
	"github.com/homeops/ddbpatterns/counter"
	"github.com/homeops/ddbpatterns/ema"
	"github.com/homeops/ddbpatterns/examples/homeops/classify"
	"github.com/homeops/ddbpatterns/examples/homeops/config"
	"github.com/homeops/ddbpatterns/examples/homeops/dmstatus"
	"github.com/homeops/ddbpatterns/examples/homeops/moved"
	"github.com/homeops/ddbpatterns/examples/homeops/once"
	"github.com/homeops/ddbpatterns/examples/homeops/planner"
	"github.com/homeops/ddbpatterns/examples/homeops/profile"
	"github.com/homeops/ddbpatterns/examples/homeops/promise"
	"github.com/homeops/ddbpatterns/examples/homeops/queue"
	"github.com/homeops/ddbpatterns/examples/homeops/telegram"
	"github.com/homeops/ddbpatterns/examples/homeops/week"
	"github.com/homeops/ddbpatterns/examples/homeops/worker"
	"github.com/homeops/ddbpatterns/ledger"
	"github.com/homeops/ddbpatterns/memory"
	"github.com/homeops/ddbpatterns/message"
	"github.com/homeops/ddbpatterns/pattern"
	"github.com/homeops/ddbpatterns/schema"
	"github.com/homeops/ddbpatterns/tzclock"
)

// Zone is the household's.
var Zone = tzclock.Stockholm

// DefaultBotID is the bot's id if no token names it.
const DefaultBotID = 6000000000

// Options are the differences between a service, a replay and a test.
type Options struct {
	Config config.Config
	DB     *dynamodb.Client
	Now    func() time.Time
	Queue  queue.Queue
	// Classifier opens the classifier, which may read the chats' phrases and has
	// limits of its own. Its answers are stored: see package once. Defaults to
	// classify.Words.
	Classifier func(*alias.Store, *counter.Store) (classify.Classifier, error)
	Sender     telegram.Sender
	Log        *slog.Logger

	// Observe is told what became of every delivery. May be nil.
	Observe func(context.Context, worker.Report)
}

// App is the pipeline behind the webhook.
type App struct {
	worker.Deps
	Worker *worker.Worker
	db     *dynamodb.Client
}

// New makes the stores, each on its table.
func New(o Options) (*App, error) {
	c := o.Config
	var errs []error
	acts := keep(activity.New(o.DB, c.ActivitiesTable, &activity.Config{Now: o.Now}))(&errs)
	habits := keep(pattern.New(o.DB, c.HomeopsTable, Zone, &pattern.Config{Now: o.Now}))(&errs)
	weeks := keep(week.New(o.DB, c.HomeopsTable, acts, Zone, o.Now))(&errs)
	lib := worker.Library{
		Activities: acts,
		Messages:   keep(message.New(o.DB, c.MessagesTable, &message.Config{Now: o.Now, Retention: c.MessagesRetention}))(&errs),
		Limits:     keep(counter.New(o.DB, c.CountersTable, Zone, &counter.Config{Now: o.Now}))(&errs),
		Phrases:    keep(alias.New(o.DB, c.HomeopsTable, &alias.Config{Now: o.Now}))(&errs),
		Names:      keep(alias.New(o.DB, c.HomeopsTable, &alias.Config{Now: o.Now, Prefix: "NAME"}))(&errs),
		Habits:     habits,
		Effort:     keep(ema.New(o.DB, c.HomeopsTable, &ema.Config{Now: o.Now}))(&errs),
		Prefs:      keep(ema.New(o.DB, c.HomeopsTable, &ema.Config{Now: o.Now, Prefix: "PREF", Names: map[string]string{"ema": "value"}}))(&errs),
		Seen:       keep(ledger.New(o.DB, c.LedgerTable, &ledger.Config{Now: o.Now, Retention: c.LedgerRetention, MaxAttempts: 1}))(&errs),
		Memory:     keep(memory.New(acts, Zone))(&errs),
	}
	records := worker.Records{
		DM:       keep(dmstatus.New(o.DB, c.HomeopsTable, o.Now))(&errs),
		Moves:    keep(moved.New(o.DB, c.HomeopsTable, o.Now))(&errs),
		Profiles: keep(profile.New(o.DB, c.HomeopsTable, o.Now))(&errs),
		Promises: keep(promise.New(o.DB, c.HomeopsTable, o.Now))(&errs),
		Weeks:    weeks,
		Planner:  keep(planner.New(o.DB, c.HomeopsTable, weeks, habits))(&errs),
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	outside := worker.Outside{Queue: o.Queue, Classifier: classify.Words{}, Sender: o.Sender, BotID: botID(c.TelegramToken)}
	if o.Classifier != nil {
		of, err := o.Classifier(lib.Phrases, lib.Limits)
		if err != nil {
			return nil, err
		}
		if outside.Classifier, err = once.New(o.DB, c.LedgerTable, &ledger.Config{Now: o.Now, Retention: c.LedgerRetention}, of); err != nil {
			return nil, err
		}
	}
	deps := worker.Deps{
		Library: lib, Records: records, Outside: outside, Log: o.Log, Observe: o.Observe,
		Clock: worker.Clock{Zone: Zone, Quiet: c.Quiet, Now: o.Now},
	}
	return &App{Deps: deps, Worker: worker.New(deps), db: o.DB}, nil
}

// keep collects the error of a constructor.
func keep[T any](store T, err error) func(*[]error) T {
	return func(errs *[]error) T {
		if err != nil {
			*errs = append(*errs, err)
		}
		return store
	}
}

// botID is the part of the token before the colon.
func botID(token string) int64 {
	digits, _, _ := strings.Cut(token, ":")
	if id, err := strconv.ParseInt(digits, 10, 64); err == nil {
		return id
	}
	return DefaultBotID
}

// Tables returns the definitions of all tables. What people wrote, did and taught
// cannot be replaced: those three tables have backups and outlive their stack.
// Counters last a day, and the ledger's rows its retention. A replay of old updates
// on a real endpoint needs the tables without TTL, which would delete old rows.
func (a *App) Tables(ttl bool) []schema.Table {
	tables := []schema.Table{
		kept(a.Messages.Table()), kept(a.Activities.Table()), a.Limits.Table(), kept(a.Phrases.Table()), a.Names.Table(),
		a.Habits.Table(), a.Effort.Table(), a.Prefs.Table(), a.Seen.Table(),
		kept(a.Profiles.Table()), kept(a.Promises.Table()), kept(a.Weeks.Table()),
	}
	if !ttl {
		for i := range tables {
			tables[i].TTL = ""
		}
	}
	return tables
}

// Stores returns the stores for the policy of the worker, each with the calls that the
// worker makes. What only the page, personal, the commands and a model call is not among
// them: a model's calls need no other rights.
func (a *App) Stores() []schema.Store {
	only := schema.Only
	return []schema.Store{
		only(a.Messages, "Save", "FastConversation", "InScope"),
		only(a.Activities, "RecordAll", "OfEvent", "InScope"), only(a.Memory, "LastOf", "LastBy", "ThisWeek"),
		only(a.Limits, "Take", "Add", "Refund", "Get"),
		only(a.Phrases, "Put", "Correct", "Confirm", "Resolve", "All"), only(a.Names, "Put", "Match"),
		only(a.Habits, "Observe", "All"), only(a.Effort, "Observe"), only(a.Prefs, "Observe", "Get"),
		only(a.Seen, "Claim", "Release", "Get"),
		a.DM, a.Moves, a.Profiles, a.Promises, a.Weeks,
	}
}

func kept(table schema.Table) schema.Table {
	table.PointInTimeRecovery, table.Retain = true, true
	return table
}

// CreateTables creates the tables that do not exist yet.
func (a *App) CreateTables(ctx context.Context, ttl bool) error {
	return schema.Create(ctx, a.db, a.Tables(ttl)...)
}

// Seeds are the phrases that chats start with: chat id → phrase → activity.
type Seeds map[string]map[string]string

// Seed writes the phrases that the chats do not have yet.
func (a *App) Seed(ctx context.Context, seeds Seeds) error {
	for chat, phrases := range seeds {
		scope, err := a.Moves.Scope(ctx, chat)
		if err != nil {
			return err
		}
		if _, err := a.Phrases.Seed(ctx, scope, phrases); err != nil {
			return fmt.Errorf("seeds of chat %s: %w", chat, err)
		}
	}
	return nil
}
