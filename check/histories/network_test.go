package histories_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// row is a stored item.
type row = map[string]types.AttributeValue

// network carries a caller's requests when the world says so.
type network struct {
	w      *world
	caller *caller
}

// flight is an attempt of a request on its way.
type flight struct {
	part    *part
	op      string // UpdateItem, …
	header  http.Header
	body    []byte
	born    time.Time // the earliest time at which it was made
	landed  chan reply
	arrived *arrival
}

// arrival is the arrival of a request at the server.
type arrival struct {
	flight *flight
	step   int64
	at     time.Time
	status int
	body   []byte
	row    row // what a write left; nil if it wrote nothing
}

type reply struct {
	status int
	body   []byte
	lost   bool
}

func (n network) Do(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	_, op, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	f := &flight{
		part: n.caller.current(), op: op,
		header: r.Header.Clone(), body: body, landed: make(chan reply, 1),
	}
	w := n.w
	f.born = f.part.began
	if f.part.long {
		f.born = w.clock()
	}
	w.mu.Lock()
	w.sky = append(w.sky, f)
	w.mu.Unlock()
	select {
	case reply := <-f.landed:
		if reply.lost {
			return nil, &net.OpError{Op: "read", Net: "tcp", Err: syscall.ECONNRESET}
		}
		return f.response(reply), nil
	case <-r.Context().Done():
		w.mu.Lock()
		w.leave(f)
		w.mu.Unlock()
		return nil, r.Context().Err()
	}
}

// leave takes a request from the sky, with w.mu held. It may arrive later.
func (w *world) leave(f *flight) {
	w.sky = slices.DeleteFunc(w.sky, func(other *flight) bool { return other == f })
	if f.writes() && !(f.part.once && f.arrived != nil) {
		w.past = append(w.past, f)
	}
}

func (f *flight) response(r reply) *http.Response {
	return &http.Response{
		StatusCode: r.status, Status: http.StatusText(r.status), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{"Content-Type": {"application/x-amz-json-1.0"}}, Body: io.NopCloser(bytes.NewReader(r.body)), ContentLength: int64(len(r.body)),
	}
}

func (f *flight) String() string {
	return fmt.Sprintf("%s of caller %d's %v", f.op, f.part.caller.id, f.part.in)
}

// writes reports whether the request may change something.
func (f *flight) writes() bool { return f.op != "GetItem" && f.op != "Query" }

// stale reports whether the request is too old to arrive: a network does not
// keep requests that long. The clock stands still while the world moves.
func (w *world) stale(f *flight) bool { return w.now.Sub(f.born) > w.story.delay() }

// serve decides what happens to a request, or to the reply if the request has
// arrived.
func (w *world) serve(f *flight) {
	m := w.mood
	if w.calm {
		m = mood{}
	}
	chance := func(percent int) bool { return w.rnd.IntN(100) < percent }
	if f.arrived == nil {
		switch {
		case w.stale(f) || chance(m.loseRequest):
			w.land(f, reply{lost: true})
			return
		case f.writes() && chance(m.conflict):
			w.land(f, reply{status: http.StatusBadRequest, body: conflict(f)})
			return
		}
		a := w.deliver(f)
		w.mu.Lock()
		f.arrived = a
		w.mu.Unlock()
		if chance(m.holdReply) {
			return
		}
	}
	a := f.arrived
	w.land(f, reply{status: a.status, body: a.body, lost: chance(m.loseReply)})
}

// land gives the caller its reply.
func (w *world) land(f *flight, r reply) {
	w.mu.Lock()
	w.leave(f)
	w.mu.Unlock()
	if !r.lost && f.arrived != nil && f.arrived.row != nil && (f.part.op == "" || f.part.op == f.op) {
		f.part.heard = f.arrived
	}
	f.landed <- r
	if r.status >= 400 { // the caller may pause before it tries again
		w.settle(1500 * time.Millisecond)
	}
}

// late delivers an old request, for the first time or again.
func (w *world) late() {
	w.mu.Lock()
	w.past = slices.DeleteFunc(w.past, w.stale)
	past := slices.Clone(w.past)
	w.mu.Unlock()
	if len(past) == 0 {
		return
	}
	f := pick(w.rnd, past)
	rare := slices.DeleteFunc(past, func(f *flight) bool { return !w.story.waited(f) })
	if len(rare) > 0 && w.rnd.IntN(2) == 0 {
		f = pick(w.rnd, rare)
	}
	w.note(f.part.key, "late: %v", f)
	w.deliver(f)
	if f.part.once {
		w.mu.Lock()
		w.past = slices.DeleteFunc(w.past, func(other *flight) bool { return other == f })
		w.mu.Unlock()
	}
}

// deliver lets the request arrive at the server.
func (w *world) deliver(f *flight) *arrival {
	transaction := f.op == "TransactWriteItems" // it answers as before if its token comes again
	erases := f.op == "BatchWriteItem"          // of several keys
	var stood map[string]row
	if transaction || erases {
		stood = w.rows()
	}
	r, err := http.NewRequestWithContext(context.Background(), http.MethodPost, "http://dynamotest.invalid/", bytes.NewReader(f.body))
	if err != nil {
		panic(err)
	}
	r.Header = maps.Clone(f.header)
	res, err := w.server.Transport().RoundTrip(r)
	if err != nil {
		panic(err)
	}
	body, err := io.ReadAll(res.Body)
	if err != nil {
		panic(err)
	}
	if res.StatusCode != http.StatusOK && !bytes.Contains(body, []byte("ConditionalCheckFailed")) {
		w.broken = fmt.Sprintf("%v is not a request: %s", f, body)
	}
	a := &arrival{flight: f, step: w.step.Load(), at: w.now, status: res.StatusCode, body: body}
	if erases {
		after := w.rows()
		for _, key := range slices.Sorted(maps.Keys(stood)) {
			if after[key] == nil {
				w.happened(key, erasure{}, nil)
			}
		}
	} else if res.StatusCode == http.StatusOK && f.writes() {
		after := w.rows()[f.part.key]
		if !transaction || !same(stood[f.part.key], after) {
			a.row = after
			if a.row == nil { // deleted
				a.row = row{}
			}
			w.mu.Lock()
			w.arrivals = append(w.arrivals, a)
			w.mu.Unlock()
		}
	}
	return a
}

func conflict(f *flight) []byte {
	if f.op == "TransactWriteItems" {
		var in struct{ TransactItems []any }
		if err := json.Unmarshal(f.body, &in); err != nil {
			panic(err)
		}
		return []byte(`{"__type":"com.amazonaws.dynamodb.v20120810#TransactionCanceledException","Message":"conflict",` +
			`"CancellationReasons":[{"Code":"TransactionConflict","Message":"conflict"}` + strings.Repeat(`,{"Code":"None"}`, len(in.TransactItems)-1) + `]}`)
	}
	return []byte(`{"__type":"com.amazonaws.dynamodb.v20120810#TransactionConflictException","message":"conflict"}`)
}

// rows returns all rows of the story's first table, by the key of the models. If
// a story's key has several rows, the story gathers them into one.
func (w *world) rows() map[string]row {
	table := w.story.tables()[0].Name
	out, err := w.raw.Scan(context.Background(), &dynamodb.ScanInput{TableName: &table, ConsistentRead: new(true)})
	if err != nil {
		panic(err)
	}
	rows := map[string]row{}
	gatherer, several := w.story.(interface{ gather(all, item row) row })
	for _, item := range out.Items {
		key := w.story.keyOf(item)
		if several {
			item = gatherer.gather(rows[key], item)
		}
		rows[key] = item
	}
	return rows
}
