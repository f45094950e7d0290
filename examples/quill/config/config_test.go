package config_test

import (
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/homeops/ddbpatterns/examples/internal/database"
	"github.com/homeops/ddbpatterns/examples/quill/config"
)

func lookup(env map[string]string) func(string) (string, bool) {
	return func(name string) (string, bool) { value, ok := env[name]; return value, ok }
}

const (
	anID      = "0f8fad5b-d9cb-469f-a165-70867728950e"
	anotherID = "7c9e6679-7425-40de-944b-e07fc1f90ae7"
)

// full sets every variable except QUILL_SINK, which excludes Power BI.
var full = map[string]string{
	"DYNAMO_TABLE_NAME": "l-1", "QUILL_FACTS_TABLE": "f-1", "DYNAMO_TTL_DAYS": "30",
	"DYNAMO_ENDPOINT": "http://127.0.0.1:8000", "DYNAMO_REGION": "eu-north-1",
	"QUILL_SPOOL": "/var/spool/quill", "QUILL_ASK_AFTER": "90s",
	"QUILL_PUBLIC_URL": "https://hooks.example.com/in/", "CUTOVER_AT": "2026-12-01T09:00:00+01:00",
	"ALOWARE_USER": "quill", "ALOWARE_PASSWORD": "open sesame", "ALOWARE_TOKEN": "t0ken", "ALOWARE_TERMINAL_STATUSES": "parked, line-lost",
	"HUBSPOT_CLIENT_SECRET": "hush", "HUBSPOT_SIGNATURES": "v3,v1",
	"POWERBI_TENANT_ID": "example.com", "POWERBI_CLIENT_ID": anID, "POWERBI_CLIENT_SECRET": "~sh", "POWERBI_WORKSPACE_ID": anID, "POWERBI_DATASET_ID": anotherID,
}

// with is full with some changes. A variable that is "" is not set.
func with(changes map[string]string) map[string]string {
	env := maps.Clone(full)
	maps.Copy(env, changes)
	return env
}

func TestDefaults(t *testing.T) {
	t.Parallel()
	got, err := config.Load(lookup(map[string]string{"DYNAMO_TTL_DAYS": ""}))
	want := config.Config{
		LedgerTable: "QuillIdempotencyLedger", FactsTable: "QuillFacts", Retention: 14 * 24 * time.Hour,
		Settings: database.Settings{Region: "us-west-2"}, HubSpot: config.HubSpot{Signatures: []string{"v3"}},
		AskAfter: 2 * time.Minute,
	}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v\n%s", err, diff)
	}
	if got.Aloware.On() || got.HubSpot.On() || got.PowerBI.On() {
		t.Error("on without being set")
	}
}

func TestEveryVariable(t *testing.T) {
	t.Parallel()
	got, err := config.Load(lookup(full))
	want := config.Config{
		LedgerTable: "l-1", FactsTable: "f-1", Retention: 30 * 24 * time.Hour,
		Settings:  database.Settings{Endpoint: "http://127.0.0.1:8000", Region: "eu-north-1"},
		PublicURL: "https://hooks.example.com/in", Cutover: time.Date(2026, time.December, 1, 8, 0, 0, 0, time.UTC),
		Aloware: config.Aloware{User: "quill", Password: "open sesame", Token: "t0ken", Terminal: []string{"parked", "line-lost"}},
		HubSpot: config.HubSpot{Secret: "hush", Signatures: []string{"v3", "v1"}},
		PowerBI: config.PowerBI{Tenant: "example.com", Client: anID, Secret: "~sh", Workspace: anID, Dataset: anotherID},
		Spool:   "/var/spool/quill", AskAfter: 90 * time.Second,
	}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v\n%s", err, diff)
	}
	if err := got.ForService(); err != nil {
		t.Error(err)
	}
	got, err = config.Load(lookup(map[string]string{"QUILL_SINK": "rows.jsonl"}))
	if err != nil || got.Sink != "rows.jsonl" {
		t.Errorf("QUILL_SINK: %q, %v", got.Sink, err)
	}
}

