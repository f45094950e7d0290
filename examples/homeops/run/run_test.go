package run

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write testdata/report.golden")

// process is a program run to its end.
type process struct {
	exit     int
	out, err string
}

func run(t *testing.T, env map[string]string, in string, args ...string) process {
	t.Helper()
	var out, err bytes.Buffer
	exit := Program{
		Args: args, In: strings.NewReader(in), Out: &out, Err: &err,
		Env: func(name string) (string, bool) { value, ok := env[name]; return value, ok },
	}.Run(t.Context())
	return process{exit, out.String(), err.String()}
}

// The report of the bundled conversation, to the byte.
func TestReport(t *testing.T) {
	t.Parallel()
	const golden = "testdata/report.golden"
	got := run(t, nil, "")
	if got.exit != exitOK || got.err != "" {
		t.Fatalf("exit %d: %s", got.exit, got.err)
	}
	if *update {
		if err := os.WriteFile(golden, []byte(got.out), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got.out); diff != "" {
		t.Errorf("the report changed (-update writes it anew):\n%s", diff)
	}
}

// A replay does not use the AWS settings of the environment.
func TestReplayKeepsOffAWS(t *testing.T) {
	t.Parallel()
	for _, env := range []map[string]string{
		{"AWS_ACCESS_KEY_ID": "AKIA", "AWS_SECRET_ACCESS_KEY": "x"},
		{"AWS_ACCESS_KEY_ID": "AKIA"}, // would stop a service
	} {
		got := run(t, env, `{"update_id":1,"message":{"message_id":1,"date":1773073860,"chat":{"id":-5}}}`, "-updates", "-")
		if got.exit != exitOK || !strings.Contains(got.out, "on DynamoDB inside this process") {
			t.Errorf("%v: exit %d: %s%s", env, got.exit, got.out, got.err)
		}
	}
}

func TestOwnUpdates(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	updates, seeds := filepath.Join(dir, "updates.jsonl"), filepath.Join(dir, "seeds.json")
	const text = `
{"update_id":1,"message":{"message_id":1,"date":1773140000,"from":{"id":7,"is_bot":false,"first_name":"Eva"},"chat":{"id":-5,"type":"group"},"text":"Fixat grejen"}}

no JSON
{"update_id":2,"message":{"message_id":2,"date":1773140400,"from":{"id":7,"is_bot":false,"first_name":"Eva"},"chat":{"id":-5,"type":"group"},"text":"Vem gjorde diskning senast?"}}`
	for name, text := range map[string]string{updates: text, seeds: `{"-5":{"fixat grejen":"diskning"}}`} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got := run(t, nil, "", "-updates", updates, "-seeds", seeds)
	for _, want := range []string{
		"3 updates, Tue 2026-03-10 11:53 to Tue 2026-03-10 12:00, on DynamoDB inside this process\n",
		"    2  enqueued\n", "    1  refused\n", "body: no JSON\n", "diskning: Eva, 2026-03-10 11:53\n",
	} {
		if !strings.Contains(got.out, want) {
			t.Errorf("%q is not in the report", want)
		}
	}
	if got.exit != exitOK || t.Failed() {
		t.Errorf("exit %d: %s%s", got.exit, got.out, got.err)
	}
	if got := run(t, nil, "", "-updates", "-"); got != (process{out: "No updates.\n"}) {
		t.Errorf("nothing: %+v", got)
	}
}

func TestRefusesToStart(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		env  map[string]string
		args []string
		exit int
		want []string
	}{
		"wrong variables":       {map[string]string{"DYNAMO_TTL_DAYS": "0", "HOMEOPS_TABLE_NAME": "x"}, nil, exitUsage, []string{"DYNAMO_TTL_DAYS:", "HOMEOPS_TABLE_NAME:"}},
		"no secret":             {nil, []string{"-serve", "127.0.0.1:0"}, exitUsage, []string{"TELEGRAM_SECRET_TOKEN:"}},
		"half a key":            {map[string]string{"TELEGRAM_SECRET_TOKEN": "s", "AWS_SECRET_ACCESS_KEY": "x"}, []string{"-serve", "127.0.0.1:0"}, exitUsage, []string{"AWS_ACCESS_KEY_ID:"}},
		"a model elsewhere":     {map[string]string{"CLASSIFIER": "openai", "OPENAI_MODEL": "m", "OPENAI_API_KEY": "k"}, nil, exitUsage, []string{"CLASSIFIER:", "-C examples/homeops ./aws/cmd/homeops"}},
		"a queue elsewhere":     {map[string]string{"MESSAGES_QUEUE_URL": "http://127.0.0.1:9324/1/q"}, nil, exitUsage, []string{"MESSAGES_QUEUE_URL:", "-C examples/homeops ./aws/cmd/homeops"}},
		"both modes":            {nil, []string{"-serve", ":0", "-updates", "x"}, exitUsage, []string{"-serve"}},
		"an unknown flag":       {nil, []string{"-x"}, exitUsage, []string{"-x"}},
		"nobody to work":        {map[string]string{"TELEGRAM_SECRET_TOKEN": "s"}, []string{"-serve", "127.0.0.1:0", "-pollers", "0"}, exitFailed, []string{"-pollers 0"}},
		"less than nobody":      {nil, []string{"-pollers", "-1"}, exitUsage, []string{"-pollers"}},
		"an argument":           {nil, []string{"updates.jsonl"}, exitUsage, []string{`"updates.jsonl"`}},
		"a page of a service":   {map[string]string{"TELEGRAM_SECRET_TOKEN": "s"}, []string{"-serve", ":0", "-page", "x"}, exitUsage, []string{"-page", "STATUS_TOKEN"}},
		"an unknown log":        {nil, []string{"-log", "xml"}, exitUsage, []string{"-log"}},
		"help":                  {nil, []string{"-h"}, exitOK, []string{"-updates", "user 6000000000", "never goes back"}},
		"no such file":          {nil, []string{"-updates", "testdata/none"}, exitFailed, []string{"testdata/none"}},
		"no such seeds":         {nil, []string{"-seeds", "testdata/none"}, exitFailed, []string{"testdata/none"}},
		"seeds of another form": {nil, []string{"-seeds", "testdata/conversation.jsonl"}, exitFailed, []string{"chat id → phrase → activity"}},
		"nobody there":          {map[string]string{"DYNAMO_ENDPOINT": "http://127.0.0.1:1"}, nil, exitFailed, []string{"homeops-messages"}},
		"an address in use":     {map[string]string{"TELEGRAM_SECRET_TOKEN": "s"}, []string{"-serve", "nowhere"}, exitFailed, []string{"nowhere"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { // the SDK asks three times, and waits in between
				got := run(t, tc.env, "", tc.args...)
				if got.exit != tc.exit || got.out != "" {
					t.Errorf("exit %d, want %d\n%s", got.exit, tc.exit, got.out)
				}
				for _, want := range tc.want {
					if !strings.Contains(got.err, want) {
						t.Errorf("the error does not name %s: %s", want, got.err)
					}
				}
			})
		})
	}
}
