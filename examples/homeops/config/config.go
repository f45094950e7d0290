// Package config reads the example's configuration from the environment: the
// only place that does.
package config

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"time"

	"github.com/homeops/ddbpatterns/tzclock"
)

// Config is what a deployment decides. The zone is the household's.
type Config struct {
	MessagesTable   string // MESSAGES_TABLE_NAME
	ActivitiesTable string // ACTIVITIES_TABLE_NAME
	CountersTable   string // RESPONSE_COUNTERS_TABLE_NAME
	HomeopsTable    string // HOMEOPS_TABLE_NAME: aliases, habits, effort, preferences, DM status, moved chats

	LedgerTable     string        // DYNAMO_TABLE_NAME
	LedgerRetention time.Duration // DYNAMO_TTL_DAYS

	Endpoint string // DYNAMO_ENDPOINT; "" is AWS where there are credentials, else embedded
	Region   string // DYNAMO_REGION, else AWS_REGION
	AWS      bool   // the SDK's own variables name credentials, which it reads itself
	AWSError error  // what is wrong with those, for whoever uses them

	QueueURL string // MESSAGES_QUEUE_URL, of SQS; "" is a queue in the process

	TelegramSecret string // TELEGRAM_SECRET_TOKEN, asked for by -serve
	TelegramToken  string // TELEGRAM_BOT_TOKEN; "" writes replies to the console
	TelegramAPI    string // TELEGRAM_API_URL

	Quiet tzclock.Quiet // QUIET_HOURS, in which the bot says nothing
}

// Embedded reports whether the database is in this process, which keeps nothing.
func (c Config) Embedded() bool { return c.Endpoint == "" && !c.AWS }

// ForService names what only a service needs: a secret, and AWS in order where
// it is what the service works on.
func (c Config) ForService() error {
	var errs []error
	if c.TelegramSecret == "" {
		errs = append(errs, errors.New("TELEGRAM_SECRET_TOKEN: must be set, to what setWebhook was given: without it anybody could post updates"))
	}
	if (c.Endpoint == "" || c.QueueURL != "") && c.AWSError != nil {
		errs = append(errs, c.AWSError)
	}
	if c.QueueURL != "" && c.Embedded() {
		errs = append(errs, errors.New("MESSAGES_QUEUE_URL: goes with tables that last: set DYNAMO_ENDPOINT or AWS credentials, too"))
	}
	return errors.Join(errs...)
}

// Telegram's own rules, from the Bot API and the form of its tokens.
var (
	tableName = regexp.MustCompile(`^[A-Za-z0-9_.-]{3,255}$`)
	secret    = regexp.MustCompile(`^[A-Za-z0-9_-]{1,256}$`)
	botToken  = regexp.MustCompile(`^[0-9]+:[A-Za-z0-9_-]+$`)
	region    = regexp.MustCompile(`^[a-z]{2,}(-[a-z]+)+-[0-9]+$`)
)

// reader takes variables and collects what is wrong with them.
type reader struct {
	lookup func(string) (string, bool)
	errs   []error
}

// Load reads the environment through lookup, which is os.LookupEnv. The error
// names every variable whose value is wrong. A variable that is set but empty
// counts as not set, as in a compose file.
func Load(lookup func(string) (string, bool)) (Config, error) {
	r := &reader{lookup: lookup}
	days := r.days("DYNAMO_TTL_DAYS", 14)
	cfg := Config{
		MessagesTable:   r.text("MESSAGES_TABLE_NAME", "homeops-messages", tableName, "a table name: 3 to 255 letters, digits, '_', '-', '.'"),
		ActivitiesTable: r.text("ACTIVITIES_TABLE_NAME", "homeops-activities", tableName, "a table name: 3 to 255 letters, digits, '_', '-', '.'"),
		CountersTable:   r.text("RESPONSE_COUNTERS_TABLE_NAME", "homeops-response-counters", tableName, "a table name: 3 to 255 letters, digits, '_', '-', '.'"),
		HomeopsTable:    r.text("HOMEOPS_TABLE_NAME", "homeops", tableName, "a table name: 3 to 255 letters, digits, '_', '-', '.'"),
		LedgerTable:     r.text("DYNAMO_TABLE_NAME", "QuillIdempotencyLedger", tableName, "a table name: 3 to 255 letters, digits, '_', '-', '.'"),
		LedgerRetention: time.Duration(days) * 24 * time.Hour,
		Endpoint:        r.url("DYNAMO_ENDPOINT", "", "http://127.0.0.1:8000"),
		Region:          r.text("DYNAMO_REGION", r.text("AWS_REGION", "eu-north-1", region, "a region such as eu-north-1"), region, "a region such as eu-north-1"),
		QueueURL:        r.url("MESSAGES_QUEUE_URL", "", "https://sqs.eu-north-1.amazonaws.com/123456789012/homeops-messages"),
		TelegramSecret:  r.secret("TELEGRAM_SECRET_TOKEN", secret, "1 to 256 letters, digits, '_' and '-', as setWebhook takes it"),
		TelegramToken:   r.secret("TELEGRAM_BOT_TOKEN", botToken, "a bot token, digits:letters, as BotFather gives it"),
		TelegramAPI:     r.url("TELEGRAM_API_URL", "https://api.telegram.org", "https://api.telegram.org"),
	}
	cfg.Quiet = r.quiet("QUIET_HOURS", "22:00-07:00")
	cfg.AWS, cfg.AWSError = r.credentials()
	r.distinct(cfg)
	if len(r.errs) > 0 {
		return Config{}, errors.Join(r.errs...)
	}
	return cfg, nil
}

