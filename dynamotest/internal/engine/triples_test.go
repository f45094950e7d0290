package engine_test

import (
	"fmt"
	"testing"

	"github.com/homeops/ddbpatterns/dynamotest/internal/engine"
	"github.com/homeops/ddbpatterns/dynamotest/internal/wire"
	"github.com/homeops/ddbpatterns/internal/itemtest"
)

// All sequences of three of 22 requests reply, and leave, what the model of two items
// says: from nothing, from two items, and from a token that is spent. DynamoDB Local
// 3.3.1 differs from the model only as tools/differential knows.
func TestAllTriplesAgreeWithTheModel(t *testing.T) {
	t.Parallel()
	for _, start := range [][]int{{}, {0, 8}, {8, 13}} {
		t.Run(fmt.Sprint(start), func(t *testing.T) {
			t.Parallel()
			c := comparison{
				T: t, engine: engine.New(engine.Options{}), requests: itemtest.Requests(false),
				model: map[question]said{}, plain: map[string]string{},
			}
			do(t, c.engine, "CreateTable", itemtest.Table)
			var state itemtest.State
			for _, i := range start {
				state = c.step(state, &c.requests[i])
			}
			c.follow(state, 3)
		})
	}
}

// A comparison of an engine with the model. It remembers what the model has said,
// and how replies are written plainly.
type comparison struct {
	*testing.T
	engine   *engine.Engine
	requests []itemtest.Request
	model    map[question]said
	plain    map[string]string
}

type question struct {
	state   itemtest.State
	request *itemtest.Request
}

type said struct {
	after itemtest.State
	reply string
}

// follow makes every sequence of some requests from a state.
func (c *comparison) follow(state itemtest.State, requests int) {
	from := c.engine.Snapshot()
	for i := range c.requests {
		after := c.step(state, &c.requests[i])
		if requests > 1 {
			c.follow(after, requests-1)
		}
		c.engine.Restore(from)
	}
}

// step makes a request and, if it can write, looks at what it leaves.
func (c *comparison) step(state itemtest.State, q *itemtest.Request) itemtest.State {
	after := c.compare(state, q)
	for i := range itemtest.Look {
		if q.Reads {
			break
		}
		c.compare(after, &itemtest.Look[i])
	}
	return after
}

func (c *comparison) compare(state itemtest.State, q *itemtest.Request) itemtest.State {
	want, ok := c.model[question{state, q}]
	if !ok {
		want.after, want.reply = q.Do(state)
		c.model[question{state, q}] = want
	}
	body, err := itemtest.Send(c.Context(), wire.Transport{Engine: c.engine}, q.Op, q.Body)
	if err != nil {
		c.Fatal(err)
	}
	got, ok := c.plain[string(body)]
	if !ok {
		got = itemtest.Canonical(body)
		c.plain[string(body)] = got
	}
	if got != want.reply {
		c.Fatalf("%s %s\nin    %+v\nreply %s\nwant  %s", q.Op, q.Body, state, got, want.reply)
	}
	return want.after
}
