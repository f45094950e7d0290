package explore

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/dynamotest/internal/api"
	"github.com/homeops/ddbpatterns/dynamotest/internal/target"
	"github.com/homeops/ddbpatterns/internal/network"
)

// request is a request that waits for the explorer, or an effect of [Process.Do].
type request struct {
	process *Process
	born    time.Time
	network.Request
	targets []target.Target
	heard   []json.RawMessage // the replies to what was cut off and answered already

	effect string // instead of the above
	do     func() error
	begins bool // instead: the life waits for its beginning

	answered chan answer
}

// text is what tells the requests of a caller apart.
func (q *request) text() string { return q.Op + q.effect + string(q.Body) }

type answer struct {
	network.Reply
	err error
}

// client is the HTTP client of a process.
type client struct {
	w *world
	p *Process
}

func (c *client) Do(r *http.Request) (*http.Response, error) {
	sent, err := network.Of(r)
	if err != nil {
		return nil, err
	}

	sent.Body = inOrder(sent.Body)
	q := &request{process: c.p, Request: sent, answered: make(chan answer, 1)}
	q.targets = target.Of(target.Decode(q.Op, q.Body), c.w.keyOf)
	got, err := c.w.send(r.Context(), q)
	if err == nil {
		err = got.err
	}

	if err != nil {
		return nil, err
	}
	return got.Response(), nil
}

// inOrder returns the same JSON with sorted names, because the SDK writes maps in
// random order.
func inOrder(body []byte) []byte {
	in := json.NewDecoder(bytes.NewReader(body))
	in.UseNumber()
	var value any
	if in.Decode(&value) != nil {
		return body
	}
	sorted, err := json.Marshal(value)
	if err != nil {
		return body
	}
	return sorted
}

// send parks the goroutine until the explorer answers the request. The goroutine of a
// process that has died stays until the schedule is over, so that no deferred
// function runs before.
func (w *world) send(ctx context.Context, q *request) (answer, error) {
	p := q.process
	w.mu.Lock()
	if p.dead || w.done {
		w.mu.Unlock()
		w.endGoroutine()
	}

	q.born = w.now()
	w.open = append(w.open, q)
	w.wake()
	w.mu.Unlock()

	select {
	case a := <-q.answered:
		return a, nil
	case <-w.over:
		w.endGoroutine()
	case <-ctx.Done():
	}

	w.mu.Lock()
	dead, open := p.dead || w.done, slices.Contains(w.open, q)
	if !dead && open {
		w.remove(q)
		if q.arrives() {
			w.later = append(w.later, late{q, faultLate})
		}
		p.caller.learn(w.now(), "gave up", q, answer{})
		p.caller.gaveUp = p.caller.gaveUp || errors.Is(ctx.Err(), context.DeadlineExceeded)
		w.wake()
	}

	w.mu.Unlock()
	if dead {
		w.endGoroutine()
	}

	if !open {
		return <-q.answered, nil
	}
	return answer{}, ctx.Err()
}

// endGoroutine waits until the schedule is over, and ends the calling goroutine.
func (w *world) endGoroutine() {
	<-w.over
	runtime.Goexit()
}

// remove takes a request from those that wait, with w.mu held.
func (w *world) remove(q *request) {
	w.open = slices.DeleteFunc(w.open, func(other *request) bool { return other == q })
}

// serve lets the request take effect.
func (w *world) serve(q *request) answer {
	if q.effect != "" {
		w.mu.Lock()
		w.effects[q.effect]++
		w.mu.Unlock()
		var err error
		if q.do != nil {
			err = q.do()
		}
		w.check()
		return answer{err: err}
	}

	a := w.perform(w.server, q)
	if q.reads() {
		return q.join(a)
	}

	if q.transaction() && a.Status == http.StatusOK {
		w.tokens = append(w.tokens, time.Now().String()+string(q.Body))
		slices.Sort(w.tokens)
	}

	if w.look() {
		w.check()
	}

	if w.left(faultTwice) {
		w.later = append(w.later, late{q, faultTwice})
	}
	return q.join(a)
}

// perform sends the request to a server.
func (w *world) perform(to *dynamotest.Server, q *request) answer {
	reply, err := q.Arrive(to.Transport())
	return answer{reply, err}
}

// reads reports whether the request changes nothing.
func (q *request) reads() bool {
	op := api.OperationNamed(q.Op)
	return op.Has(api.Reads) || strings.HasPrefix(q.Op, "Describe") || strings.HasPrefix(q.Op, "List")
}

// arrives reports whether the request changes something if it arrives late.
func (q *request) arrives() bool { return q.Op != "" && !q.reads() }

// transaction reports whether the request is one.
func (q *request) transaction() bool { return api.OperationNamed(q.Op).Has(api.Transaction) }

// mayBeOld reports whether the answer may show an earlier state.
func (q *request) mayBeOld() bool {
	switch q.Op {
	case "GetItem", "BatchGetItem", "Query", "Scan":
		return !bytes.Contains(q.Body, []byte(`"ConsistentRead":true`))
	}
	return false
}

// mayConflict reports whether another request that is under way may be in the
// request's way: a transaction on the item of a write, or a write to an item of a
// transaction.
func (w *world) mayConflict(q *request) bool {
	if !api.OperationNamed(q.Op).Has(api.Conflicts) && !q.transaction() {
		return false
	}
	if w.cfg.Faults.AnyConflict {
		return true
	}
	return slices.ContainsFunc(w.open, func(o *request) bool { return o != q && q.meets(o) }) ||
		slices.ContainsFunc(w.later, func(l late) bool { return l.costs != faultTwice && l.request != q && q.meets(l.request) })
}

func (q *request) meets(o *request) bool { return q.meeting(o) >= 0 }

// meeting returns which of the request's items the other is about, or -1.
func (q *request) meeting(o *request) int {
	if !q.transaction() && !o.transaction() || q.reads() && o.reads() {
		return -1
	}
	return slices.IndexFunc(q.targets, func(a target.Target) bool {
		return slices.ContainsFunc(o.targets, func(b target.Target) bool { return a.Table == b.Table && a.Key.Equal(b.Key) })
	})
}

// refusal is an answer with an error of DynamoDB.
func refusal(status int, kind string) answer { return answer{Reply: network.Refusal(status, kind)} }

// conflict is the answer to a request that met a transaction.
func (w *world) conflict(q *request) answer {
	at := 0
	for _, o := range w.open {
		if o != q {
			at = max(at, q.meeting(o))
		}
	}
	return answer{Reply: network.Conflict(q.transaction(), len(q.targets), at)}
}

// keyOf returns the key attributes of a table of the seeded server.
func (w *world) keyOf(table string) []string { return w.keys[table] }
