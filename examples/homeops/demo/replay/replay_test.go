package replay_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	_ "time/tzdata"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/examples/homeops/app"
	"github.com/homeops/ddbpatterns/examples/homeops/config"
	"github.com/homeops/ddbpatterns/examples/homeops/demo/replay"
	"github.com/homeops/ddbpatterns/examples/homeops/demo/report"
)

const (
	conversation = "../../run/testdata/conversation.jsonl"
	seeds        = "../../run/testdata/seeds.json"
)

// variables are those of the tables.
var variables = []string{
	"MESSAGES_TABLE_NAME", "ACTIVITIES_TABLE_NAME", "RESPONSE_COUNTERS_TABLE_NAME", "HOMEOPS_TABLE_NAME", "DYNAMO_TABLE_NAME",
}

// endpoint is a DynamoDB behind a socket and tables of the test's own: on the
// endpoint in DYNAMODB_ENDPOINT, or else on a server in this process.
type endpoint struct {
	t      *testing.T
	cfg    config.Config
	client *dynamodb.Client
	names  []string
}

func newEndpoint(t *testing.T) *endpoint {
	t.Helper()
	db := dynamotest.Open(t)
	env := map[string]string{"DYNAMO_ENDPOINT": os.Getenv("DYNAMODB_ENDPOINT")}
	if db.InProcess() {
		server := httptest.NewServer(db.Server().Handler())
		t.Cleanup(server.Close)
		env["DYNAMO_ENDPOINT"] = server.URL
	}
	env["DYNAMO_REGION"] = "us-east-1" // where dynamotest looks
	e := &endpoint{t: t, client: db.Client()}
	for i, variable := range variables {
		e.names = append(e.names, db.Name(fmt.Sprint("homeops-", i)))
		env[variable] = e.names[i]
	}
	e.cfg = load(t, env)
	return e
}

