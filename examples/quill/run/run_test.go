package run

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/examples/quill/config"
	"github.com/homeops/ddbpatterns/examples/quill/fact"
	"github.com/homeops/ddbpatterns/examples/quill/outbox"
	"github.com/homeops/ddbpatterns/examples/quill/powerbi"
	"github.com/homeops/ddbpatterns/examples/quill/powerbi/powerbitest"
)

func environment(env map[string]string) func(string) (string, bool) {
	return func(name string) (string, bool) { value, ok := env[name]; return value, ok }
}

// called runs a command to its end.
func called(t *testing.T, p Program, args ...string) (exit int, out, said string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	p.Args, p.Out, p.Err = args, &stdout, &stderr
	if p.Env == nil {
		p.Env = environment(nil)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	exit = p.Run(ctx)
	return exit, stdout.String(), stderr.String()
}

// Errors of the command line and the environment are reported before anything
// begins.
func TestWrongUse(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		args []string
		env  map[string]string
		want string
	}{
		"an unknown command":     {[]string{"fact"}, nil, `unexpected argument "fact"`},
		"no key":                 {[]string{"facts"}, nil, "usage: quill facts KEY…"},
		"an argument":            {[]string{"refused", "5"}, nil, "usage: quill refused [-limit N] [-again]"},
		"no refusals":            {[]string{"refused", "-limit", "0"}, nil, "-limit must be positive, is 0"},
		"two names":              {[]string{"create-dataset", "a", "b"}, nil, "usage: quill create-dataset [NAME]"},
		"a template's name":      {[]string{"template", "a"}, nil, "usage: quill template"},
		"a sink and no service":  {[]string{"-sink", "f"}, nil, "-sink can only be used with -serve"},
		"prices for a service":   {[]string{"-serve", ":0", "-prices", "f"}, nil, "-prices is for the report"},
		"another log":            {[]string{"-log", "xml"}, nil, `-log must be text or json, is "xml"`},
		"another flag":           {[]string{"-port", "1"}, nil, "flag provided but not defined: -port"},
		"a wrong variable":       {nil, map[string]string{"CUTOVER_AT": "soon"}, "CUTOVER_AT: must be a time"},
		"a service for nobody":   {[]string{"-serve", ":0"}, nil, "HUBSPOT_CLIENT_SECRET: at least one of them must be set"},
		"no dataset to be made":  {[]string{"create-dataset"}, nil, "POWERBI_TENANT_ID"},
		"facts of nowhere":       {[]string{"facts", "K"}, nil, "set DYNAMO_ENDPOINT or AWS credentials"},
		"refusals of nowhere":    {[]string{"refused"}, nil, "set DYNAMO_ENDPOINT or AWS credentials"},
		"half a key":             {[]string{"facts", "K"}, map[string]string{"AWS_ACCESS_KEY_ID": "AKIA"}, "AWS_ACCESS_KEY_ID: must be set together with"},
		"a file beside Power BI": {[]string{"-serve", ":0", "-sink", "f"}, dataset(), "-sink and POWERBI_TENANT_ID exclude each other"},
	} {
		exit, out, said := called(t, Program{Env: environment(tc.env)}, tc.args...)
		if exit != exitUsage || out != "" || !strings.Contains(said, tc.want) {
			t.Errorf("%s: exit %d, %q, %q", name, exit, out, said)
		}
	}
	if exit, _, said := called(t, Program{}, "-h"); exit != exitOK || !strings.Contains(said, "quill create-dataset") {
		t.Errorf("help: exit %d, %q", exit, said)
	}
}

// dataset is the environment for a dataset that powerbitest imitates.
func dataset() map[string]string {
	return map[string]string{
		"POWERBI_TENANT_ID": powerbitest.Tenant, "POWERBI_CLIENT_ID": powerbitest.ID, "POWERBI_CLIENT_SECRET": powerbitest.Secret,
		"POWERBI_WORKSPACE_ID": powerbitest.Workspace, "POWERBI_DATASET_ID": powerbitest.Dataset,
	}
}

// playedBy makes clients of the server.
func playedBy(s *powerbitest.Server) func(config.PowerBI) *powerbi.Client {
	return func(c config.PowerBI) *powerbi.Client {
		client := Program{}.client(c)
		client.BaseURL, client.LoginURL, client.HTTP = "https://played.example", "https://played.example", &http.Client{Transport: s}
		return client
	}
}

