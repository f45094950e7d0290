package coldstart_test

import (
	"log/slog"
	"strings"
	"testing"

	"github.com/homeops/ddbpatterns/examples/homeops/aws/coldstart"
)

// All errors of the environment are reported together, before any request.
func TestOpenRefusesTheEnvironment(t *testing.T) {
	t.Parallel()
	const url = "https://sqs.eu-north-1.amazonaws.com/123456789012/homeops-messages"
	for name, tc := range map[string]struct {
		env  map[string]string
		want []string
	}{
		"empty": {nil, []string{
			"TELEGRAM_BOT_TOKEN_PARAMETER: must be set", "MESSAGES_QUEUE_URL: must be set", "DYNAMO_ENDPOINT: must be set",
		}},
		"secrets in it": {map[string]string{
			"AWS_PROFILE": "x", "MESSAGES_QUEUE_URL": url, "TELEGRAM_BOT_TOKEN_PARAMETER": "/token",
			"TELEGRAM_SECRET_TOKEN": "s3cret", "TELEGRAM_BOT_TOKEN": "42:s3cret",
		}, []string{
			"TELEGRAM_SECRET_TOKEN: must not be set", "set TELEGRAM_SECRET_TOKEN_PARAMETER to",
			"TELEGRAM_BOT_TOKEN: must not be set", "set TELEGRAM_BOT_TOKEN_PARAMETER to",
		}},
		"half a key": {map[string]string{
			"AWS_ACCESS_KEY_ID": "AKIA", "MESSAGES_QUEUE_URL": url, "TELEGRAM_BOT_TOKEN_PARAMETER": "/token",
		}, []string{"AWS_ACCESS_KEY_ID: must be set together with"}},
		"a model": {map[string]string{
			"AWS_PROFILE": "x", "MESSAGES_QUEUE_URL": url, "TELEGRAM_BOT_TOKEN_PARAMETER": "/token",
			"CLASSIFIER": "openai", "OPENAI_MODEL": "m", "OPENAI_API_KEY": "s3cret",
		}, []string{"CLASSIFIER: must be words, because a function has only the vocabulary"}},
		"wrong for every program": {map[string]string{"DYNAMO_TTL_DAYS": "0"}, []string{"DYNAMO_TTL_DAYS: must be"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			lookup := func(name string) (string, bool) { value, ok := tc.env[name]; return value, ok }
			_, err := coldstart.Open(t.Context(), lookup, coldstart.BotToken, slog.New(slog.DiscardHandler))
			if err == nil || strings.Contains(err.Error(), "s3cret") {
				t.Fatal(err)
			}
			for _, want := range tc.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%q is not in:\n%v", want, err)
				}
			}
			if got := len(strings.Split(err.Error(), "\n")); name != "secrets in it" && got != len(tc.want) {
				t.Errorf("%d errors:\n%v", got, err)
			}
		})
	}
}
