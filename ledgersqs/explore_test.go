package ledgersqs_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/dynamotest/explore"
	"github.com/homeops/ddbpatterns/ledger"
	"github.com/homeops/ddbpatterns/ledgersqs"
	"github.com/homeops/ddbpatterns/schema"
)

// Two deliveries of an order come at once, a worker dies anywhere or hears no reply, and the
// warehouse, which takes a key, ships the order once. An order that can never be shipped is
// kept for people.
func TestEverySchedule(t *testing.T) {
	t.Parallel()
	seeded := dynamotest.NewServer(nil)
	table, err := ledger.New(seeded.Client(), "seen", nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := schema.Create(t.Context(), seeded.Client(), table.Table()); err != nil {
		t.Fatal(err)
	}
	start := func(p *explore.Process) func(context.Context, string) error {
		seen, err := ledger.New(p.Client(), "seen", &ledger.Config{Now: p.Now, Rand: p.Rand()})
		if err != nil {
			panic(err)
		}
		ship := func(_ context.Context, m ledgersqs.Message, c *ledger.Claim) error {
			if m.Body == "xyz" {
				return ledger.Permanent(errors.New("no such article"))
			}
			return p.Do("ship "+m.Body+" under "+c.Key, nil) // another key would be another effect
		}
		key := func(m ledgersqs.Message) (string, error) { return ledger.Key("ORDER", m.Body) }
		handle, err := ledgersqs.Lambda(ledgersqs.Once(seen, key, ship), &ledgersqs.Config{
			Log:     func(context.Context, ledgersqs.Message, error) {},
			Refused: func(_ context.Context, m ledgersqs.Message, _ error) error { return p.Do("keep "+m.Body, nil) },
		})
		if err != nil {
			panic(err)
		}
		return func(ctx context.Context, body string) error {
			out, err := handle(ctx, ledgersqs.Event{Records: []ledgersqs.Message{{ID: "1", Body: body}}})
			if err == nil && len(out.Failures) > 0 {
				err = fmt.Errorf("%s stays", body)
			}
			return err
		}
	}
	for _, body := range []string{"lamp", "xyz"} {
		t.Run(body, func(t *testing.T) {
			report := explore.Handler(t, explore.Config{
				Server: seeded, Faults: explore.Faults{Deaths: 1, Unheard: 1, Late: 1, Total: 1},
			}, explore.Deliveries[string]{
				Messages: []string{body}, Twice: true, Visibility: 2 * time.Minute, // longer than the lease and the skew budget
				Ignore: []string{"claim", "fence", "attempts", "lease", "seenAt", "expiresAt"},
			}, start)
			if !report.Exhausted {
				t.Error(report)
			}
		})
	}
}
