package ema_test

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/ema"
	"github.com/homeops/ddbpatterns/internal/golden"
	"github.com/homeops/ddbpatterns/internal/recordtest"
)

func TestOtherNames(t *testing.T) {
	t.Parallel()
	golden.WithOtherNames(t, golden.Renamed(t, "ema", "updatedAt", "version", "recent"), func(t testing.TB, names map[string]string, note func(...any)) (*dynamodb.Client, string) {
		db := dynamotest.Open(t)
		s, err := ema.New(db.Client(), db.Name("homeops"), &ema.Config{Now: recordtest.Clock(clock), Names: names})
		if err != nil {
			t.Fatal(err)
		}
		recordtest.Create(t, db.Client(), s.Table())
		ctx, o := t.Context(), effort(ago(t, 2), 3)
		for range 2 {
			out, err := s.Observe(ctx, o)
			note(out, err)
		}
		average, ok, err := s.Get(ctx, "42", "diskning")
		note(average, ok, err)
		o.Metric = "sopor"
		out, err := s.Observe(ctx, o)
		note(out, err)
		averages, err := s.All(ctx, "42")
		note(averages, err)
		o.Subject = "7"
		out, err = s.Observe(ctx, o)
		note(out, err)
		erased, err := s.Erase(ctx, "7")
		note(erased, err)
		return db.Client(), db.Name("homeops")
	})
}
