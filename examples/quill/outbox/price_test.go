package outbox_test

import (
	"context"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/examples/quill/fact"
	"github.com/homeops/ddbpatterns/examples/quill/outbox"
	"github.com/homeops/ddbpatterns/internal/pricetest"
)

// Each method costs what its Price says, and Actions grants exactly what they
// send.
func TestPrices(t *testing.T) {
	t.Parallel()
	db := dynamotest.Open(t, pricetest.Watch)
	s, err := outbox.New(db.Client(), db.Name("facts"), &outbox.Config{Now: func() time.Time { return noon }})
	if err != nil {
		t.Fatal(err)
	}
	db.Create(s.Table())
	e := &env{Store: s, db: db}
	e.put(t, 1)
	known := outbox.Known{Key: "ALOWARE:CONTACT:1", Table: fact.Contacts, Row: fact.Row{"phone": "1"}}
	pricetest.Run(t, db, []pricetest.Case{
		{
			Func: "Store.PutItem", Actions: func() []types.TransactWriteItem {
				return []types.TransactWriteItem{e.item(t, call(2)).Item}
			},
			Local: &dynamotest.Price{WCU: 4}, Why: "it charges a transaction's entries in an index twice, too",
		},
		{Func: "Store.Get", Call: func(ctx context.Context) error { _, _, err := s.Get(ctx, callKey(1)); return err }},
		{Func: "Store.Pending", Call: func(ctx context.Context) error { _, err := s.Pending(ctx, fact.Communications, 1); return err }},
		{Func: "Store.Waiting", Call: func(ctx context.Context) error { _, err := s.Waiting(ctx, fact.Communications); return err }},
		{Func: "Store.MarkPosted", Call: func(ctx context.Context) error { _, err := s.MarkPosted(ctx, "1.1", []string{callKey(1)}); return err }},
		{
			Func: "Store.MarkPosted", In: "Again",
			Call:  func(ctx context.Context) error { _, err := s.MarkPosted(ctx, "1.1", []string{callKey(1)}); return err },
			Local: &dynamotest.Price{Requests: 1}, Why: "it reports nothing of a failed condition",
		},
		{Func: "Store.Refuse", Call: func(ctx context.Context) error {
			return s.Refuse(ctx, outbox.Refusal{Source: fact.HubSpot, Body: "{}", At: noon})
		}},
		{Func: "Store.Refuse", In: "Again", Call: func(ctx context.Context) error {
			return s.Refuse(ctx, outbox.Refusal{Source: fact.HubSpot, Body: "{}", At: noon.Add(time.Second)})
		}},
		{Func: "Store.Refusals", Call: func(ctx context.Context) error { _, err := s.Refusals(ctx, 1); return err }},
		{Func: "Store.SavePoster", Call: func(ctx context.Context) error { return s.SavePoster(ctx, outbox.Poster{Fence: 1}) }},
		{Func: "Store.SaveLate", Call: func(ctx context.Context) error { return s.SaveLate(ctx, "1.1", outbox.Sums{}) }},
		{Func: "Store.Late", Call: func(ctx context.Context) error { _, err := s.Late(ctx); return err }},
		{Func: "Store.LoadPoster", Call: func(ctx context.Context) error { _, err := s.LoadPoster(ctx); return err }},
		{Func: "Store.Learn", Call: func(ctx context.Context) error { return s.Learn(ctx, 1, known) }},
		{Func: "Store.Known", Call: func(ctx context.Context) error { _, err := s.Known(ctx, []string{known.Key}); return err }},
	}, s)
}
