package powerbi

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// answer is a server's answer.
type answer struct {
	status int
	header http.Header
	body   []byte
	torn   error  // why the body is incomplete
	hidden string // must not appear in an error
}

// definite reports whether the status says that nothing was done. A timeout at the
// server does not say so.
func (a answer) definite() bool {
	return 400 <= a.status && a.status < 500 && a.status != http.StatusRequestTimeout
}

// longestWait bounds the time to wait that a server may ask for.
const longestWait = 24 * time.Hour

// retryAfter is how long the server asks to wait, in seconds or until a date. It is
// 0 if the server does not say.
func (a answer) retryAfter(now time.Time) time.Duration {
	value := a.header.Get("Retry-After")
	var after time.Duration
	if seconds, err := strconv.ParseInt(value, 10, 64); err == nil {
		after = time.Duration(min(seconds, int64(longestWait/time.Second))) * time.Second
	} else if at, err := http.ParseTime(value); err == nil {
		after = at.Sub(now)
	}
	return min(max(after, 0), longestWait)
}

// failure is Power BI's form of an error. Its other fields have words.
type failure struct {
	Code string `json:"code"`
}

// refusal returns the answer as an error.
func (a answer) refusal() *RefusedError {
	var reply struct {
		Error json.RawMessage `json:"error"`
	}
	_ = json.Unmarshal(a.text(), &reply) // another server's answer has no code
	var f failure
	_ = json.Unmarshal(reply.Error, &f)
	return f.refusal(a)
}

func (f failure) refusal(a answer) *RefusedError {
	return &RefusedError{Status: a.status, Code: a.clean(f.Code, 100)}
}

// text returns the body without the byte order mark that executeQueries puts
// before it.
func (a answer) text() []byte { return bytes.TrimPrefix(a.body, []byte("\ufeff")) }

// clean makes a server's words safe to log: on one line, cut, and without
// secrets.
func (a answer) clean(text string, most int) string {
	if a.hidden != "" {
		text = strings.ReplaceAll(text, a.hidden, "<hidden>")
	}
	text = strings.Join(strings.Fields(text), " ")
	if len(text) <= most {
		return text
	}
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return text[:most] + "…"
}