func load(t *testing.T, env map[string]string) config.Config {
	t.Helper()
	cfg, err := config.Load(func(name string) (string, bool) { value, ok := env[name]; return value, ok })
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

func read(t *testing.T, file string) []byte {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func options(t *testing.T, cfg config.Config, updates []byte) replay.Options {
	t.Helper()
	var phrases app.Seeds
	if err := json.Unmarshal(read(t, seeds), &phrases); err != nil {
		t.Fatal(err)
	}
	return replay.Options{
		Config: cfg, Updates: bytes.NewReader(updates), Seeds: phrases, Log: slog.New(slog.DiscardHandler),
		Present: time.Date(2026, 4, 9, 0, 0, 0, 0, time.UTC),
	}
}

func run(t *testing.T, cfg config.Config, updates []byte) report.Facts {
	t.Helper()
	facts, err := replay.Run(t.Context(), options(t, cfg, updates))
	if err != nil {
		t.Fatal(err)
	}
	return facts
}

// nonce matches what differs between two runs by chance: the nonces of the
// counters' entries and of the ledger's claims.
var nonce = regexp.MustCompile(`("~|~)[A-Za-z0-9_-]{11}"|("claim":\{"Value":)"[^"]*"`)

// rows reads all tables.
func (e *endpoint) rows() []string {
	e.t.Helper()
	var rows []string
	for i, name := range e.names {
		pages := dynamodb.NewScanPaginator(e.client, &dynamodb.ScanInput{TableName: aws.String(name)})
		for pages.HasMorePages() {
			page, err := pages.NextPage(e.t.Context())
			if err != nil {
				e.t.Fatal(err)
			}
			for _, item := range page.Items {
				text, err := json.Marshal(item)
				if err != nil {
					e.t.Fatal(err)
				}
				rows = append(rows, variables[i]+" "+nonce.ReplaceAllString(string(text), `$1$2"nonce"`))
			}
		}
	}
	slices.Sort(rows)
	return rows
}

// A real endpoint gives the same report as the one in this process, except for
// names, and for units if it does not report them.
func TestEndpointEqualsEmbedded(t *testing.T) {
	t.Parallel()
	text := read(t, conversation)
	e := newEndpoint(t)
	embedded, real := run(t, load(t, nil), text), run(t, e.cfg, text)
	write := func(f report.Facts) string {
		var b strings.Builder
		f.Where = "DynamoDB"
		for i := range f.Stored.Tables {
			f.Stored.Tables[i].Name = variables[i]
		}
		f.Tally.Costs = report.Costs{}
		if err := report.Write(&b, f); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	if diff := cmp.Diff(requests(embedded), requests(real)); diff != "" {
		t.Errorf("requests by kind:\n%s", diff)
	}
	if diff := cmp.Diff(write(embedded), write(real)); diff != "" {
		t.Error(diff)
	}
	for _, name := range e.names {
		out, err := e.client.DescribeTimeToLive(t.Context(), &dynamodb.DescribeTimeToLiveInput{TableName: aws.String(name)})
		if err != nil {
			t.Fatal(err)
		}
		if d := out.TimeToLiveDescription; d != nil && d.TimeToLiveStatus == types.TimeToLiveStatusEnabled {
			t.Errorf("TTL is on for %s", name)
		}
	}
	deliveredTwice(t, text, e.rows(), real)
}

// Telegram and the queue deliver twice: every update comes twice in a row, and
// the tables are those of the undisturbed run.
func deliveredTwice(t *testing.T, text []byte, rows []string, once report.Facts) {
	t.Helper()
	var twice bytes.Buffer
	for line := range bytes.Lines(text) {
		twice.Write(line)
		twice.Write(line)
	}
	e := newEndpoint(t)
	again := run(t, e.cfg, twice.Bytes())
	if diff := cmp.Diff(rows, e.rows()); diff != "" {
		t.Error(diff)
	}
	if once.Tally.Sent != again.Tally.Sent || again.Tally.Updates != 2*once.Tally.Updates {
		t.Errorf("sent %d for %d updates, and %d for %d", once.Tally.Sent, once.Tally.Updates, again.Tally.Sent, again.Tally.Updates)
	}
}

// requests are how many deliveries of a kind sent, in all and at most.
func requests(f report.Facts) map[string][2]int {
	all := map[string][2]int{}
	for kind, cost := range f.Tally.Costs.ByKind {
		all[kind] = [2]int{cost.All.Requests, cost.Most.Requests}
	}
	return all
}

// With TTL on, DynamoDB would delete rows that are old by its own clock.
func TestRefusesTablesWithTTL(t *testing.T) {
	t.Parallel()
	e := newEndpoint(t)
	run(t, e.cfg, nil) // creates the tables and seeds phrases
	before := e.rows()
	ledger := e.names[len(e.names)-1]
	_, err := e.client.UpdateTimeToLive(t.Context(), &dynamodb.UpdateTimeToLiveInput{
		TableName:               aws.String(ledger),
		TimeToLiveSpecification: &types.TimeToLiveSpecification{AttributeName: aws.String("expiresAt"), Enabled: aws.Bool(true)},
	})
	if err != nil {
		t.Fatal(err)
	}
	_, err = replay.Run(t.Context(), options(t, e.cfg, read(t, conversation)))
	expiring, ok := errors.AsType[*replay.ExpiringError](err)
	if !ok || !slices.Equal(expiring.Tables, []string{ledger}) || !strings.Contains(err.Error(), ledger) {
		t.Errorf("got %v", err)
	}
	if diff := cmp.Diff(before, e.rows()); diff != "" {
		t.Errorf("wrote all the same:\n%s", diff)
	}
}

type reader func([]byte) (int, error)

func (r reader) Read(p []byte) (int, error) { return r(p) }

func TestEndsWithTheContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	o := options(t, load(t, nil), nil)
	text := bytes.NewReader(read(t, conversation))
	o.Updates = io.MultiReader(io.LimitReader(text, 1<<16), reader(func(p []byte) (int, error) { cancel(); return text.Read(p) }))
	if _, err := replay.Run(ctx, o); ctx.Err() == nil || err == nil || !strings.Contains(err.Error(), context.Canceled.Error()) {
		t.Errorf("got %v", err)
	}
}
