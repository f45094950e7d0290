package run

import (
	"context"
	"fmt"
	"time"

	"github.com/homeops/ddbpatterns/examples/internal/database"
	"github.com/homeops/ddbpatterns/examples/quill/config"
	"github.com/homeops/ddbpatterns/examples/quill/outbox"
	"github.com/homeops/ddbpatterns/ledger"
	"github.com/homeops/ddbpatterns/schema"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
)

// stores are the stores on the tables.
type stores struct {
	marks *ledger.Store
	facts *outbox.Store
}

func newStores(cfg config.Config, db *dynamodb.Client) (s stores, err error) {
	if s.marks, err = ledger.New(db, cfg.LedgerTable, &ledger.Config{Retention: cfg.Retention}); err != nil {
		return s, err
	}
	s.facts, err = outbox.New(db, cfg.FactsTable, nil)
	return s, err
}

func (s stores) tables() []schema.Table { return []schema.Table{s.marks.Table(), s.facts.Table()} }

// open connects to the database and opens the stores.
func open(ctx context.Context, cfg config.Config) (database.DB, stores, error) {
	db, err := database.Open(ctx, cfg.Settings, time.Now)
	if err != nil {
		return db, stores{}, err
	}
	s, err := newStores(cfg, db.Client)
	return db, s, err
}

// stand makes sure that the tables are right. It creates the tables at an endpoint.
// On AWS a stack creates them, and stand only compares them with what is expected.
func (s stores) stand(ctx context.Context, cfg config.Config, db database.DB) error {
	if cfg.AWS && cfg.Endpoint == "" {
		if err := schema.Verify(ctx, db.Client, s.tables()...); err != nil {
			return fmt.Errorf("checking the tables on %s, which quill template describes: %w", db.Where, err)
		}
		return nil
	}
	if err := schema.Create(ctx, db.Client, s.tables()...); err != nil {
		return fmt.Errorf("creating tables on %s: %w", db.Where, err)
	}
	return nil
}