func TestCreateDataset(t *testing.T) {
	t.Parallel()
	env := dataset()
	delete(env, "POWERBI_DATASET_ID")
	server := powerbitest.New(powerbitest.Config{})
	p := Program{Env: environment(env), PowerBI: playedBy(server)}
	exit, out, said := called(t, p, "create-dataset", "Calls")
	if exit != exitOK || len(strings.TrimSpace(out)) != len(powerbitest.Dataset) || said != "" {
		t.Fatalf("exit %d, %q, %q", exit, out, said)
	}
	env["POWERBI_DATASET_ID"] = strings.TrimSpace(out)
	if _, err := config.Load(environment(env)); err != nil {
		t.Errorf("the id that is printed is not one that is taken: %v", err)
	}

	server.RefuseCreate("FeatureDeprecatedError")
	exit, out, said = called(t, p, "create-dataset")
	if exit != exitFailed || out != "" || !strings.Contains(said, "FeatureDeprecatedError") || !strings.Contains(said, "QUILL_SINK=FILE") {
		t.Errorf("refused: exit %d, %q, %q", exit, out, said)
	}

	env["POWERBI_CLIENT_SECRET"] = "another"
	exit, out, said = called(t, p, "create-dataset")
	if exit != exitFailed || out != "" || !strings.Contains(said, "the secret's value, not its id") {
		t.Errorf("a wrong secret: exit %d, %q, %q", exit, out, said)
	}
}

// People look things up in a database that the service has used, or has not
// used yet.
func TestLookUp(t *testing.T) {
	t.Parallel()
	dynamo := httptest.NewServer(dynamotest.NewServer(nil).Handler())
	defer dynamo.Close()
	env := map[string]string{"DYNAMO_ENDPOINT": dynamo.URL, "ALOWARE_TOKEN": "t"}
	for _, args := range [][]string{{"facts", "ALOWARE:CALL:1"}, {"refused"}} {
		exit, _, said := called(t, Program{Env: environment(env)}, args...)
		if exit != exitFailed || !strings.Contains(said, "table QuillFacts does not exist") {
			t.Errorf("%s before there are tables: exit %d, %q", args[0], exit, said)
		}
	}
	s := startServer(t, Program{Env: environment(env), Ending: atOnce})
	s.aloware(call(1, "completed"), `{"received":1,"new":1,"duplicate":0,"refused":0,"waiting":0}`)
	s.aloware(call(2, "ringing"), `{"received":1,"new":0,"duplicate":0,"refused":0,"waiting":1}`)
	s.aloware(`{"event":`, `{"received":1,"new":0,"duplicate":0,"refused":1,"waiting":0}`)
	s.aloware(call(3, "parked"), `{"received":1,"new":0,"duplicate":0,"refused":1,"waiting":0}`)
	s.Stop()
	s.end(exitOK)

	exit, out, said := called(t, Program{Env: environment(env)}, "facts", "ALOWARE:CALL:1", "ALOWARE:CALL:2")
	var printed printedFact
	if err := json.Unmarshal([]byte(out), &printed); err != nil {
		t.Fatalf("%q: %v", out, err)
	}
	if exit != exitFailed || printed.Key != "ALOWARE:CALL:1" || printed.Table != "Communications" || printed.Row["status"] != "completed" || printed.At != "1999-11-21T06:01:00.000Z" {
		t.Errorf("exit %d, %+v", exit, printed)
	}
	if !strings.Contains(said, "no fact has the key ALOWARE:CALL:2") || !strings.Contains(said, "1 of 2 keys") {
		t.Errorf("said %q", said)
	}

	exit, out, _ = called(t, Program{Env: environment(env)}, "refused")
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if exit != exitOK || len(lines) != 2 || !strings.Contains(lines[0], "ALOWARE_TERMINAL_STATUSES") || !strings.Contains(lines[1], `"body":"{\"event\":"`) {
		t.Errorf("exit %d, %q", exit, out)
	}
	if _, out, _ = called(t, Program{Env: environment(env)}, "refused", "-limit", "1"); strings.Count(out, "\n") != 1 {
		t.Errorf("one at most: %q", out)
	}

	env["ALOWARE_TERMINAL_STATUSES"] = "parked"
	for _, want := range []string{
		`{"received":2,"new":1,"duplicate":0,"refused":1,"waiting":0}`,
		`{"received":2,"new":0,"duplicate":1,"refused":1,"waiting":0}`,
	} {
		exit, out, said = called(t, Program{Env: environment(env)}, "refused", "-again")
		if exit != exitOK || strings.TrimSpace(out) != want {
			t.Errorf("again: exit %d, %q, %q, want %s", exit, out, said, want)
		}
	}
	if _, out, _ = called(t, Program{Env: environment(env)}, "refused"); !strings.Contains(out, lines[1]) {
		t.Errorf("what is refused again has another time: %q, before %q", out, lines[1])
	}
	if exit, out, _ = called(t, Program{Env: environment(env)}, "facts", "ALOWARE:CALL:3"); exit != exitOK || !strings.Contains(out, `"status":"parked"`) {
		t.Errorf("exit %d, %q", exit, out)
	}
}

