// Command dynamotest serves a DynamoDB of its own on a port, for SDKs of any
// language:
//
//	go run github.com/homeops/ddbpatterns/dynamotest/cmd/dynamotest -addr 127.0.0.1:8000
//
// It asks for no account. With -data FILE it keeps what it holds in a file, and
// acknowledges nothing that is not on disk: it may be killed at any time.
// Unless told otherwise it listens on the loopback interface only.
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
	data := flag.String("data", "", "file that keeps the data; none by default")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	ready := func(url string) { fmt.Println("dynamotest: listening on", url) }
	if err := serve(ctx, options{addr: *addr, data: *data, sweep: *sweep}, ready); err != nil {
		fmt.Fprintln(os.Stderr, "dynamotest:", err)
		os.Exit(1)
	}
}

type options struct {
	addr  string
	data  string        // the file; "" is none
	sweep time.Duration // how often expired items are deleted
}

// serve answers until the context ends, then finishes what is under way.
func serve(ctx context.Context, opt options, ready func(url string)) (err error) {
	db := dynamotest.NewServer(nil)
	if opt.data != "" {
		if db, err = dynamotest.OpenServer(opt.data, nil); err != nil {
			return err
		}
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	listener, err := net.Listen("tcp", opt.addr)
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
	if opt.sweep > 0 {
		go expire(ctx, db, opt.sweep)
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
