package ledgersqs_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/ledger"
	"github.com/homeops/ddbpatterns/ledgersqs"
	"github.com/homeops/ddbpatterns/schema"
)

// shop ships orders.
type shop struct {
	t    *testing.T
	db   *dynamotest.DB
	q    *fake
	seen *ledger.Store
	cfg  ledgersqs.Config

	pollers int
	work    func(ctx context.Context, m ledgersqs.Message, c *ledger.Claim) error

	mu      sync.Mutex
	shipped []string
	refused []string
	stayed  []string
}

func newShop(t *testing.T, cfg ledger.Config) *shop {
	t.Helper()
	db := dynamotest.New(t, nil)
	seen, err := ledger.New(db.Client(), "seen", &cfg)
	if err != nil {
		t.Fatal(err)
	}
	if err := schema.Create(t.Context(), db.Client(), seen.Table()); err != nil {
		t.Fatal(err)
	}
	s := &shop{t: t, db: db, q: newFake(), seen: seen}
	s.cfg.Refused = func(_ context.Context, m ledgersqs.Message, why error) error {
		s.note(&s.refused, fmt.Sprintf("%s: %v", m.Body, why))
		return nil
	}
	s.cfg.Log = func(_ context.Context, m ledgersqs.Message, why error) {
		s.note(&s.stayed, fmt.Sprintf("%s: %v", m.Body, why))
	}
	return s
}

func (s *shop) note(list *[]string, text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	*list = append(*list, text)
}

func keyOf(m ledgersqs.Message) (string, error) {
	return ledger.Key("ORDER", m.Attributes["order"].String)
}

// handler ships each order once.
func (s *shop) handler() ledgersqs.Handler {
	return ledgersqs.Once(s.seen, keyOf, func(ctx context.Context, m ledgersqs.Message, c *ledger.Claim) error {
		if s.work != nil {
			if err := s.work(ctx, m, c); err != nil {
				return err
			}
		}
		s.note(&s.shipped, m.Body)
		return nil
	})
}

// run runs until the queue is empty, or for so long.
func (s *shop) run(atMost time.Duration) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), atMost)
	defer cancel()
	go func() {
		for s.q.left() > 0 && ctx.Err() == nil {
			<-time.After(time.Second)
		}
		cancel()
	}()
	var pollers sync.WaitGroup
	for range max(1, s.pollers) {
		pollers.Go(func() {
			if err := ledgersqs.Run(ctx, s.q, url, s.handler(), &s.cfg); err != nil {
				s.t.Error(err)
			}
		})
	}
	pollers.Wait()
}
