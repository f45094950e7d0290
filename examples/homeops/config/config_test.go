package config_test

import (
	"strings"
	"testing"
	"time"

	"github.com/homeops/ddbpatterns/counter"
	"github.com/homeops/ddbpatterns/examples/homeops/config"
	"github.com/homeops/ddbpatterns/examples/internal/database"
	"github.com/homeops/ddbpatterns/tzclock"
)

func lookup(env map[string]string) func(string) (string, bool) {
	return func(name string) (string, bool) { value, ok := env[name]; return value, ok }
}

func TestDefaults(t *testing.T) {
	t.Parallel()
	got, err := config.Load(lookup(map[string]string{"DYNAMO_TTL_DAYS": ""}))
	want := config.Config{
		MessagesTable: "homeops-messages", ActivitiesTable: "homeops-activities",
		CountersTable: "homeops-response-counters", HomeopsTable: "homeops",
		LedgerTable: "QuillIdempotencyLedger", LedgerRetention: 14 * 24 * time.Hour, Settings: database.Settings{Region: "eu-north-1"},
		TelegramAPI: "https://api.telegram.org",
		Classifier:  "words", OpenAIBaseURL: "https://api.openai.com/v1", OpenAITokens: 1_000_000,
		Quiet: tzclock.Quiet{From: tzclock.TimeOfDay{Hour: 22}, To: tzclock.TimeOfDay{Hour: 7}},
	}
	if err != nil || got != want {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestEveryVariable(t *testing.T) {
	t.Parallel()
	got, err := config.Load(lookup(map[string]string{
		"MESSAGES_TABLE_NAME": "m-1", "ACTIVITIES_TABLE_NAME": "a-1", "RESPONSE_COUNTERS_TABLE_NAME": "c-1",
		"HOMEOPS_TABLE_NAME": "h-1", "DYNAMO_TABLE_NAME": "l-1", "DYNAMO_TTL_DAYS": "30",
		"DYNAMO_ENDPOINT": "http://127.0.0.1:8000", "DYNAMO_REGION": "us-west-2",
		"TELEGRAM_SECRET_TOKEN": "abc_DEF-1", "TELEGRAM_BOT_TOKEN": "123:abc",
		"TELEGRAM_API_URL": "http://127.0.0.1:8081", "MESSAGES_QUEUE_URL": "http://127.0.0.1:9324/000000000000/messages",
		"QUIET_HOURS": "never", "MESSAGES_TTL_DAYS": "90", "STATUS_TOKEN": "0123456789abcde!",
		"CLASSIFIER": "openai", "OPENAI_BASE_URL": "http://127.0.0.1:11434/v1", "OPENAI_API_KEY": "sk-1", "OPENAI_MODEL": "org/small:8b",
		"OPENAI_TOKENS_A_DAY": "20000",
	}))
	want := config.Config{
		MessagesRetention: 90 * 24 * time.Hour,
		Classifier:        "openai", OpenAIBaseURL: "http://127.0.0.1:11434/v1", OpenAIKey: "sk-1", OpenAIModel: "org/small:8b", OpenAITokens: 20_000,
		StatusToken: "0123456789abcde!", MessagesTable: "m-1", ActivitiesTable: "a-1", CountersTable: "c-1", HomeopsTable: "h-1", LedgerTable: "l-1",
		LedgerRetention: 30 * 24 * time.Hour, Settings: database.Settings{Endpoint: "http://127.0.0.1:8000", Region: "us-west-2"},
		TelegramSecret: "abc_DEF-1", TelegramToken: "123:abc",
		TelegramAPI: "http://127.0.0.1:8081", QueueURL: "http://127.0.0.1:9324/000000000000/messages",
	}
	if err != nil || got != want {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestWrongValuesAreAllNamed(t *testing.T) {
	t.Parallel()
	env := map[string]string{
		"MESSAGES_TABLE_NAME": "m", "ACTIVITIES_TABLE_NAME": "å å å", "RESPONSE_COUNTERS_TABLE_NAME": "c/1",
		"HOMEOPS_TABLE_NAME": "same", "DYNAMO_TABLE_NAME": "same", "DYNAMO_TTL_DAYS": "0",
		"DYNAMO_ENDPOINT": "127.0.0.1:8000", "DYNAMO_REGION": "Stockholm",
		"QUIET_HOURS":           "22:00-22:00",
		"MESSAGES_TTL_DAYS":     "14",
		"TELEGRAM_SECRET_TOKEN": "with space", "TELEGRAM_BOT_TOKEN": "hunter2",
		"STATUS_TOKEN": "fifteen-of-them",
		"CLASSIFIER":   "guess", "OPENAI_BASE_URL": "api.openai.com", "OPENAI_API_KEY": "sk 17", "OPENAI_MODEL": "a model", "OPENAI_TOKENS_A_DAY": "0",
	}
	_, err := config.Load(lookup(env))
	if err == nil {
		t.Fatal("accepted")
	}
	for name := range env {
		if name != "HOMEOPS_TABLE_NAME" && !strings.Contains(err.Error(), name+":") {
			t.Errorf("%s is not named", name)
		}
	}
	if !strings.Contains(err.Error(), ", which is the table of HOMEOPS_TABLE_NAME") {
		t.Error("one table for two purposes is not named")
	}
	for _, value := range []string{"with space", "hunter2", "fifteen-of-them", "sk 17"} {
		if strings.Contains(err.Error(), value) {
			t.Errorf("the error shows a secret: %v", err)
		}
	}
	for _, url := range []string{"127.0.0.1:8000", "ftp://h", "http://h?x=1", "http://h?", "http://h#x", "http://u:p@h"} {
		for _, name := range []string{"DYNAMO_ENDPOINT", "TELEGRAM_API_URL", "MESSAGES_QUEUE_URL", "OPENAI_BASE_URL"} {
			if _, err := config.Load(lookup(map[string]string{name: url})); err == nil || !strings.Contains(err.Error(), name+":") {
				t.Errorf("%s=%s: %v", name, url, err)
			}
		}
	}
	for _, days := range []string{"7", "8.5", "3651"} {
		if _, err := config.Load(lookup(map[string]string{"DYNAMO_TTL_DAYS": days})); err == nil {
			t.Errorf("DYNAMO_TTL_DAYS=%s is accepted", days)
		}
	}
	for _, days := range []string{"8", "3650"} {
		if _, err := config.Load(lookup(map[string]string{"DYNAMO_TTL_DAYS": days})); err != nil {
			t.Error(err)
		}
	}
	// The least lasts longer than the counter takes an event, even if clocks
	// differ by most of a day, and the error gives the reason.
	if least := 8 * 24 * time.Hour; least <= counter.Retention {
		t.Errorf("an answer is forgotten after %v, its message counts for %v", least, counter.Retention)
	}
	if _, err := config.Load(lookup(map[string]string{"DYNAMO_TTL_DAYS": "7"})); err == nil || !strings.Contains(err.Error(), "a message counts for 7 days") {
		t.Errorf("the reason is not told: %v", err)
	}
}

// Half a key stops a service that would use it, and nothing else.
func TestHalfAKey(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		env   map[string]string
		wrong bool
	}{
		"an id":                 {map[string]string{"AWS_ACCESS_KEY_ID": "AKIA"}, true},
		"an id and an endpoint": {map[string]string{"AWS_ACCESS_KEY_ID": "AKIA", "DYNAMO_ENDPOINT": "http://127.0.0.1:8000"}, false},
		"an id and a queue": {map[string]string{
			"AWS_ACCESS_KEY_ID": "AKIA", "DYNAMO_ENDPOINT": "http://127.0.0.1:8000", "MESSAGES_QUEUE_URL": "https://sqs.eu-north-1.amazonaws.com/1/q",
		}, true},
		"a whole key": {map[string]string{"AWS_ACCESS_KEY_ID": "AKIA", "AWS_SECRET_ACCESS_KEY": "x"}, false},
	} {
		tc.env["TELEGRAM_SECRET_TOKEN"] = "s"
		got, err := config.Load(lookup(tc.env))
		if err != nil || !got.AWS {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
		err = got.ForService()
		if (err != nil) != tc.wrong || tc.wrong && !strings.Contains(err.Error(), "AWS_ACCESS_KEY_ID:") {
			t.Errorf("%s, for a service: %v", name, err)
		}
	}
}

// A model must be named, and OpenAI's own API needs a key; another server may need
// none.
func TestAModelIsNamed(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		url, key, model string
		wrong           []string
	}{
		{"", "", "", []string{"OPENAI_API_KEY:", "OPENAI_MODEL:"}},
		{"", "sk-1", "", []string{"OPENAI_MODEL:"}},
		{"", "", "m", []string{"OPENAI_API_KEY:"}},
		{"https://api.openai.com/v1/", "", "m", []string{"OPENAI_API_KEY:"}},
		{"", "sk-1", "m", nil},
		{"http://127.0.0.1:11434/v1", "", "m", nil},
	} {
		env := map[string]string{"CLASSIFIER": "openai", "OPENAI_BASE_URL": tc.url, "OPENAI_API_KEY": tc.key, "OPENAI_MODEL": tc.model}
		_, err := config.Load(lookup(env))
		if (err != nil) != (tc.wrong != nil) {
			t.Errorf("%v: %v", env, err)
		}
		for _, name := range tc.wrong {
			if err == nil || !strings.Contains(err.Error(), name) {
				t.Errorf("%v: %s is not named: %v", env, name, err)
			}
		}
	}
}
