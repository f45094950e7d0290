// Command dynamotest serves an in-memory DynamoDB on a port, for SDKs of any
// language:
//
//	go run github.com/homeops/ddbpatterns/dynamotest/cmd/dynamotest -addr 127.0.0.1:8000
//
// It asks for no account and keeps nothing. Unless told otherwise it listens
// on the loopback interface only.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/homeops/ddbpatterns/dynamotest"
)

func main() {
	addr := flag.String("addr", "127.0.0.1:8000", "address to listen on")
	sweep := flag.Duration("ttl", time.Minute, "how often expired items are deleted; 0 is never")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := serve(ctx, *addr, *sweep, func(url string) { fmt.Println("dynamotest: listening on", url) }); err != nil {
		fmt.Fprintln(os.Stderr, "dynamotest:", err)
		os.Exit(1)
	}
}

// serve answers until the context ends, then finishes what is under way.
func serve(ctx context.Context, addr string, sweep time.Duration, ready func(url string)) error {
	db := dynamotest.NewServer(nil)
	listener, err := net.Listen("tcp", addr)
	if err != nil {
		return err
	}
	server := &http.Server{
		Handler:           db.Handler(),
		ReadHeaderTimeout: 10 * time.Second,
		ReadTimeout:       time.Minute,
		WriteTimeout:      time.Minute,
		IdleTimeout:       5 * time.Minute,
	}
	if sweep > 0 {
		go expire(ctx, db, sweep)
	}
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(listener) }()
	ready("http://" + listener.Addr().String())
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	deadline, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	if err := server.Shutdown(deadline); err != nil && !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

func expire(ctx context.Context, db *dynamotest.Server, every time.Duration) {
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			db.ExpireTTL()
		}
	}
}
