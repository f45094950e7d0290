package run

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/examples/quill/aloware"
	"github.com/homeops/ddbpatterns/examples/quill/config"
	"github.com/homeops/ddbpatterns/examples/quill/fact"
	"github.com/homeops/ddbpatterns/examples/quill/hubspot"
	"github.com/homeops/ddbpatterns/examples/quill/outbox"
	"github.com/homeops/ddbpatterns/examples/quill/powerbi"
)

// toLookUp bounds the time of a command.
const toLookUp = time.Minute

// printedFact is a fact as people read it.
type printedFact struct {
	Key        string            `json:"key"`
	Table      string            `json:"table"`
	At         string            `json:"at"`
	ReceivedAt string            `json:"receivedAt"`
	Batch      string            `json:"batch,omitempty"` // absent while it is not posted
	PostedAt   string            `json:"postedAt,omitempty"`
	Row        fact.Row          `json:"row"`
	Dimension  *printedDimension `json:"dimension,omitempty"`
}

type printedDimension struct {
	Key   string   `json:"key"`
	Table string   `json:"table"`
	Row   fact.Row `json:"row"`
}

type printedRefusal struct {
	At     string `json:"at"`
	Source string `json:"source"`
	Reason string `json:"reason"`
	Body   string `json:"body"`
}

// facts prints facts by their keys, one a line.
func (p Program) facts(ctx context.Context, cfg config.Config, keys []string) error {
	ctx, cancel := context.WithTimeout(ctx, toLookUp)
	defer cancel()
	db, s, err := open(ctx, cfg)
	if err != nil {
		return err
	}
	missing := 0
	for _, key := range keys {
		f, ok, err := s.facts.Get(ctx, key)
		switch {
		case err != nil:
			return lookedUp(cfg, db.Where, err)
		case !ok:
			missing++
			fmt.Fprintf(p.Err, "quill: no fact has the key %s\n", key)
		default:
			if err := p.print(printable(f)); err != nil {
				return err
			}
		}
	}
	if missing > 0 {
		return fmt.Errorf("%d of %d keys have no fact: a call that still rings is not a fact yet, and events that could not be read are printed by quill refused", missing, len(keys))
	}
	return nil
}

func printable(f outbox.Stored) printedFact {
	out := printedFact{
		Key: f.Key, Table: f.Table, At: fact.Time(f.At), ReceivedAt: fact.Time(f.ReceivedAt), Batch: f.Batch, Row: f.Row,
	}
	if !f.PostedAt.IsZero() {
		out.PostedAt = fact.Time(f.PostedAt)
	}
	if d := f.Dimension; d != nil {
		out.Dimension = &printedDimension{Key: d.Key, Table: d.Table, Row: d.Row}
	}
	return out
}

// refused prints what could not be read, the newest first, one a line.
func (p Program) refused(ctx context.Context, cfg config.Config, c command) error {
	ctx, cancel := context.WithTimeout(ctx, toLookUp)
	defer cancel()
	db, s, err := open(ctx, cfg)
	if err != nil {
		return err
	}
	refusals, err := s.facts.Refusals(ctx, c.limit)
	if err != nil {
		return lookedUp(cfg, db.Where, err)
	}
	if c.again {
		counts := webhooks(cfg, db, s, nil, p.logger(c, slog.LevelWarn)).Settle(ctx, read(cfg, refusals))
		if err := p.print(counts); err != nil || counts.Unstored == 0 {
			return err
		}
		return fmt.Errorf("refused -again: %d events were not stored", counts.Unstored)
	}
	for _, r := range refusals {
		if err := p.print(printedRefusal{At: fact.Time(r.At), Source: r.Source, Reason: r.Reason, Body: r.Body}); err != nil {
			return err
		}
	}
	return nil
}

// read reads refused events again, with the current configuration.
func read(cfg config.Config, refusals []outbox.Refusal) (events []fact.Event) {
	for _, r := range refusals {
		body, first := []byte(r.Body), len(events)
		switch {
		case r.Source == fact.Aloware:
			events = append(events, aloware.Reader{Terminal: cfg.Aloware.Terminal}.Events(body)...)
		case strings.HasPrefix(strings.TrimSpace(r.Body), "{"):
			// In HubSpot's batches each event was refused separately. An event that
			// is refused again keeps the stored body, so that it is not kept twice.
			one := hubspot.Events([]byte("[" + r.Body + "]"))
			if len(one) == 1 {
				one[0].Raw = body
			}
			events = append(events, one...)
		default:
			events = append(events, hubspot.Events(body)...)
		}
		for i := range events[first:] {
			events[first+i].Since = r.At // what is refused again ends when it would have
		}
	}
	return events
}

// lookedUp says what to do about a table that does not exist.
func lookedUp(cfg config.Config, where string, err error) error {
	if _, missing := errors.AsType[*types.ResourceNotFoundException](err); missing {
		return fmt.Errorf("table %s does not exist on %s: first deploy what quill template prints, or start the service", cfg.FactsTable, where)
	}
	return err
}

// print writes a line of JSON.
func (p Program) print(v any) error {
	out := json.NewEncoder(p.Out)
	out.SetEscapeHTML(false)
	return out.Encode(v)
}

// defaultDataset is the name that people see in the workspace.
const defaultDataset = "quill"

// createDataset creates the dataset and prints its id, for POWERBI_DATASET_ID.
func (p Program) createDataset(ctx context.Context, cfg config.Config, args []string) error {
	name := defaultDataset
	if len(args) > 0 {
		name = args[0]
	}
	ctx, cancel := context.WithTimeout(ctx, toLookUp)
	defer cancel()
	id, err := p.client(cfg.PowerBI).Create(ctx, name)
	switch {
	case errors.Is(err, powerbi.ErrCreateRefused):
		return fmt.Errorf("create-dataset: %w\nThe application must be a member of the workspace, and the tenant must let applications use Power BI's API. "+
			"If Power BI no longer lets you create push datasets, set QUILL_SINK=FILE: then the rows go to a file", err)
	case errors.Is(err, powerbi.ErrCredentials):
		return fmt.Errorf("create-dataset: %w\nCheck POWERBI_TENANT_ID, POWERBI_CLIENT_ID and POWERBI_CLIENT_SECRET, which must be the secret's value, not its id", err)
	case err != nil:
		return fmt.Errorf("create-dataset: %w\nLook into the workspace before you try again: if the dataset exists, another try creates a second one of the same name", err)
	}
	fmt.Fprintln(p.Out, id)
	return nil
}

// client returns the client of the dataset.
func (p Program) client(c config.PowerBI) *powerbi.Client {
	if p.PowerBI != nil {
		return p.PowerBI(c)
	}
	return &powerbi.Client{Tenant: c.Tenant, ID: c.Client, Secret: c.Secret, Workspace: c.Workspace, Dataset: c.Dataset}
}
