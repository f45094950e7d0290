package run

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/examples/homeops/app"
	"github.com/homeops/ddbpatterns/examples/homeops/config"
	"github.com/homeops/ddbpatterns/examples/homeops/dlq"
	"github.com/homeops/ddbpatterns/examples/homeops/ingest"
	"github.com/homeops/ddbpatterns/examples/homeops/personal"
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

const aboutPersonal = `
What is stored of a person, by their number in Telegram, or of a chat:
  homeops export person ID [CHAT…]          JSON lines; CHAT… are looked through, too
  homeops export chat ID
  homeops erase person|chat ID […] -write   without -write it lists as export does
`

// notReached is the data to which no key leads.
const notReached = `Not reached:
  ledger rows, which expire after %d days and an hour at most: the key
    TELEGRAM:<chat>:<message>:said has a person's number if the chat is private, and
    CLASSIFY:<event> the people whom a text names; other keys and events are hashes, out of
    which no number can be read
  what others wrote in words; quotations, mentions and forwards in chats not looked through
  a person who turned a group into a supergroup and did nothing else there, in the message that
    says so
  of a chat: profiles, promises and summaries of people who neither lived nor did anything there,
    once their messages have expired by MESSAGES_TTL_DAYS
  the queue, dead letters (homeops dlq list) and the service's log
  backups: point-in-time recovery goes back 35 days
  what AWS logs, what Telegram has, what the provider of a language model was sent
`

// personal is homeops export and homeops erase. Ids may begin with a sign, so it
// separates them from flags by hand.
func (p Program) personal(ctx context.Context) int {
	words := slices.DeleteFunc(slices.Clone(p.Args), func(word string) bool { return word == "-write" })
	write := len(words) < len(p.Args)
	cfg, err := config.Load(p.Env)
	wrong := len(words) < 3 || words[1] != "person" && words[1] != "chat" || words[1] == "chat" && len(words) > 3 || write && words[0] == "export"
	for i, id := range words[min(2, len(words)):] {
		n, bad := strconv.ParseInt(id, 10, 64)
		wrong = wrong || bad != nil || n == 0 || n < 0 && i == 0 && words[1] == "person" || strconv.FormatInt(n, 10) != id
	}
	if wrong {
		err = fmt.Errorf("export and erase take a person or a chat by its number:%s", aboutPersonal)
	}
	return p.exit(err, func() error {
		a, db, err := p.open(ctx, cfg, words[0])
		if err != nil {
			return err
		}
		tool := &personal.Tool{DB: db.Client, App: a, Config: cfg}
		of := personal.Subject{ID: words[2], Chat: words[1] == "chat", Also: words[3:]}
		count, out := map[string]int{}, bufio.NewWriter(p.Out)
		var chats []string
		if write {
			chats, err = tool.Erase(ctx, of, count)
		} else {
			chats, err = tool.List(ctx, of, func(row personal.Row) error {
				count[strings.Join(append([]string{row.Record}, row.Loses...), " -")]++
				return json.NewEncoder(out).Encode(row)
			})
		}
		what := map[bool]string{true: "gone or changed", false: "found"}[write]
		if err == nil && len(count) == 0 {
			fmt.Fprintf(p.Err, "no key leads to stored data of %s %s\n", words[1], of.ID)
		}
		for _, record := range slices.Sorted(maps.Keys(count)) {
			fmt.Fprintf(p.Err, "%6d %s %s\n", count[record], record, what)
		}
		fmt.Fprintf(p.Err, "Looked through: %s\n"+notReached, cmp.Or(strings.Join(chats, " "), "no chat"), cfg.LedgerRetention/(24*time.Hour))
		if write && !of.Chat {
			fmt.Fprintf(p.Err, "If the person has written meanwhile: homeops erase person %s %s -write\n", of.ID, strings.Join(chats, " "))
		}
		return cmp.Or(err, out.Flush())
	})
}
