// Package config reads the example's configuration from the environment. No
// other package does.
package config

import (
	"cmp"
	"errors"
	"regexp"
	"strings"
	"time"

	"github.com/homeops/ddbpatterns/examples/internal/database"
	"github.com/homeops/ddbpatterns/examples/internal/env"
	"github.com/homeops/ddbpatterns/tzclock"
)

// Config is what a deployment decides. Times of day are in the household's
// zone.
type Config struct {
	MessagesTable   string // MESSAGES_TABLE_NAME
	ActivitiesTable string // ACTIVITIES_TABLE_NAME
	CountersTable   string // RESPONSE_COUNTERS_TABLE_NAME
	HomeopsTable    string // HOMEOPS_TABLE_NAME: all other records

	MessagesRetention time.Duration // MESSAGES_TTL_DAYS; 0 keeps them for ever

	LedgerTable     string        // DYNAMO_TABLE_NAME
	LedgerRetention time.Duration // DYNAMO_TTL_DAYS

	database.Settings // DYNAMO_ENDPOINT, DYNAMO_REGION, AWS credentials

	QueueURL string // MESSAGES_QUEUE_URL, of SQS; "" for a queue in the process

	TelegramSecret string // TELEGRAM_SECRET_TOKEN, asked for by -serve
	TelegramToken  string // TELEGRAM_BOT_TOKEN; "" writes replies to the console
	TelegramAPI    string // TELEGRAM_API_URL

	Classifier    string // CLASSIFIER: [Words] or [OpenAI]
	OpenAIBaseURL string // OPENAI_BASE_URL
	OpenAIKey     string // OPENAI_API_KEY
	OpenAIModel   string // OPENAI_MODEL
	OpenAITokens  int    // OPENAI_TOKENS_A_DAY, of all chats together

	StatusToken string // STATUS_TOKEN, of the status page; "" disables it

	Quiet tzclock.Quiet // QUIET_HOURS, in which the bot says nothing
}

// ForService reports what a service needs in addition: a secret, and valid AWS
// settings if the service works on AWS.
func (c Config) ForService() error {
	var errs []error
	if c.TelegramSecret == "" {
		errs = append(errs, errors.New("TELEGRAM_SECRET_TOKEN: must be set to the secret that setWebhook was given: without it anybody could post updates"))
	}
	if (c.Endpoint == "" || c.QueueURL != "") && c.AWSError != nil {
		errs = append(errs, c.AWSError)
	}
	if c.QueueURL != "" && c.Embedded() {
		errs = append(errs, errors.New("MESSAGES_QUEUE_URL: needs tables that outlast the process: also set DYNAMO_ENDPOINT or AWS credentials"))
	}
	return errors.Join(errs...)
}

// Telegram's own rules, from the Bot API and the form of its tokens.
var (
	secret   = env.Form{Pattern: regexp.MustCompile(`^[A-Za-z0-9_-]{1,256}$`), Want: "1 to 256 letters, digits, '_' and '-', as setWebhook takes it"}
	status   = env.Form{Pattern: regexp.MustCompile(`^[!-~]{16,256}$`), Want: "16 to 256 letters, digits and signs of ASCII, without spaces, made at random, such as by openssl rand -hex 16"}
	botToken = env.Form{Pattern: regexp.MustCompile(`^[0-9]+:[A-Za-z0-9_-]+$`), Want: "a bot token, digits:letters, as BotFather gives it"}
)

// The classifiers: the vocabulary, and a model behind an API such as OpenAI's.
const (
	Words  = "words"
	OpenAI = "openai"

	openAI = "https://api.openai.com/v1"
)

var (
	classifier = env.Form{Pattern: regexp.MustCompile(`^(` + Words + `|` + OpenAI + `)$`), Want: Words + " or " + OpenAI}
	apiKey     = env.Form{Pattern: regexp.MustCompile(`^[!-~]{1,512}$`), Want: "1 to 512 letters, digits and signs of ASCII, without spaces"}
	modelName  = env.Form{Pattern: regexp.MustCompile(`^[!-~]{1,128}$`), Want: "the name of a model: 1 to 128 letters, digits and signs of ASCII, without spaces"}
)

// The least and the most days of DYNAMO_TTL_DAYS. A message that comes again is
// answered as long as the counter takes its event. That is for
// counter.Retention, seven days, and a skew of clocks of less than one more
// day. The ledger must remember for longer that the message was answered.
const (
	leastDays = 8
	mostDays  = 3650
	whyDays   = "a message counts for 7 days plus the skew of clocks, and all that time the ledger must remember that it was answered"
)