func (r *reader) value(name string) string {
	value, _ := r.lookup(name)
	return value
}

func (r *reader) wrong(name, format string, args ...any) {
	r.errs = append(r.errs, fmt.Errorf("%s: "+format, append([]any{name}, args...)...))
}

func (r *reader) text(name, otherwise string, form *regexp.Regexp, want string) string {
	value := r.value(name)
	if value == "" {
		return otherwise
	}
	if !form.MatchString(value) {
		r.wrong(name, "must be %s, is %q", want, value)
	}
	return value
}

// secret never shows the value.
func (r *reader) secret(name string, form *regexp.Regexp, want string) string {
	value := r.value(name)
	if value != "" && !form.MatchString(value) {
		r.wrong(name, "must be %s", want)
	}
	return value
}

// quiet takes hours of the household's day, or "never".
func (r *reader) quiet(name, otherwise string) tzclock.Quiet {
	value := cmp.Or(r.value(name), otherwise)
	if value == "never" {
		return tzclock.Quiet{}
	}
	quiet, err := tzclock.ParseQuiet(value)
	if err != nil {
		r.wrong(name, "must be never, or hours such as %s, is %q", otherwise, value)
	}
	return quiet
}

// The least and the most days of DYNAMO_TTL_DAYS. A message that comes again
// is answered as long as the counter takes its event, which is for
// counter.Retention, seven days, and a skew of clocks of less than one more:
// the ledger must remember for longer that it was answered.
const (
	leastDays = 8
	mostDays  = 3650
)

// days takes whole days.
func (r *reader) days(name string, otherwise int) int {
	value := r.value(name)
	if value == "" {
		return otherwise
	}
	days, err := strconv.Atoi(value)
	if err != nil || days < leastDays || days > mostDays {
		r.wrong(name, "must be a whole number of days from %d to %d, is %q: a message counts for 7 days and the skew of clocks, "+
			"and all that time its answer must be remembered as given", leastDays, mostDays, value)
	}
	return days
}

// url takes the address of a service. A query or a fragment would be dropped on
// the way to it.
func (r *reader) url(name, otherwise, such string) string {
	value := r.value(name)
	if value == "" {
		return otherwise
	}
	u, err := url.Parse(value)
	switch {
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		r.wrong(name, "must be a URL such as %s, is %q", such, value)
	case u.RawQuery != "" || u.ForceQuery || u.Fragment != "" || u.User != nil:
		r.wrong(name, "must be a URL without user, query or fragment, such as %s", such)
	}
	return value
}

// credentials reports whether the environment names AWS credentials, and what
// is wrong with them: a replay, which never uses them, does not mind. A profile
// or a role that only files or the machine know of is not looked for: name it
// with AWS_PROFILE.
func (r *reader) credentials() (named bool, wrong error) {
	if (r.value("AWS_ACCESS_KEY_ID") == "") != (r.value("AWS_SECRET_ACCESS_KEY") == "") {
		return true, errors.New("AWS_ACCESS_KEY_ID: goes with AWS_SECRET_ACCESS_KEY: set both or none")
	}
	return slices.ContainsFunc([]string{
		"AWS_ACCESS_KEY_ID", "AWS_PROFILE", "AWS_WEB_IDENTITY_TOKEN_FILE",
		"AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "AWS_CONTAINER_CREDENTIALS_FULL_URI",
	}, func(name string) bool { return r.value(name) != "" }), nil
}

// distinct refuses one table for two purposes: their keys differ.
func (r *reader) distinct(cfg Config) {
	seen := map[string]string{}
	for _, table := range []struct{ variable, name string }{
		{"MESSAGES_TABLE_NAME", cfg.MessagesTable},
		{"ACTIVITIES_TABLE_NAME", cfg.ActivitiesTable},
		{"RESPONSE_COUNTERS_TABLE_NAME", cfg.CountersTable},
		{"HOMEOPS_TABLE_NAME", cfg.HomeopsTable},
		{"DYNAMO_TABLE_NAME", cfg.LedgerTable},
	} {
		if first, ok := seen[table.name]; ok {
			r.wrong(table.variable, "names the table of %s: %q", first, table.name)
		}
		seen[table.name] = table.variable
	}
}
