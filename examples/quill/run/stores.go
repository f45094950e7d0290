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

// stores are what is kept in the tables.
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

// open opens the tables where they are.
func open(ctx context.Context, cfg config.Config) (database.DB, stores, error) {
	db, err := database.Open(ctx, cfg.Settings, time.Now)
	if err != nil {
		return db, stores{}, err
	}
	s, err := newStores(cfg, db.Client)
	return db, s, err
}

// stand makes sure of the tables: those of an endpoint are created, and those on AWS,
// which a stack makes, only compared with what is expected.
func (s stores) stand(ctx context.Context, cfg config.Config, db database.DB) error {
	if cfg.AWS && cfg.Endpoint == "" {
		if err := schema.Verify(ctx, db.Client, s.tables()...); err != nil {
			return fmt.Errorf("tables on %s, which quill template describes: %w", db.Where, err)
		}
		return nil
	}
	if err := schema.Create(ctx, db.Client, s.tables()...); err != nil {
		return fmt.Errorf("creating tables on %s: %w", db.Where, err)
	}
	return nil
}
