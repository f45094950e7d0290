package main

import (
	"context"
	"net"
	"sync"
	"time"
)

// A listener keeps the deadlines of its connections itself. net/http sets nine for
// each request, and the runtime's timers for them take a twentieth of the time of a
// small request. The listener checks all deadlines once a second, so a deadline may
// be a second late.
type listener struct {
	*net.TCPListener
	began time.Time // a deadline before it ends its operation at once

	mu   sync.Mutex
	open map[*conn]struct{}
}

// listen returns a listener that keeps deadlines until the context ends.
func listen(ctx context.Context, addr string) (*listener, error) {
	tcp, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, err
	}
	l := &listener{TCPListener: tcp.(*net.TCPListener), began: time.Now(), open: map[*conn]struct{}{}}
	go l.watch(ctx)
	return l, nil
}

func (l *listener) watch(ctx context.Context) {
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-ticker.C:
			l.check(now)
		}
	}
}

// check ends the reads and writes whose deadline is over.
func (l *listener) check(now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for c := range l.open {
		c.read.check(now)
		c.write.check(now)
	}
}

// Accept returns the next connection.
func (l *listener) Accept() (net.Conn, error) {
	tcp, err := l.AcceptTCP()
	if err != nil {
		return nil, err
	}
	c := &conn{TCPConn: tcp, from: l}
	c.read.tell, c.write.tell = tcp.SetReadDeadline, tcp.SetWriteDeadline
	l.mu.Lock()
	defer l.mu.Unlock()
	l.open[c] = struct{}{}
	return c, nil
}

type conn struct {
	*net.TCPConn
	from        *listener
	read, write deadline
}

func (c *conn) SetReadDeadline(at time.Time) error  { return c.read.set(at, c.from.began) }
func (c *conn) SetWriteDeadline(at time.Time) error { return c.write.set(at, c.from.began) }

func (c *conn) SetDeadline(at time.Time) error {
	if err := c.SetReadDeadline(at); err != nil {
		return err
	}
	return c.SetWriteDeadline(at)
}

func (c *conn) Close() error {
	c.from.mu.Lock()
	delete(c.from.open, c)
	c.from.mu.Unlock()
	return c.TCPConn.Close()
}

// A deadline is the deadline of a connection's reads or of its writes.
type deadline struct {
	tell func(time.Time) error // sets the connection's own deadline

	mu   sync.Mutex
	at   time.Time // zero is never
	over bool      // whether the own deadline is set
}

func (d *deadline) set(at, began time.Time) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.at = at
	return d.end(!at.IsZero() && at.Before(began))
}

func (d *deadline) check(now time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.at.IsZero() && d.at.Before(now) {
		_ = d.end(true) // a closed connection has ended
	}
}

// end sets or clears the connection's own deadline, unless that is done
// already.
func (d *deadline) end(over bool) error {
	if over == d.over {
		return nil
	}
	d.over = over
	if over {
		return d.tell(time.Unix(1, 0)) // long ago
	}
	return d.tell(time.Time{})
}