// The least days of MESSAGES_TTL_DAYS. A message that is older than the retention
// is no longer saved.
const (
	leastKept = 15
	whyKept   = "dead letters wait for 14 days, and all that time they may be sent again"
)

// The least of OPENAI_TOKENS_A_DAY is more than a usual question holds.
const (
	leastTokens = 20_000
	mostTokens  = 1_000_000_000
	whyTokens   = "a question holds some 8,000 until it is answered; for none, set CLASSIFIER to words"
)

// Load reads the environment through lookup, which is os.LookupEnv. The error
// names every variable whose value is wrong. A variable that is set but empty
// counts as not set, as in a compose file.
func Load(lookup func(string) (string, bool)) (Config, error) {
	r := env.NewReader(lookup)
	cfg := Config{
		MessagesTable:     r.Text("MESSAGES_TABLE_NAME", "homeops-messages", env.TableName),
		ActivitiesTable:   r.Text("ACTIVITIES_TABLE_NAME", "homeops-activities", env.TableName),
		CountersTable:     r.Text("RESPONSE_COUNTERS_TABLE_NAME", "homeops-response-counters", env.TableName),
		HomeopsTable:      r.Text("HOMEOPS_TABLE_NAME", "homeops", env.TableName),
		LedgerTable:       r.Text("DYNAMO_TABLE_NAME", "QuillIdempotencyLedger", env.TableName),
		LedgerRetention:   r.Days("DYNAMO_TTL_DAYS", 14, leastDays, mostDays, whyDays),
		MessagesRetention: r.Days("MESSAGES_TTL_DAYS", 0, leastKept, mostDays, whyKept),
		Settings:          database.FromEnv(r, "eu-north-1"),
		QueueURL:          r.URL("MESSAGES_QUEUE_URL", "", "https://sqs.eu-north-1.amazonaws.com/123456789012/homeops-messages"),
		TelegramSecret:    r.Secret("TELEGRAM_SECRET_TOKEN", secret),
		TelegramToken:     r.Secret("TELEGRAM_BOT_TOKEN", botToken),
		TelegramAPI:       r.URL("TELEGRAM_API_URL", "https://api.telegram.org", "https://api.telegram.org"),
		StatusToken:       r.Secret("STATUS_TOKEN", status),
		Classifier:        r.Text("CLASSIFIER", Words, classifier),
		OpenAIBaseURL:     r.URL("OPENAI_BASE_URL", openAI, openAI),
		OpenAIKey:         r.Secret("OPENAI_API_KEY", apiKey),
		OpenAIModel:       r.Text("OPENAI_MODEL", "", modelName),
		OpenAITokens:      r.Number("OPENAI_TOKENS_A_DAY", "tokens", 1_000_000, leastTokens, mostTokens, whyTokens),
		Quiet:             quiet(r, "QUIET_HOURS", "22:00-07:00"),
	}
	r.Distinct(
		env.Table{Variable: "MESSAGES_TABLE_NAME", Name: cfg.MessagesTable},
		env.Table{Variable: "ACTIVITIES_TABLE_NAME", Name: cfg.ActivitiesTable},
		env.Table{Variable: "RESPONSE_COUNTERS_TABLE_NAME", Name: cfg.CountersTable},
		env.Table{Variable: "HOMEOPS_TABLE_NAME", Name: cfg.HomeopsTable},
		env.Table{Variable: "DYNAMO_TABLE_NAME", Name: cfg.LedgerTable},
	)
	if cfg.Classifier == OpenAI && cfg.OpenAIModel == "" {
		r.Wrong("OPENAI_MODEL", "must be set if CLASSIFIER is openai: no model is assumed")
	}
	if cfg.Classifier == OpenAI && strings.TrimRight(cfg.OpenAIBaseURL, "/") == openAI && r.Value("OPENAI_API_KEY") == "" {
		r.Wrong("OPENAI_API_KEY", "must be set for %s; a server of your own may not need it", openAI)
	}
	if err := r.Err(); err != nil {
		return Config{}, err
	}
	return cfg, nil
}

// quiet takes hours of the household's day, or "never".
func quiet(r *env.Reader, name, otherwise string) tzclock.Quiet {
	value := cmp.Or(r.Value(name), otherwise)
	if value == "never" {
		return tzclock.Quiet{}
	}
	quiet, err := tzclock.ParseQuiet(value)
	if err != nil {
		r.Wrong(name, "must be never, or hours such as %s, is %q", otherwise, value)
	}
	return quiet
}
