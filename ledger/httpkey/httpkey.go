package httpkey

import (
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/check"
	"github.com/homeops/ddbpatterns/ledger"
)

const pkg = "httpkey"

// Config of Keys. The zero Config works.
type Config struct {
	// Timeout is how long the handler may take until its context ends. A handler that
	// has still not answered 5 seconds later is given up: the client gets 503, the
	// attempt counts, and the next request runs the handler again, perhaps beside the
	// one that hangs. Defaults to 30 seconds.
	Timeout time.Duration

	// Keep reports whether an answer of this status is stored and sent to every request
	// with the key. An answer that is not stored is sent, and the next request runs the
	// handler again; a 5xx counts as an attempt, another status does not. By default,
	// all answers are stored except 401, 408, 425, 429 and 5xx.
	Keep func(status int) bool

	// Headers names more headers that are stored. Set-Cookie, Date and those of a
	// single connection are refused.
	Headers []string

	// ReadFirst reads the row before the key is claimed, for clients that repeat most
	// of their requests: see [ledger.Request]. Defaults to false.
	ReadFirst bool
}

// defaults are the headers that are always stored. A body without its Content-Encoding
// could not be read.
var defaults = []string{"Content-Type", "Content-Encoding", "Content-Location", "Etag", "Location"}

// never are the headers that belong to one answer only.
var never = []string{
	"Set-Cookie", "Date", "Connection", "Content-Length", "Keep-Alive", "Proxy-Authenticate", "Proxy-Connection",
	"Te", "Trailer", "Transfer-Encoding", "Upgrade", replayed,
}

// keep is the default of Config.Keep: what an answer says of this moment, or of who
// asked, may be another one next time.
func keep(status int) bool {
	switch status {
	case http.StatusUnauthorized, http.StatusRequestTimeout, http.StatusTooEarly, http.StatusTooManyRequests:
		return false
	}
	return status < 500
}

// Keys makes handlers whose answers are stored in a ledger. It is safe for concurrent
// use.
type Keys struct {
	answers *ledger.Store
	caller  func(*http.Request) string
	cfg     Config
	stored  []string // headers
}

// New returns Keys that store answers in the ledger. caller returns who the request was
// authenticated for, as an opaque id: the same key of two callers is two keys. A request
// of an empty caller gets 401. A nil Config works.
func New(answers *ledger.Store, caller func(*http.Request) string, cfg *Config) (*Keys, error) {
	k := &Keys{answers: answers, caller: caller, stored: slices.Clone(defaults)}
	if cfg != nil {
		k.cfg = *cfg
	}
	if k.cfg.Timeout == 0 {
		k.cfg.Timeout = 30 * time.Second
	}
	if k.cfg.Keep == nil {
		k.cfg.Keep = keep
	}
	switch {
	case answers == nil:
		return nil, event.BadInput(pkg, "answers", "must not be nil")
	case caller == nil:
		return nil, event.BadInput(pkg, "caller", "must not be nil: the same key of two callers would be one key")
	case k.cfg.Timeout < 0:
		return nil, event.BadInput(pkg, "Config.Timeout", fmt.Sprintf("must not be negative, is %v", k.cfg.Timeout))
	}
	for i, name := range k.cfg.Headers {
		field := fmt.Sprintf("Config.Headers[%d]", i)
		if err := check.Text(pkg, field, name); err != nil {
			return nil, err
		}
		canonical := http.CanonicalHeaderKey(name)
		if canonical == "" || slices.Contains(never, canonical) {
			return nil, event.BadInput(pkg, field, fmt.Sprintf("must be a header that can be sent again, is %q", name))
		}
		k.stored = append(k.stored, canonical)
	}
	return k, nil
}
