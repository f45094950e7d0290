package explore

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"maps"
	"net"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/dynamotest/internal/api"
	"github.com/homeops/ddbpatterns/dynamotest/internal/target"
)

// request is a request that waits for the explorer, or an effect of [Process.Do].
type request struct {
	process *Process
	born    time.Time

	op      string // PutItem, …
	header  http.Header
	body    []byte
	targets []target.Target
	heard   []json.RawMessage // the replies to what was cut off and answered already

	effect string // instead of the above
	do     func() error
	begins bool // instead: the life waits for its beginning

	answered chan answer
}

// text is what tells the requests of a caller apart.
func (q *request) text() string { return q.op + q.effect + string(q.body) }

type answer struct {
	status int
	body   []byte
	err    error
}

// errLost is what a caller gets in place of a reply.
var errLost = &net.OpError{Op: "read", Net: "tcp", Err: syscall.ECONNRESET}

// network is the HTTP client of a process.
type network struct {
	w *world
	p *Process
}

func (n *network) Do(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}

	_, op, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	q := &request{process: n.p, op: op, header: r.Header.Clone(), body: inOrder(body), answered: make(chan answer, 1)}
	q.targets = target.Of(target.Decode(op, body), n.w.keyOf)
	got, err := n.w.send(r.Context(), q)
	if err == nil {
		err = got.err
	}

	if err != nil {
		return nil, err
	}
	return &http.Response{
		StatusCode: got.status, Status: http.StatusText(got.status), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{"Content-Type": {"application/x-amz-json-1.0"}},
		Body:   io.NopCloser(bytes.NewReader(got.body)), ContentLength: int64(len(got.body)), Request: r,
	}, nil
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
		w.stop()
	}

	q.born = w.now()
	w.open = append(w.open, q)
	w.wake()
	w.mu.Unlock()

	select {
	case a := <-q.answered:
		return a, nil
	case <-w.over:
		w.stop()
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
		w.wake()
	}

	w.mu.Unlock()
	if dead {
		w.stop()
	}

	if !open {
		return <-q.answered, nil
	}
	return answer{}, ctx.Err()
}

// stop ends the goroutine when the schedule is over.
func (w *world) stop() {
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

	if q.transaction() && a.status == http.StatusOK {
		w.tokens = append(w.tokens, time.Now().String()+string(q.body))
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
	r, err := http.NewRequestWithContext(context.Background(), http.MethodPost, "http://dynamotest.invalid/", bytes.NewReader(q.body))
	if err != nil {
		return answer{err: err}
	}
	r.Header = maps.Clone(q.header)
	response, err := to.Transport().RoundTrip(r)
	if err != nil {
		return answer{err: err}
	}
	body, err := io.ReadAll(response.Body)
	return answer{response.StatusCode, body, err}
}

// reads reports whether the request changes nothing.
func (q *request) reads() bool {
	op := api.OperationNamed(q.op)
	return op.Has(api.Reads) || strings.HasPrefix(q.op, "Describe") || strings.HasPrefix(q.op, "List")
}

// arrives reports whether the request changes something if it arrives late.
func (q *request) arrives() bool { return q.op != "" && !q.reads() }

// transaction reports whether the request is one.
func (q *request) transaction() bool { return api.OperationNamed(q.op).Has(api.Transaction) }

// mayBeOld reports whether the answer may show an earlier state.
func (q *request) mayBeOld() bool {
	switch q.op {
	case "GetItem", "BatchGetItem", "Query", "Scan":
		return !bytes.Contains(q.body, []byte(`"ConsistentRead":true`))
	}
	return false
}

// mayConflict reports whether another request that is under way may be in the
// request's way: a transaction on the item of a write, or a write to an item of a
// transaction.
func (w *world) mayConflict(q *request) bool {
	if !api.OperationNamed(q.op).Has(api.Conflicts) && !q.transaction() {
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
func refusal(status int, code string) answer {
	body, _ := json.Marshal(map[string]string{"__type": "com.amazonaws.dynamodb.v20120810#" + code, "message": "by the explorer"})
	return answer{status: status, body: body}
}

// conflict is the answer to a request that met a transaction.
func (w *world) conflict(q *request) answer {
	if !q.transaction() {
		return refusal(http.StatusBadRequest, "TransactionConflictException")
	}

	reasons := make([]map[string]string, max(len(q.targets), 1))
	for i := range reasons {
		reasons[i] = map[string]string{"Code": "None"}
	}

	at := 0
	for _, o := range w.open {
		if o != q {
			at = max(at, q.meeting(o))
		}
	}

	reasons[at] = map[string]string{"Code": "TransactionConflict", "Message": "Transaction is ongoing for the item"}
	body, _ := json.Marshal(map[string]any{
		"__type":  "com.amazonaws.dynamodb.v20120810#TransactionCanceledException",
		"Message": "Transaction cancelled", "CancellationReasons": reasons,
	})

	return answer{status: http.StatusBadRequest, body: body}
}

// keyOf returns the key attributes of a table of the seeded server.
func (w *world) keyOf(table string) []string { return w.keys[table] }
