// Package config reads quill's configuration from the environment. No other
// package does.
package config

import (
	"cmp"
	"errors"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/homeops/ddbpatterns/examples/internal/database"
	"github.com/homeops/ddbpatterns/examples/internal/env"
)

// Config is what a deployment decides.
type Config struct {
	LedgerTable       string        // DYNAMO_TABLE_NAME
	FactsTable        string        // QUILL_FACTS_TABLE
	Retention         time.Duration // DYNAMO_TTL_DAYS: how long a delivery is remembered
	database.Settings               // DYNAMO_ENDPOINT, DYNAMO_REGION, AWS credentials

	PublicURL string    // QUILL_PUBLIC_URL, without a slash at its end
	Cutover   time.Time // CUTOVER_AT; zero without an earlier pipeline

	Aloware Aloware
	HubSpot HubSpot
	PowerBI PowerBI
	Sink    string // QUILL_SINK, a file; "" is standard output
	Spool   string // QUILL_SPOOL, a directory; "" keeps nothing

	AskAfter time.Duration // QUILL_ASK_AFTER: how long the sink has to show a post
}

// Aloware is the credentials of its webhooks. Without a user or a token its
// webhooks are not accepted.
type Aloware struct {
	User, Password string   // ALOWARE_USER, ALOWARE_PASSWORD: Basic
	Token          string   // ALOWARE_TOKEN: Bearer
	Terminal       []string // ALOWARE_TERMINAL_STATUSES: further statuses that end a call
}

// On reports whether Aloware's webhooks are accepted.
func (a Aloware) On() bool { return a.User != "" || a.Token != "" }

// HubSpot says how its webhooks are signed. Without a secret they are not
// accepted.
type HubSpot struct {
	Secret     string   // HUBSPOT_CLIENT_SECRET
	Signatures []string // HUBSPOT_SIGNATURES: v3, and older ones for requests without v3
}

// On reports whether HubSpot's webhooks are accepted.
func (h HubSpot) On() bool { return h.Secret != "" }

// PowerBI is the push dataset, and the service principal that writes to it.
type PowerBI struct {
	Tenant, Client, Secret string // POWERBI_TENANT_ID, POWERBI_CLIENT_ID, POWERBI_CLIENT_SECRET
	Workspace              string // POWERBI_WORKSPACE_ID
	Dataset                string // POWERBI_DATASET_ID; "" before it is created
}

// On reports whether rows go to Power BI.
func (p PowerBI) On() bool { return p.Tenant != "" }

// ForService names what a service lacks: it needs a source, the URL that is
// signed, an existing dataset, and, if it works on AWS, valid credentials.
func (c Config) ForService() error {
	var errs []error
	if !c.Aloware.On() && !c.HubSpot.On() {
		errs = append(errs, errors.New("ALOWARE_USER, ALOWARE_TOKEN, HUBSPOT_CLIENT_SECRET: at least one of them must be set, because otherwise every webhook is refused"))
	}
	if c.HubSpot.On() && c.PublicURL == "" {
		errs = append(errs, errors.New("QUILL_PUBLIC_URL: must be set to the address that HubSpot calls, without /hubspot: the signatures of HubSpot include the address"))
	}
	if c.PowerBI.On() && c.PowerBI.Dataset == "" {
		errs = append(errs, errors.New("POWERBI_DATASET_ID: must be set to the id that quill create-dataset prints"))
	}
	return errors.Join(append(errs, c.ForTables())...)
}

// ForTables says what is wrong with AWS's credentials, if they are used.
func (c Config) ForTables() error {
	if c.Endpoint == "" {
		return c.AWSError
	}
	return nil
}

// ForDataset names what creating a dataset needs.
func (c Config) ForDataset() error {
	if !c.PowerBI.On() {
		return errors.New("POWERBI_TENANT_ID, POWERBI_CLIENT_ID, POWERBI_CLIENT_SECRET, POWERBI_WORKSPACE_ID: all of them must be set: they say in which workspace the dataset is created, and with which credentials")
	}
	return nil
}

