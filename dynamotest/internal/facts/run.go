package facts

import (
	"context"
	"encoding/json"
	"fmt"
	"time"
)

// A Runner checks facts against an endpoint. The tables that it makes exist
// until Close.
type Runner struct {
	// Pause is the time before a request is sent again.
	Pause time.Duration

	send Send
	own  map[string]bool // tables that the fact made
	id   string          // of this run; part of the names of its tables
	defs map[string]map[string]json.RawMessage
	made map[string]string // tables that facts share, with the error of the endpoint
}

// Send performs an operation. An error comes from the transport, not from
// DynamoDB.
type Send func(ctx context.Context, op string, body []byte) (status int, reply []byte, err error)

// NewRunner returns a runner whose tables have id in their names. The id must
// have eight characters, because some facts depend on the length of names.
func NewRunner(send Send, id string) (*Runner, error) {
	defs, err := definitions()
	return &Runner{send: send, id: id, defs: defs, made: map[string]string{}, own: map[string]bool{}}, err
}

// Run returns in what the endpoint differs from a fact; "" if in nothing. An error
// comes from the transport, or from an invalid fact.
func (r *Runner) Run(ctx context.Context, fact Fact) (differs string, err error) {
	for _, table := range fact.Tables {
		if differs, err := r.make(ctx, table); differs != "" || err != nil {
			return differs, err
		}
	}

	kept := map[string]any{}
	for i, step := range fact.Steps {
		if differs, err = r.step(ctx, step, kept); err != nil {
			return "", fmt.Errorf("%s: step %d: %w", fact.ID, i+1, err)
		}
		if differs != "" {
			differs = fmt.Sprintf("step %d %s: %s", i+1, step.Op, differs)
			break
		}
	}

	return differs, r.drop(ctx)
}

func (r *Runner) step(ctx context.Context, step Step, kept map[string]any) (string, error) {
	of := r.names(kept)
	body, err := fill(step.Body, of)
	if err != nil {
		return "", err
	}

	var expect expectation
	text, err := fill(step.Expect, of)
	if err == nil {
		err = json.Unmarshal(text, &expect)
	}

	if err != nil {
		return "", fmt.Errorf("expect: %w", err)
	}

	for try := 0; ; try++ {
		status, reply, err := r.send(ctx, step.Op, body)
		if err != nil {
			return "", err
		}

		a := newAnswer(status, reply)
		if name, ok := at(a.body, "TableDescription.TableName"); ok && step.Op == "CreateTable" {
			r.own[fmt.Sprint(name)] = true
		}

		why := expect.differs(a)
		if why == "" {
			return keep(step, a, kept), nil
		}
		if try == step.Retries {
			return why, nil
		}
		if err := r.wait(ctx); err != nil {
			return "", err
		}
	}
}

func keep(step Step, a answer, kept map[string]any) string {
	for name, path := range step.Keep {
		value, ok := at(a.body, path)
		if !ok {
			return path + ": missing"
		}
		kept[name] = value
	}
	return ""
}

func (r *Runner) wait(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(r.Pause):
		return nil
	}
}

func (r *Runner) names(kept map[string]any) names {
	return func(kind, name string) (any, bool) {
		switch kind {
		case "kept:":
			value, ok := kept[name]
			return value, ok
		case "new:":
			return r.table("new_" + name), true
		}
		_, ok := r.defs[name]
		return r.table(name), ok
	}
}

func (r *Runner) table(name string) string { return "fact_" + r.id + "_" + name }

// make makes a shared table, once. It returns why the endpoint refused, if it did.
func (r *Runner) make(ctx context.Context, name string) (refused string, err error) {
	refused, done := r.made[name]
	if done {
		return refused, nil
	}
	if refused, err = r.create(ctx, name); err == nil {
		r.made[name] = refused
	}
	return refused, err
}

func (r *Runner) create(ctx context.Context, name string) (refused string, err error) {
	def, ok := r.defs[name]
	if !ok {
		return "", fmt.Errorf("table %s is not defined", name)
	}

	table := r.table(name)
	body := map[string]any{"TableName": table}
	for member, value := range def {
		body[member] = value
	}

	if a, err := r.ask(ctx, "CreateTable", body); err != nil {
		return "", err
	} else if a.status != 200 {
		return fmt.Sprintf("table %s: %d %s: %s", name, a.status, a.kind, a.message), nil
	}

	for {
		a, err := r.ask(ctx, "DescribeTable", map[string]any{"TableName": table})
		if err != nil {
			return "", err
		}
		if status, _ := at(a.body, "Table.TableStatus"); status == "ACTIVE" {
			return "", nil
		}
		if err := r.wait(ctx); err != nil {
			return "", err
		}
	}
}

func (r *Runner) ask(ctx context.Context, op string, body any) (answer, error) {
	text, err := json.Marshal(body)
	if err != nil {
		return answer{}, err
	}
	status, reply, err := r.send(ctx, op, text)
	return newAnswer(status, reply), err
}

// Close deletes the tables that facts share.
func (r *Runner) Close(ctx context.Context) error {
	for name := range r.made {
		r.own[r.table(name)] = true
	}
	return r.drop(ctx)
}

// drop deletes tables. A table that does not exist any more is not an error.
func (r *Runner) drop(ctx context.Context) error {
	for table := range r.own {
		if _, err := r.ask(ctx, "DeleteTable", map[string]any{"TableName": table}); err != nil {
			return err
		}
	}
	clear(r.own)
	return nil
}
