package histories_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/internal/itemtest"
)

// Requests to dynamotest from goroutines that run side by side have an order. These
// histories do not follow from their seeds.
func TestServer(t *testing.T) {
	t.Parallel()
	seeded := twoItems(t)
	beside := 0
	for n := range *count {
		ops := sideBySide(t, *first+uint64(n), seeded.Fork().Transport())
		for i, op := range ops {
			for _, other := range ops[:i] {
				if op.Call < other.Return && other.Call < op.Return {
					beside++
				}
			}
		}
		if !porcupine.CheckOperations(twoItemsModel, ops) {
			t.Fatalf("no order of requests gives these replies: after %d histories\n%s", n+1, listed(ops))
		}
	}
	if t.Logf("%d histories, %d pairs of requests side by side", *count, beside); beside < *count {
		t.Error("the requests came one after the other")
	}
}

// A server that loses a write to one beside it has no order.
func TestAWrongServerIsNoticed(t *testing.T) {
	t.Parallel()
	for n := range uint64(200) {
		server := twoItems(t)
		ops := sideBySide(t, n, roundTrip(func(r *http.Request) (*http.Response, error) {
			own := server.Fork()
			runtime.Gosched()
			defer func() { server.Restore(own.Snapshot()) }()
			return own.Transport().RoundTrip(r)
		}))
		if !porcupine.CheckOperations(twoItemsModel, ops) {
			return
		}
	}
	t.Error("not noticed in 200 histories")
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// twoItems returns a server with the table of the model.
func twoItems(t *testing.T) *dynamotest.Server {
	server := dynamotest.NewServer(nil)
	if reply := ask(t, server.Transport(), "CreateTable", itemtest.Table); !strings.Contains(reply, "ACTIVE") {
		t.Fatal(reply)
	}
	return server
}

// twoItemsModel has the two items as one object, because of the transactions.
var twoItemsModel = porcupine.Model{
	Init: func() any { return itemtest.State{} },
	Step: func(state, in, out any) (bool, any) {
		next, reply := in.(itemtest.Request).Do(state.(itemtest.State))
		return reply == out, next
	},
}

// mixedRequests have conditions that take a while, and others.
var mixedRequests = append(itemtest.Requests(true), itemtest.Requests(false)...)

// sideBySide makes a history of eight callers that begin at once, with five requests
// each, and then looks at what is left.
func sideBySide(t *testing.T, seed uint64, to http.RoundTripper) (ops []porcupine.Operation) {
	const callers, calls = 8, 5
	began := time.Now()
	send := func(caller int, q itemtest.Request) porcupine.Operation {
		op := porcupine.Operation{ClientId: caller, Input: q, Call: int64(time.Since(began))}
		op.Output = ask(t, to, q.Op, q.Body)
		op.Return = int64(time.Since(began))
		return op
	}
	ops = make([]porcupine.Operation, callers*calls)
	start := make(chan struct{})
	var all sync.WaitGroup
	for caller := range callers {
		all.Go(func() {
			rnd := rand.New(rand.NewPCG(seed, uint64(caller)))
			<-start
			for i := range calls {
				ops[caller*calls+i] = send(caller, mixedRequests[rnd.IntN(len(mixedRequests))])
			}
		})
	}
	close(start)
	all.Wait()
	for _, look := range itemtest.Look {
		ops = append(ops, send(callers, look))
	}
	return ops
}

func ask(t *testing.T, to http.RoundTripper, op, body string) string {
	reply, err := itemtest.Send(t.Context(), to, op, body)
	if err != nil {
		t.Error(err)
	}
	return itemtest.Canonical(reply)
}

// listed writes the requests of each caller, with their times in microseconds.
func listed(ops []porcupine.Operation) string {
	var b strings.Builder
	for _, op := range ops {
		q := op.Input.(itemtest.Request)
		body, _, _ := strings.Cut(q.Body, `":long"`)
		fmt.Fprintf(&b, "caller %d  %d-%d  %s %s\n    %v\n", op.ClientId, op.Call/1000, op.Return/1000, q.Op, body, op.Output)
	}
	return b.String()
}
