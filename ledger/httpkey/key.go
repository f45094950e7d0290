package httpkey

import (
	"net/http"
	"strings"
)

const (
	header   = "Idempotency-Key"
	replayed = "Idempotent-Replayed"
	longest  = 255 // characters of a key
)

// keyOf returns the request's key, and what is wrong with it otherwise.
func keyOf(h http.Header) (key, wrong string) {
	values := h.Values(header)
	switch {
	case len(values) == 0:
		return "", "The header Idempotency-Key is required."
	case len(values) > 1:
		return "", "There must be one Idempotency-Key."
	}
	key, ok := parse(values[0])
	switch {
	case !ok:
		return "", "The Idempotency-Key is malformed: it must be a string in double quotes, or visible ASCII characters without quotes and commas."
	case key == "" || len(key) > longest:
		return "", "The Idempotency-Key must have 1 to 255 characters."
	}
	return key, ""
}

// parse reads a string of RFC 9651 without parameters, which the header has none of, or
// a bare key. A comma does not belong to a bare key: a proxy has joined two.
func parse(value string) (key string, ok bool) {
	value = strings.Trim(value, " ")
	if !strings.HasPrefix(value, `"`) {
		bad := func(r rune) bool { return r <= ' ' || r > '~' || r == '"' || r == ',' }
		return value, !strings.ContainsFunc(value, bad)
	}
	var b strings.Builder
	for i := 1; i < len(value); i++ {
		switch c := value[i]; {
		case c == '"':
			return b.String(), i == len(value)-1
		case c == '\\':
			i++
			if i == len(value) || value[i] != '"' && value[i] != '\\' {
				return "", false
			}
			b.WriteByte(value[i])
		case c < ' ' || c > '~':
			return "", false
		default:
			b.WriteByte(c)
		}
	}
	return "", false
}
