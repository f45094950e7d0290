package httpkey

import (
	"cmp"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/homeops/ddbpatterns/internal/check"
	"github.com/homeops/ddbpatterns/ledger"
)

const (
	pkg      = "httpkey"
	replayed = "Idempotent-Replayed"
	longest  = 255 // characters of a key
)

// Config of Keys. The zero Config works.
type Config struct {
	// Timeout is how long the handler may take until its context ends. A handler that
	// has still not answered 5 seconds later is given up: the client gets 503, the
	// attempt counts, and the next request runs the handler again, perhaps beside the
	// one that hangs. Defaults to 30 seconds.
	Timeout time.Duration

	// Keep reports whether an answer of this status is stored and replayed. An answer
	// that is not stored is sent, and the next request runs the handler again; a 5xx
	// counts as an attempt, another status does not. By default, all answers are stored
	// except 401, 408, 425, 429 and 5xx.
	Keep func(status int) bool

	// Headers names more headers that are stored. Set-Cookie, Date, Content-Length,
	// Idempotent-Replayed and those of a single connection are refused.
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
	"Te", "Trailer", "Transfer-Encoding", "Upgrade", replayed, "",
}

// keep is the default of Config.Keep: what an answer says of this moment, or of who
// asked, may be another one next time.
func keep(status int) bool {
	moment := []int{http.StatusUnauthorized, http.StatusRequestTimeout, http.StatusTooEarly, http.StatusTooManyRequests}
	return status < 500 && !slices.Contains(moment, status)
}

// Keys makes handlers whose answers are stored in a ledger. It is safe for concurrent
// use.
type Keys struct {
	answers *ledger.Store
	caller  func(*http.Request) string
	cfg     Config
}

// New returns Keys that store answers in the ledger. caller returns who the request was
// authenticated for, as an opaque id: the same key of two callers is two keys. A POST,
// PUT, PATCH or DELETE of an empty caller, "", gets 401. A nil Config works.
func New(answers *ledger.Store, caller func(*http.Request) string, cfg *Config) (*Keys, error) {
	cfg = cmp.Or(cfg, new(Config))
	k := &Keys{answers: answers, caller: caller, cfg: *cfg}
	k.cfg.Headers = slices.Clone(defaults)
	k.cfg.Timeout = cmp.Or(cfg.Timeout, 30*time.Second)
	if k.cfg.Keep == nil {
		k.cfg.Keep = keep
	}

	err := cmp.Or(check.NotNil(pkg, "answers", answers),
		check.Refuse(pkg, "caller", caller == nil, "must not be nil: the same key of two callers would be one key"),
		check.Refuse(pkg, "Config.Timeout", k.cfg.Timeout < 0 || k.cfg.Timeout > 24*time.Hour, fmt.Sprintf("must be at most 24 hours and not negative, is %v", k.cfg.Timeout)))

	for i, name := range cfg.Headers {
		canonical := http.CanonicalHeaderKey(name)
		bad := slices.Contains(never, canonical) || strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r > '~' || r == ':' })
		err = cmp.Or(err, check.Refuse(pkg, fmt.Sprintf("Config.Headers[%d]", i), bad, fmt.Sprintf("must be a header that can be sent again, is %q", name)))
		k.cfg.Headers = append(k.cfg.Headers, canonical)
	}

	if err != nil {
		return nil, err
	}
	return k, nil
}

// form is a string of RFC 9651 without parameters, which the header has none of, or a
// bare key of visible characters. A comma does not belong to a bare key: a proxy has
// joined two.
var form = regexp.MustCompile(`^ *(?:"((?:[ !#-\[\]-~]|\\["\\])+)"|([!#-+\--~]+)) *$`)

var unescape = strings.NewReplacer(`\\`, `\`, `\"`, `"`)

// keyOf returns the request's key, and what is wrong with it otherwise.
func keyOf(h http.Header) (key, wrong string) {
	values := h.Values("Idempotency-Key")
	if len(values) != 1 {
		return "", "The request must have one header Idempotency-Key."
	}
	parts := form.FindStringSubmatch(values[0])
	if parts != nil {
		key = unescape.Replace(parts[1]) + parts[2]
	}
	if key == "" || len(key) > longest {
		return "", "The Idempotency-Key must have 1 to 255 characters: a string in double quotes, or visible ASCII without quotes and commas."
	}
	return key, ""
}
