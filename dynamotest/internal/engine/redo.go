package engine

import (
	"context"
	"fmt"
	"time"

	"github.com/homeops/ddbpatterns/dynamotest/internal/api"
)

// again performs an operation from a dump or a journal as at the given time,
// without the hook and the clock.
func (e *Engine) again(operation string, body []byte, at time.Time) error {
	op := operations[operation]
	if op == nil {
		return fmt.Errorf("no such operation: %q", operation)
	}
	if _, err := e.perform(context.Background(), op, &Call{Operation: operation, At: at, past: true}, body); err != nil {
		return err
	}
	return nil
}

// createdTable makes a table from a CreateTable request, at a time.
func (e *Engine) createdTable(definition []byte, at time.Time) (*table, error) {
	if err := e.again("CreateTable", definition, at); err != nil {
		return nil, err
	}
	var req api.CreateTable
	if err := api.Decode(definition, &req); err != nil {
		return nil, err
	}
	t := e.tables[req.TableName.Value]
	t.def.BillingSet = req.Billing.Set
	return t, nil
}
