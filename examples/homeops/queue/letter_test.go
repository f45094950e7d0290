package queue_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/homeops/ddbpatterns/examples/homeops/queue"
)

// size is the size of a message with that body and those attributes.
func size(body string, attributes map[string]string) int {
	n := len(body)
	for name, value := range attributes {
		n += len(name) + len(queue.DataType(name)) + len(value)
	}
	return n
}

// judge compares a letter with what it was made of.
func judge(body []byte, attributes map[string]string, reason string, limit int) error {
	given := maps.Clone(attributes)
	text, made := queue.Refusal(body, attributes, reason, limit)
	if !maps.Equal(given, attributes) {
		return fmt.Errorf("the caller's attributes are %v", attributes)
	}
	if size("", made) >= limit { // no room for a body, which has at least one character
		return nil
	}
	if err := queue.Check(text, made, limit); err != nil {
		return fmt.Errorf("the queue refuses it: %w", err)
	}
	letter := queue.Message{Body: text, Attributes: made}
	got, whole := letter.Content()
	if !bytes.HasPrefix(body, got) || whole != (len(got) == len(body)) {
		return fmt.Errorf("holds %d bytes, whole: %t", len(got), whole)
	}
	uncut := maps.Clone(made)
	delete(uncut, queue.FullSize)
	delete(uncut, queue.FullHash)
	if fits := size(base64.StdEncoding.EncodeToString(body), uncut) <= limit; fits && !whole {
		return errors.New("is cut, and would have fit")
	}
	sum := sha256.Sum256(body)
	switch left := limit - size(text, made); {
	case whole && (made[queue.FullSize] != "" || made[queue.FullHash] != ""):
		return fmt.Errorf("is whole, and has the attributes %v", made)
	case !whole && (made[queue.FullSize] != strconv.Itoa(len(body)) || made[queue.FullHash] != hex.EncodeToString(sum[:])):
		return fmt.Errorf("is cut, and has the attributes %v", made)
	case !whole && left >= 4:
		return fmt.Errorf("is cut, and leaves room for %d bytes", left)
	case len(letter.Why()) > 1000 || letter.Why() == "" || !utf8.ValidString(letter.Why()):
		return fmt.Errorf("is dead for %q", letter.Why())
	}
	if back := queue.WithoutReason(made); !maps.Equal(back, given) && len(back)+len(given) > 0 {
		return fmt.Errorf("has the attributes %v without a reason, had %v", back, given)
	}
	return nil
}

// For any bytes, reasons and limits the queue takes the letter if its
// attributes leave room, and the letter holds as much of the body as fits.
func TestRefusal(t *testing.T) {
	t.Parallel()
	for seed := range uint64(5000) {
		r := rand.New(rand.NewPCG(seed, 1))
		body, reason := anything(r, 700), string(anything(r, 1500))
		var attributes map[string]string
		if r.IntN(2) == 0 {
			attributes = map[string]string{queue.ChatID: "-5", queue.MessageID: strconv.Itoa(r.IntN(1000))}
		}
		if err := judge(body, attributes, reason, r.IntN(2000)); err != nil {
			t.Fatalf("seed %d: a letter of %d bytes %v", seed, len(body), err)
		}
	}
}

// anything returns fewer than most bytes: text, broken text, or any bytes.
func anything(r *rand.Rand, most int) []byte {
	var b []byte
	kind := r.IntN(3)
	for n := r.IntN(most); len(b) < n; {
		switch {
		case kind == 0 || kind == 1 && r.IntN(10) == 0:
			b = append(b, byte(r.IntN(256)))
		default:
			b = utf8.AppendRune(b, []rune("aå\n\x00\uFFFE\uFFFF\uFFFD👋")[r.IntN(8)])
		}
	}
	return b
}

// Every size around the one at which a body is cut.
func TestRefusalAroundTheLimit(t *testing.T) {
	t.Parallel()
	_, least := queue.Refusal(nil, nil, "why", 1000)
	_, most := queue.Refusal(make([]byte, 1000), nil, "why", 1000)
	for limit := size("", least); limit <= size("", most)+20; limit++ {
		for n := range 100 {
			body := bytes.Repeat([]byte{byte(n)}, n)
			if err := judge(body, nil, "why", limit); err != nil {
				t.Fatalf("%d bytes, the limit is %d: the letter %v", n, limit, err)
			}
		}
	}
}

func TestWithReason(t *testing.T) {
	t.Parallel()
	for reason, want := range map[string]string{
		"no JSON":                  "no JSON",
		"":                         "unknown",
		"a\x00b\x1f\n\uFFFE\xff":   "a?b?\n??",
		strings.Repeat("x", 1000):  strings.Repeat("x", 1000),
		strings.Repeat("x", 1001):  strings.Repeat("x", 997) + "…",
		strings.Repeat("å", 501):   strings.Repeat("å", 498) + "…",
		strings.Repeat("👋", 251):   strings.Repeat("👋", 249) + "…",
		strings.Repeat("\xff", 10): strings.Repeat("?", 10),
	} {
		if got := queue.WithReason(nil, reason)[queue.Reason]; got != want {
			t.Errorf("%.20q becomes %q, want %q", reason, got, want)
		}
	}
}

// A letter that somebody else made is shown as it is.
func TestContentOfOtherLetters(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		body, encoding string
		want           string
		whole          bool
	}{
		{"hej", "", "hej", true},
		{"aGVq", "base64", "hej", true},
		{"not base64", "base64", "not base64", false},
		{"aGVq", "gzip", "aGVq", false},
	} {
		m := queue.Message{Body: c.body, Attributes: map[string]string{queue.Encoding: c.encoding}}
		if got, whole := m.Content(); string(got) != c.want || whole != c.whole {
			t.Errorf("%q in %q is %q, whole: %t", c.body, c.encoding, got, whole)
		}
	}
}
