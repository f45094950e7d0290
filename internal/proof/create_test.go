package proof_test

import (
	"context"
	"errors"
	"testing"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/dynamotest/explore"
	"github.com/homeops/ddbpatterns/schema"
)

// Two processes create the same table. Both go on until it stands.
func TestCreate(t *testing.T) {
	table := limits(nobody).Table()
	cfg := explore.Config{Server: dynamotest.NewServer(nil), Start: start}
	pageRow(t.Name()).rows++
	stages(t, cfg, false, false, func(bool) func(*explore.Schedule) { return creating(table) })
}

func creating(table schema.Table) func(*explore.Schedule) {
	return func(s *explore.Schedule) {
		done := map[string]bool{}
		for _, name := range []string{"a", "b"} {
			s.Caller(name, func(ctx context.Context, p *explore.Process) {
				for err := errors.New("not yet"); err != nil; {
					err = schema.Create(ctx, p.Client(), table)
				}
				done[name] = true
			})
		}
		s.End(func(v *explore.View) error {
			if !done["a"] || !done["b"] {
				return errors.New("a process did not see the table")
			}
			return schema.Verify(context.Background(), v.Client(), table)
		})
	}
}