// A wrong value is refused, and the error names the variable.
func TestWrongValues(t *testing.T) {
	t.Parallel()
	for name, values := range map[string][]string{
		"DYNAMO_TABLE_NAME":         {"l", "å å å"},
		"QUILL_FACTS_TABLE":         {"f/1", "l-1"},
		"DYNAMO_TTL_DAYS":           {"1", "3651", "14d"},
		"DYNAMO_ENDPOINT":           {"127.0.0.1:8000"},
		"DYNAMO_REGION":             {"Oregon"},
		"AWS_REGION":                {"Oregon"},
		"QUILL_PUBLIC_URL":          {"hooks.example.com", "http://hooks.example.com", "https://h?x=1", "https://u:p@h", "http://localhost.example.com", "ftp://h"},
		"QUILL_ASK_AFTER":           {"2", "0s", "999ms", "61m", "soon"},
		"CUTOVER_AT":                {"2026-12-01", "tomorrow", "2026-12-01T09:00:00"},
		"ALOWARE_USER":              {"a:b", "é", "a\nb"},
		"ALOWARE_PASSWORD":          {"hunter2\n", "hunter2é"},
		"ALOWARE_TOKEN":             {"hunter2 hunter2"},
		"ALOWARE_TERMINAL_STATUSES": {"parked,", ",", "parked,parked", "-", "a;b"},
		"HUBSPOT_CLIENT_SECRET":     {"hunter2 hunter2"},
		"HUBSPOT_SIGNATURES":        {"v4", "v3,", "v3,v3", "V3", "v1,v2"},
		"POWERBI_TENANT_ID":         {"a/b", "-", "tenant id"},
		"POWERBI_CLIENT_ID":         {"client", anID + "0"},
		"POWERBI_CLIENT_SECRET":     {"hunter2\n"},
		"POWERBI_WORKSPACE_ID":      {"me"},
		"POWERBI_DATASET_ID":        {"dataset"},
		"QUILL_SINK":                {"rows.jsonl"}, // beside Power BI
	} {
		for _, value := range values {
			_, err := config.Load(lookup(with(map[string]string{name: value})))
			switch {
			case err == nil || !strings.HasPrefix(err.Error(), name+": ") || strings.Contains(err.Error(), "\n"):
				t.Errorf("%s=%q: %v", name, value, err)
			case strings.Contains(err.Error(), "hunter2"):
				t.Errorf("%s: the error shows a secret: %v", name, err)
			}
		}
	}
}

// One error names everything that is wrong.
func TestAllAreNamed(t *testing.T) {
	t.Parallel()
	_, err := config.Load(lookup(with(map[string]string{"DYNAMO_REGION": "Oregon", "CUTOVER_AT": "tomorrow", "POWERBI_CLIENT_ID": "x"})))
	for _, name := range []string{"DYNAMO_REGION: ", "CUTOVER_AT: ", "POWERBI_CLIENT_ID: "} {
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s is not named: %v", name, err)
		}
	}
}

// Variables that belong together must be set together.
func TestTogether(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"POWERBI_TENANT_ID", "POWERBI_CLIENT_ID", "POWERBI_CLIENT_SECRET", "POWERBI_WORKSPACE_ID", "ALOWARE_USER", "ALOWARE_PASSWORD"} {
		_, err := config.Load(lookup(with(map[string]string{name: ""})))
		if err == nil || !strings.HasPrefix(err.Error(), name+": must be set") || strings.Contains(err.Error(), "\n") {
			t.Errorf("without %s: %v", name, err)
		}
	}
	_, err := config.Load(lookup(map[string]string{"POWERBI_DATASET_ID": anID}))
	if err == nil || strings.Count(err.Error(), "must be set") != 4 {
		t.Errorf("a dataset alone: %v", err)
	}
}

// Only on this machine may webhooks come without TLS.
func TestPublicURL(t *testing.T) {
	t.Parallel()
	for _, address := range []string{"http://localhost:8080", "http://127.0.0.1:8080", "http://[::1]:8080", "https://hooks.example.com"} {
		if got, err := config.Load(lookup(map[string]string{"QUILL_PUBLIC_URL": address})); err != nil || got.PublicURL != address {
			t.Errorf("%s: %q, %v", address, got.PublicURL, err)
		}
	}
}

func TestForService(t *testing.T) {
	t.Parallel()
	half := map[string]string{"AWS_ACCESS_KEY_ID": "AKIA"}
	for name, tc := range map[string]struct {
		env  map[string]string
		want []string // names
	}{
		"nothing":            {nil, []string{"HUBSPOT_CLIENT_SECRET:"}},
		"a user":             {map[string]string{"ALOWARE_USER": "u", "ALOWARE_PASSWORD": "p"}, nil},
		"a token":            {map[string]string{"ALOWARE_TOKEN": "t"}, nil},
		"no URL":             {map[string]string{"HUBSPOT_CLIENT_SECRET": "s"}, []string{"QUILL_PUBLIC_URL:"}},
		"no dataset":         {with(map[string]string{"POWERBI_DATASET_ID": ""}), []string{"POWERBI_DATASET_ID:"}},
		"half a key":         {half, []string{"HUBSPOT_CLIENT_SECRET:", "AWS_ACCESS_KEY_ID:"}},
		"half a key, unused": {with(half), nil},
	} {
		cfg, err := config.Load(lookup(tc.env))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		err = cfg.ForService()
		if (err == nil) != (len(tc.want) == 0) {
			t.Errorf("%s: %v", name, err)
		}
		for _, want := range tc.want {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %s is not named: %v", name, want, err)
			}
		}
	}
}

func TestForDataset(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		env   map[string]string
		wrong bool
	}{
		"nothing": {nil, true},
		"four":    {with(map[string]string{"POWERBI_DATASET_ID": ""}), false},
		"five":    {full, false},
	} {
		cfg, err := config.Load(lookup(tc.env))
		if err != nil {
			t.Fatal(err)
		}
		if err := cfg.ForDataset(); (err != nil) != tc.wrong {
			t.Errorf("%s: %v", name, err)
		}
	}
}
