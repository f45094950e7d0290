package main

import (
	"errors"
	"net"
	"os"
	"testing"
	"time"
)

// connected returns both ends of a connection through a listener, the server's
// first.
func connected(t *testing.T) (*listener, net.Conn, net.Conn) {
	t.Helper()
	l, err := listen(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	client, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	server, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _, _ = l.Close(), client.Close(), server.Close() })
	return l, server, client
}

func TestDeadlines(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		set func(net.Conn, time.Time) error
		do  func(net.Conn) (int, error)
	}{
		"reading":          {net.Conn.SetReadDeadline, read},
		"writing":          {net.Conn.SetWriteDeadline, write},
		"reading, of both": {net.Conn.SetDeadline, read},
		"writing, of both": {net.Conn.SetDeadline, write},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l, server, client := connected(t)
			set := func(at time.Time) {
				t.Helper()
				if err := tt.set(server, at); err != nil {
					t.Fatal(err)
				}
			}
			works := func(when string) {
				t.Helper()
				if _, err := client.Write([]byte("x")); err != nil {
					t.Fatal(err)
				}
				if n, err := tt.do(server); n != 1 || err != nil {
					t.Fatalf("%s: %v", when, err)
				}
			}
			late := func(when string) {
				t.Helper()
				if _, err := tt.do(server); !errors.Is(err, os.ErrDeadlineExceeded) {
					t.Fatalf("%s: %v", when, err)
				}
			}
			now := time.Now()
			set(now.Add(time.Minute))
			l.check(now.Add(time.Minute))
			works("before the deadline")
			l.check(now.Add(time.Minute + 1))
			late("after the deadline")
			set(now.Add(2 * time.Minute))
			works("with a later one")
			set(time.Time{})
			l.check(now.Add(time.Hour))
			works("without one")
			set(time.Unix(1, 0))
			late("with one in the past")
		})
	}
}

func read(c net.Conn) (int, error)  { return c.Read(make([]byte, 1)) }
func write(c net.Conn) (int, error) { return c.Write([]byte("x")) }

// The listener's own ticker ends a read that waits.
func TestDeadlineOfWaitingRead(t *testing.T) {
	t.Parallel()
	_, server, _ := connected(t)
	if err := server.SetReadDeadline(time.Now().Add(time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	if _, err := read(server); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Error(err)
	}
}

func TestClosedConnectionsAreForgotten(t *testing.T) {
	t.Parallel()
	l, server, _ := connected(t)
	if err := server.Close(); err != nil {
		t.Fatal(err)
	}
	l.check(time.Now())
	if l.mu.Lock(); len(l.open) > 0 {
		t.Errorf("%d connections are known", len(l.open))
	}
	l.mu.Unlock()
}
