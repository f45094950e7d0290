package run

import (
	"context"
	"net"
	"net/http"
)

// mostConnections is how many connections the service has at once.
const mostConnections = 1024

// bounded is a listener that has at most so many connections at once. Others wait
// and are not refused, because Aloware does not call again.
type bounded struct {
	net.Listener
	slots  chan struct{}
	open   context.Context
	cancel context.CancelFunc
}

// bound bounds the connections that the server accepts.
func bound(server *http.Server, listener net.Listener, most int) net.Listener {
	b := &bounded{Listener: listener, slots: make(chan struct{}, most)}
	b.open, b.cancel = context.WithCancel(context.Background())
	server.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateClosed { // each connection ends with it: no handler hijacks one
			<-b.slots
		}
	}
	return b
}

// Accept waits until there is room for a connection, and then for one.
func (b *bounded) Accept() (net.Conn, error) {
	select {
	case b.slots <- struct{}{}:
	case <-b.open.Done():
		return nil, net.ErrClosed
	}
	conn, err := b.Listener.Accept()
	if err != nil {
		<-b.slots
	}
	return conn, err
}

// Close ends all waits of Accept.
func (b *bounded) Close() error {
	b.cancel()
	return b.Listener.Close()
}
