package run

import (
	"bufio"
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/homeops/ddbpatterns/examples/internal/serving"
)

// One connection more than allowed is not refused: it is served when another ends.
// The server ends although one waits.
func TestConnectionsAreBounded(t *testing.T) {
	t.Parallel()
	server := serving.Server(http.NotFoundHandler(), time.Minute, slog.New(slog.DiscardHandler))
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- server.Serve(bound(server, listener, 2)) }()
	ask := func(within time.Duration) (net.Conn, error) {
		conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conn.Close() }) // not earlier, by the garbage collector
		fmt.Fprint(conn, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
		return conn, answer(conn, within)
	}
	var open []net.Conn
	for range 2 {
		conn, err := ask(patience)
		if err != nil {
			t.Fatal(err)
		}
		open = append(open, conn)
	}
	third, err := ask(100 * time.Millisecond)
	if err == nil {
		t.Error("a third connection is served")
	}
	open[0].Close()
	if err := answer(third, patience); err != nil {
		t.Errorf("after another has ended: %v", err)
	}
	if _, err := ask(100 * time.Millisecond); err == nil {
		t.Error("another third connection is served")
	}
	ended := make(chan error, 1)
	go func() { ended <- serving.Close(context.WithoutCancel(t.Context()), server, patience) }()
	select {
	case err := <-ended:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(patience / 3): // Shutdown waits for Accept, whatever its context says
		t.Fatal("the end waits until a connection ends by itself")
	}
	if err := <-served; err != http.ErrServerClosed {
		t.Errorf("served: %v", err)
	}
}

// answer reads the answer to a request.
func answer(conn net.Conn, within time.Duration) error {
	_ = conn.SetReadDeadline(time.Now().Add(within))
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return err
	}
	return response.Body.Close()
}