// HubSpot's events were refused one by one, in any batch. A body that is not a
// batch was refused as a whole.
func TestReadAgain(t *testing.T) {
	t.Parallel()
	events := read(config.Config{}, []outbox.Refusal{
		{Source: fact.HubSpot, Body: change},
		{Source: fact.HubSpot, Body: " " + change},
		{Source: fact.HubSpot, Body: "no batch"},
		{Source: fact.HubSpot, Body: ` {"a":`},
		{Source: fact.Aloware, Body: call(1, "completed"), At: time.Unix(7, 0)},
	})
	if len(events) != 5 || events[0].Delivery != changeKey || events[1].Delivery != changeKey || events[2].Err == nil ||
		string(events[3].Raw) != ` {"a":` || events[4].Fact == nil || !events[0].Since.IsZero() || events[4].Since != time.Unix(7, 0) {
		t.Errorf("%+v", events)
	}
}

// The template has both tables, and rights for what the service does with them.
func TestTemplate(t *testing.T) {
	t.Parallel()
	env := map[string]string{"DYNAMO_TABLE_NAME": "marks", "QUILL_FACTS_TABLE": "facts"}
	exit, out, said := called(t, Program{Env: environment(env)}, "template")
	var template struct {
		Resources map[string]struct {
			Type       string
			Properties struct {
				TableName      string
				PolicyDocument struct {
					Statement []struct {
						Action   []string
						Resource any
					}
				}
			}
		}
	}
	if err := json.Unmarshal([]byte(out), &template); exit != exitOK || said != "" || err != nil {
		t.Fatalf("exit %d, %q, %v", exit, said, err)
	}
	tables := map[string]bool{}
	for _, r := range template.Resources {
		if r.Type == "AWS::DynamoDB::Table" {
			tables[r.Properties.TableName] = true
		}
	}
	if len(tables) != 2 || !tables["marks"] || !tables["facts"] {
		t.Errorf("tables %v", tables)
	}
	granted := map[string]string{} // table → actions
	for _, s := range template.Resources["QuillPolicy"].Properties.PolicyDocument.Statement {
		where, _ := json.Marshal(s.Resource)
		for _, table := range []string{"marks", "facts"} {
			if strings.Contains(string(where), "table/"+table) {
				granted[table] += strings.Join(s.Action, " ") + " "
			}
		}
	}
	for table, actions := range map[string][]string{
		"marks": {"PutItem", "UpdateItem", "BatchGetItem", "DescribeTable", "DescribeTimeToLive"},
		"facts": {"PutItem", "UpdateItem", "BatchGetItem", "GetItem", "Query", "DescribeTable", "DescribeContinuousBackups"},
	} {
		for _, action := range actions {
			if !strings.Contains(granted[table], "dynamodb:"+action+" ") {
				t.Errorf("%s on %s is not granted: %s", action, table, granted[table])
			}
		}
	}
}

// On AWS tables are not created, only compared with what is expected.
func TestTablesOnAWS(t *testing.T) {
	t.Parallel()
	cfg, err := config.Load(environment(nil))
	if err != nil {
		t.Fatal(err)
	}
	db, s, err := open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	cfg.AWS = true
	if err := s.stand(t.Context(), cfg, db); err == nil || !strings.Contains(err.Error(), "quill template") || len(db.Embedded.Tables()) != 0 {
		t.Errorf("%v, and tables %v", err, db.Embedded.Tables())
	}
	cfg.AWS = false
	if err := s.stand(t.Context(), cfg, db); err != nil || len(db.Embedded.Tables()) != 2 {
		t.Errorf("%v, and tables %v", err, db.Embedded.Tables())
	}
	cfg.AWS = true
	if err := s.stand(t.Context(), cfg, db); err != nil {
		t.Error(err)
	}
}