// These are the forms of values. A secret is any text of characters that a header
// can carry.
var (
	visible = env.Form{Pattern: regexp.MustCompile(`^[!-~]{1,512}$`), Want: "1 to 512 visible ASCII characters"}
	user    = env.Form{Pattern: regexp.MustCompile(`^[ -9;-~]{1,256}$`), Want: "1 to 256 ASCII characters without a colon, which ends a user's name"}
	phrase  = env.Form{Pattern: regexp.MustCompile(`^[ -~]{1,512}$`), Want: "1 to 512 ASCII characters"}
	id      = env.Form{Pattern: regexp.MustCompile(`^[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}$`), Want: "an id such as 0f8fad5b-d9cb-469f-a165-70867728950e"}
	tenant  = env.Form{Pattern: regexp.MustCompile(`^[0-9A-Za-z]([0-9A-Za-z.-]{0,252}[0-9A-Za-z])?$`), Want: "a tenant's id or domain"}
	status  = env.Form{Pattern: regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9 _-]{0,62}[A-Za-z0-9])?$`), Want: "statuses with commas between them, such as parked, line-lost"}
	version = env.Form{Pattern: regexp.MustCompile(`^v[123]$`), Want: "of v1, v2 and v3, with commas between them"}
)

// The least and the most days of DYNAMO_TTL_DAYS.
const (
	leastDays = 2
	mostDays  = 3650
	whyDays   = "HubSpot sends an event again for a day, and all that time it must be known"
)

// Load reads the environment through lookup, which is os.LookupEnv. The error
// names every variable whose value is wrong. A variable that is set but empty
// counts as not set, as in a compose file.
func Load(lookup func(string) (string, bool)) (Config, error) {
	r := env.NewReader(lookup)
	cfg := Config{
		LedgerTable: r.Text("DYNAMO_TABLE_NAME", "QuillIdempotencyLedger", env.TableName),
		FactsTable:  r.Text("QUILL_FACTS_TABLE", "QuillFacts", env.TableName),
		Retention:   r.Days("DYNAMO_TTL_DAYS", 14, leastDays, mostDays, whyDays),
		Settings:    database.FromEnv(r, "us-west-2"),
		PublicURL:   publicURL(r),
		Cutover:     instant(r, "CUTOVER_AT"),
		Aloware:     readAloware(r),
		HubSpot:     readHubSpot(r),
		PowerBI:     readPowerBI(r),
		Sink:        r.Value("QUILL_SINK"),
		Spool:       r.Value("QUILL_SPOOL"),
		AskAfter:    askAfter(r),
	}
	if cfg.PowerBI.On() && cfg.Sink != "" {
		r.Wrong("QUILL_SINK", "must not be set together with POWERBI_TENANT_ID: rows go to only one place")
	}
	r.Distinct(
		env.Table{Variable: "DYNAMO_TABLE_NAME", Name: cfg.LedgerTable},
		env.Table{Variable: "QUILL_FACTS_TABLE", Name: cfg.FactsTable},
	)
	if err := r.Err(); err != nil {
		return Config{}, err
	}
	return cfg, nil
}

func readAloware(r *env.Reader) Aloware {
	a := Aloware{
		User:     r.Text("ALOWARE_USER", "", user),
		Password: r.Secret("ALOWARE_PASSWORD", phrase),
		Token:    r.Secret("ALOWARE_TOKEN", visible),
		Terminal: list(r, "ALOWARE_TERMINAL_STATUSES", "", status),
	}
	switch {
	case a.User == "" && a.Password != "":
		r.Wrong("ALOWARE_USER", "must be set together with ALOWARE_PASSWORD")
	case a.User != "" && a.Password == "":
		r.Wrong("ALOWARE_PASSWORD", "must be set together with ALOWARE_USER")
	}
	return a
}

func readHubSpot(r *env.Reader) HubSpot {
	const name = "HUBSPOT_SIGNATURES"
	h := HubSpot{Secret: r.Secret("HUBSPOT_CLIENT_SECRET", visible), Signatures: list(r, name, "v3", version)}
	if h.Signatures != nil && !slices.Contains(h.Signatures, "v3") {
		r.Wrong(name, "must include v3, which is checked whenever a request has it, is %q", r.Value(name))
	}
	return h
}

// readPowerBI accepts all that a dataset needs, or nothing.
func readPowerBI(r *env.Reader) PowerBI {
	p := PowerBI{
		Tenant:    r.Text("POWERBI_TENANT_ID", "", tenant),
		Client:    r.Text("POWERBI_CLIENT_ID", "", id),
		Secret:    r.Secret("POWERBI_CLIENT_SECRET", phrase),
		Workspace: r.Text("POWERBI_WORKSPACE_ID", "", id),
		Dataset:   r.Text("POWERBI_DATASET_ID", "", id),
	}
	if p == (PowerBI{}) {
		return p
	}
	for _, needed := range []struct{ name, value string }{
		{"POWERBI_TENANT_ID", p.Tenant},
		{"POWERBI_CLIENT_ID", p.Client},
		{"POWERBI_CLIENT_SECRET", p.Secret},
		{"POWERBI_WORKSPACE_ID", p.Workspace},
	} {
		if needed.value == "" {
			r.Wrong(needed.name, "must be set, because another POWERBI_… variable is set")
		}
	}
	return p
}

// publicURL reads the address that webhooks are sent to. It must be https unless
// it is on this machine.
func publicURL(r *env.Reader) string {
	const name, such = "QUILL_PUBLIC_URL", "https://hooks.example.com"
	value := r.URL(name, "", such)
	u, err := url.Parse(value)
	if err == nil && u.Scheme == "http" && !slices.Contains([]string{"localhost", "127.0.0.1", "::1"}, u.Hostname()) {
		r.Wrong(name, "must begin with https://, or be on localhost, is %q", u.Redacted())
	}
	return strings.TrimRight(value, "/")
}

// askAfter reads how long after a post the sink is asked for it.
func askAfter(r *env.Reader) time.Duration {
	const name = "QUILL_ASK_AFTER"
	value := cmp.Or(r.Value(name), "2m")
	after, err := time.ParseDuration(value)
	if err != nil || after < time.Second || after > time.Hour {
		r.Wrong(name, "must be a time from 1s to 1h, such as 2m, is %q", value)
	}
	return after
}

func instant(r *env.Reader, name string) time.Time {
	value := r.Value(name)
	if value == "" {
		return time.Time{}
	}
	at, err := time.Parse(time.RFC3339, value)
	if err != nil {
		r.Wrong(name, "must be a time such as 2026-12-01T09:00:00Z, is %q", value)
	}
	return at
}

// list reads values with commas between them. A value may appear only once.
func list(r *env.Reader, name, otherwise string, form env.Form) []string {
	text := cmp.Or(r.Value(name), otherwise)
	if text == "" {
		return nil
	}
	var values []string
	for value := range strings.SplitSeq(text, ",") {
		switch value = strings.TrimSpace(value); {
		case !form.Pattern.MatchString(value):
			r.Wrong(name, "must be %s, is %q", form.Want, text)
			return nil
		case slices.Contains(values, value):
			r.Wrong(name, "names %q twice", value)
			return nil
		}
		values = append(values, value)
	}
	return values
}
