package histories_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/internal/network"
)

// row is a stored item.
type row = map[string]types.AttributeValue

// carrier carries a caller's requests when the world says so.
type carrier struct {
	w      *world
	caller *caller
}

// flight is an attempt of a request on its way.
type flight struct {
	network.Request
	part    *part
	born    time.Time // the earliest time at which it was made
	landed  chan reply
	arrived *arrival
}

// arrival is the arrival of a request at the server.
type arrival struct {
	network.Reply
	flight *flight
	step   int64
	at     time.Time
	row    row // what a write left; nil if it wrote nothing
}

type reply struct {
	network.Reply
	lost bool
}

func (n carrier) Do(r *http.Request) (*http.Response, error) {
	sent, err := network.Of(r)
	if err != nil {
		return nil, err
	}
	f := &flight{Request: sent, part: n.caller.current(), landed: make(chan reply, 1)}
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
			return nil, network.ErrLost
		}
		return reply.Response(), nil
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

func (f *flight) String() string {
	return fmt.Sprintf("%s of caller %d's %v", f.Op, f.part.caller.id, f.part.in)
}

// writes reports whether the request may change something.
func (f *flight) writes() bool { return f.Op != "GetItem" && f.Op != "Query" }

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
			w.land(f, reply{Reply: conflict(f)})
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
	w.land(f, reply{a.Reply, chance(m.loseReply)})
}

// land gives the caller its reply.
func (w *world) land(f *flight, r reply) {
	w.mu.Lock()
	w.leave(f)
	w.mu.Unlock()
	if !r.lost && f.arrived != nil && f.arrived.row != nil && (f.part.op == "" || f.part.op == f.Op) {
		f.part.heard = f.arrived
	}
	f.landed <- r
	if r.Status >= 400 { // the caller may pause before it tries again
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
	transaction := f.Op == "TransactWriteItems" // it answers as before if its token comes again
	erases := f.Op == "BatchWriteItem"          // of several keys
	var stood map[string]row
	if transaction || erases {
		stood = w.rows()
	}
	res, err := f.Arrive(w.server.Transport())
	if err != nil {
		panic(err)
	}
	if res.Status != http.StatusOK && !bytes.Contains(res.Body, []byte("ConditionalCheckFailed")) {
		w.broken = fmt.Sprintf("%v is not a request: %s", f, res.Body)
	}
	a := &arrival{Reply: res, flight: f, step: w.step.Load(), at: w.now}
	if erases {
		after := w.rows()
		for _, key := range slices.Sorted(maps.Keys(stood)) {
			if after[key] == nil {
				w.happened(key, erasure{}, nil)
			}
		}
	} else if res.Status == http.StatusOK && f.writes() {
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

func conflict(f *flight) network.Reply {
	var in struct{ TransactItems []any }
	if err := json.Unmarshal(f.Body, &in); err != nil {
		panic(err)
	}
	return network.Conflict(f.Op == "TransactWriteItems", len(in.TransactItems), 0)
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
