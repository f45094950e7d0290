// Command faulty serves a dynamotest for each given name. Each disturbs
// requests that clients must send again, or must report as a particular error.
// The command prints the servers' addresses and, when it is interrupted, the
// faults that never fired.
package main

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/signal"
	"strings"
	"sync/atomic"
	"syscall"

	"github.com/homeops/ddbpatterns/dynamotest"
)

// faults of the server. A client must retry after the first four, so that each
// disturbs another call.
var faults = []dynamotest.Fault{
	{Do: dynamotest.Throttle, Op: "UpdateItem", Nth: 1},
	{Do: dynamotest.InternalError, Op: "UpdateItem", Nth: 3},
	{Do: dynamotest.Unavailable, Op: "UpdateItem", Nth: 5},
	{Do: dynamotest.Unprocessed.Last(10), Op: "BatchWriteItem"},
	{Do: dynamotest.Conflict, Op: "DeleteItem"},
	{Do: dynamotest.Conflict, Op: "TransactWriteItems"},
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	var servers []*dynamotest.Server
	var where strings.Builder

	for _, name := range os.Args[1:] {
		server := dynamotest.NewServer(nil)
		for _, f := range faults {
			server.Tap().Inject(f)
		}
		servers = append(servers, server)
		fmt.Fprintln(&where, name, httptest.NewServer(onTheWay(server.Handler())).URL)
	}

	fmt.Print(where.String())
	<-ctx.Done()

	failed := 0
	for i, server := range servers {
		for _, idle := range server.Tap().Heal() {
			failed++
			fmt.Fprintf(os.Stderr, "faulty: %s: %s\n", os.Args[i+1], idle)
		}
	}

	if failed > 0 {
		os.Exit(1)
	}
}

// onTheWay spoils the reply of the first GetItem, so that its checksum is
// wrong, and cuts the connection of the third.
func onTheWay(server http.Handler) http.Handler {
	var reads atomic.Int64
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasSuffix(r.Header.Get("X-Amz-Target"), ".GetItem") {
			server.ServeHTTP(w, r)
			return
		}

		switch reads.Add(1) {
		case 1:
			reply := httptest.NewRecorder()
			server.ServeHTTP(reply, r)
			for name, values := range reply.Header() {
				w.Header()[name] = values
			}
			_, _ = w.Write([]byte(strings.Replace(reply.Body.String(), `"3"`, `"4"`, 1)))
		case 3:
			panic(http.ErrAbortHandler)
		default:
			server.ServeHTTP(w, r)
		}
	})
}
