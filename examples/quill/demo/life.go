package demo

import (
	"context"
	"errors"
	"net/http"
	"sync"
)

// Life is a process as others see it: its requests, up to the one at which it ends.
// Later requests go nowhere.
type Life struct {
	end     int
	after   bool
	context context.Context
	stop    context.CancelFunc

	mu   sync.Mutex
	sent int
}

// NewLife is the life of a process that ends at its nth request, from 1: before it is
// sent, or after it has taken effect. With 0 it does not end.
func NewLife(ctx context.Context, nth int, after bool) *Life {
	l := &Life{end: nth, after: after}
	l.context, l.stop = context.WithCancel(ctx)
	return l
}

// Context ends with the process.
func (l *Life) Context() context.Context { return l.context }

// Over reports whether the process has ended.
func (l *Life) Over() bool { return l.context.Err() != nil }

// Sent is how many requests it has made.
func (l *Life) Sent() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.sent
}

var errOver = errors.New("demo: the process has ended")

// next counts a request, and says whether it is sent and its reply read.
func (l *Life) next() (sent, read bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.sent++
	if l.end == 0 || l.sent < l.end {
		return true, true
	}
	return l.sent == l.end && l.after, false
}

// Transport carries the requests of a process.
type Transport struct {
	*Life
	Next interface {
		Do(*http.Request) (*http.Response, error)
	}
}

// Do sends a request of a DynamoDB client.
func (t Transport) Do(r *http.Request) (*http.Response, error) {
	sent, read := t.next()
	if read {
		return t.Next.Do(r)
	}
	if sent {
		if response, err := t.Next.Do(r); err == nil {
			response.Body.Close()
		}
	} else if r.Body != nil {
		r.Body.Close()
	}
	t.stop()
	return nil, errOver
}

// RoundTrip sends a request of an http.Client.
func (t Transport) RoundTrip(r *http.Request) (*http.Response, error) { return t.Do(r) }

// Direct carries the requests of an http.RoundTripper.
type Direct struct{ http.RoundTripper }

// Do sends the request.
func (d Direct) Do(r *http.Request) (*http.Response, error) { return d.RoundTrip(r) }
