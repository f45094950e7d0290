package demo

import (
	"context"
	"log/slog"
	"net/http"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/homeops/ddbpatterns/examples/quill/aloware"
	"github.com/homeops/ddbpatterns/examples/quill/demo/stream"
	"github.com/homeops/ddbpatterns/examples/quill/hubspot"
	"github.com/homeops/ddbpatterns/examples/quill/intake"
	"github.com/homeops/ddbpatterns/examples/quill/outbox"
	"github.com/homeops/ddbpatterns/examples/quill/post"
	"github.com/homeops/ddbpatterns/examples/quill/powerbi"
	"github.com/homeops/ddbpatterns/examples/quill/powerbi/powerbitest"
	"github.com/homeops/ddbpatterns/ledger"
	"github.com/homeops/ddbpatterns/schema"
)

// These are the tables of a replay.
const (
	LedgerTable = "QuillIdempotencyLedger"
	FactsTable  = "QuillFacts"
)

// Place is where a service runs. It outlives the service's processes.
type Place struct {
	Clock   post.Clock
	Client  *dynamodb.Client // of this process
	PowerBI http.RoundTripper
	// URL is where Power BI and Microsoft's login are.
	URL string
	Log *slog.Logger
}

// Service is one process of quill. It is configured as in a deployment, except the
// clock.
type Service struct {
	Handler *intake.Handler
	Poster  *post.Poster
	Ledger  *ledger.Store
	Outbox  *outbox.Store
}

// NewService wires a service. Services may share tallies.
func NewService(p Place, in *intake.Tally, out *post.Tally) (*Service, error) {
	now := p.Clock.Now
	seen, err := ledger.New(p.Client, LedgerTable, &ledger.Config{Now: now})
	if err != nil {
		return nil, err
	}
	lease, err := post.NewLease(p.Client, LedgerTable, &ledger.Config{Now: now})
	if err != nil {
		return nil, err
	}
	facts, err := outbox.New(p.Client, FactsTable, &outbox.Config{Now: now})
	if err != nil {
		return nil, err
	}
	s := &Service{Ledger: seen, Outbox: facts}
	s.Handler = &intake.Handler{
		Aloware: aloware.Auth{User: Made.AlowareUser, Password: Made.AlowarePassword},
		HubSpot: hubspot.Verifier{Secret: Made.HubSpot, PublicURL: Made.PublicURL, Now: now},
		DB:      p.Client, Ledger: seen, Outbox: facts, Cutover: stream.Cutover,
		Tally: in, Log: p.Log, Now: now,
	}
	s.Poster = &post.Poster{
		Lease: lease, Outbox: facts, Clock: p.Clock, Tally: out, Log: p.Log,
		Sink: &powerbi.Client{
			Tenant: powerbitest.Tenant, ID: powerbitest.ID, Secret: powerbitest.Secret,
			Workspace: powerbitest.Workspace, Dataset: powerbitest.Dataset,
			BaseURL: p.URL, LoginURL: p.URL, HTTP: &http.Client{Transport: p.PowerBI}, Now: now,
		},
	}
	return s, nil
}

// Create creates the tables. Rows expire by the replay's clock, so a DynamoDB with
// a clock of its own must not delete them.
func (s *Service) Create(ctx context.Context, db *dynamodb.Client, expire bool) error {
	tables := []schema.Table{s.Ledger.Table(), s.Outbox.Table()}
	if !expire {
		for i := range tables {
			tables[i].TTL = ""
		}
	}
	return schema.Create(ctx, db, tables...)
}
