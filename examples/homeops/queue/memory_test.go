package queue_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/homeops/ddbpatterns/examples/homeops/queue"
	"github.com/homeops/ddbpatterns/examples/homeops/queue/queuetest"
)

func receive(t *testing.T, q queue.Queue) queue.Message {
	t.Helper()
	batch, err := q.Receive(t.Context(), 1, 0)
	if err != nil || len(batch) != 1 {
		t.Fatalf("Receive = %v, %v", batch, err)
	}
	return batch[0]
}

func send(t *testing.T, q queue.Queue, body string) {
	t.Helper()
	if _, err := q.Send(t.Context(), body, map[string]string{queue.ChatID: "-1"}); err != nil {
		t.Fatal(err)
	}
}

func TestSuite(t *testing.T) {
	t.Parallel()
	queuetest.Run(t, queuetest.Backend{Bubble: true, New: func(_ *testing.T, s queuetest.Settings) queue.Queue {
		return queue.NewMemory(queue.Config{Visibility: s.Visibility, MaxReceives: s.MaxReceives, MaxBytes: s.MaxBytes})
	}})
}

// A message that dies in any way is logged: who wrote it and why it died, but
// not its text.
func TestDeadLettersAreLogged(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var log strings.Builder
		q := queue.NewMemory(queue.Config{Log: slog.New(slog.NewTextHandler(&log, nil))})
		if err := q.Refuse(t.Context(), []byte("{private"), map[string]string{queue.ChatID: "-5", queue.MessageID: "7"}, "no JSON"); err != nil {
			t.Fatal(err)
		}
		send(t, q, "private")
		for range queue.MaxReceives {
			receive(t, q)
			time.Sleep(queue.Visibility) // in the bubble
		}
		if _, err := q.Receive(t.Context(), 1, 0); err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(log.String(), "\n")
		if len(lines) != 3 || len(q.Dead()) != 2 {
			t.Fatalf("%d dead, logged %q", len(q.Dead()), lines)
		}
		for i, want := range []string{
			`msg="dead letter" delivery=m-1 chat_id=-5 message_id=7 receives=0 bytes=8 reason="no JSON"`,
			`msg="dead letter" delivery=m-2 chat_id=-1 message_id="" receives=3 bytes=7 reason="no reason, 3 receives"`,
		} {
			if !strings.Contains(lines[i], want) || strings.Contains(lines[i], "private") {
				t.Errorf("logged %s, want %s", lines[i], want)
			}
		}
	})
}

// A waiting receiver gets the message when its time has come, not earlier or
// later.
func TestReceiveWaitsForARelease(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := queue.NewMemory(queue.Config{})
		send(t, q, "hej")
		if err := q.Release(t.Context(), receive(t, q).Receipt, 5*time.Second); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		batch, err := q.Receive(t.Context(), 1, 20*time.Second)
		if err != nil || len(batch) != 1 || time.Since(began) != 5*time.Second {
			t.Errorf("%d after %v, %v", len(batch), time.Since(began), err)
		}
		var wg sync.WaitGroup
		wg.Go(func() { // somebody else gives it back meanwhile
			if again, err := q.Receive(t.Context(), 1, 20*time.Second); err != nil || len(again) != 1 || again[0].Receives != 3 {
				t.Errorf("%+v, %v", again, err)
			}
		})
		synctest.Wait()
		if err := q.Release(t.Context(), batch[0].Receipt, 0); err != nil {
			t.Fatal(err)
		}
		wg.Wait()
		if time.Since(began) != 5*time.Second {
			t.Errorf("woke after %v", time.Since(began))
		}
	})
}

// A message's size is that of its body, and of its attributes' names, types
// and values.
func TestCheckCountsBytes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		body       string
		attributes map[string]string
		size       int
	}{
		{"hej", nil, 3},
		{"åäö", nil, 6},
		{"👋", map[string]string{queue.ChatID: "-5"}, 4 + len("chatIdString-5")},
		{"x", map[string]string{queue.MessageID: "77"}, 1 + len("telegramMessageIdNumber77")},
		{"x", map[string]string{queue.FullSize: "9", queue.Reason: "å"}, 1 + len("bytesNumber9") + len("reasonStringå")},
	} {
		if err := queue.Check(c.body, c.attributes, c.size); err != nil {
			t.Errorf("%q with %v: %v", c.body, c.attributes, err)
		}
		err := queue.Check(c.body, c.attributes, c.size-1)
		if large, ok := errors.AsType[*queue.TooLargeError](err); !ok || large.Size != c.size || large.Limit != c.size-1 {
			t.Errorf("%q with %v: %v, want the size %d", c.body, c.attributes, err, c.size)
		}
	}
}

// SQS takes #x9, #xA, #xD, #x20 to #xD7FF, #xE000 to #xFFFD and #x10000 to
// #x10FFFF.
func TestCheckKnowsEveryCharacter(t *testing.T) {
	t.Parallel()
	for r := rune(0); r <= utf8.MaxRune; r++ {
		want := r == 0x9 || r == 0xA || r == 0xD || 0x20 <= r && r <= 0xD7FF || 0xE000 <= r && r <= 0xFFFD || 0x10000 <= r
		if !utf8.ValidRune(r) { // half of a pair, whose three bytes are not valid UTF-8
			continue
		}
		body := "a" + string(r) + "b"
		if err := queue.Check(body, nil, 100); (err == nil) != want || err != nil && !errors.Is(err, queue.ErrInvalidContents) {
			t.Fatalf("%U: %v", r, err)
		}
		if err := queue.Check("hej", map[string]string{"name": body}, 100); (err == nil) != want {
			t.Fatalf("%U in an attribute: %v", r, err)
		}
	}
	for _, body := range []string{"", "\xff", "a\xed\xa0\x80", "a\xc3"} {
		if err := queue.Check(body, nil, 100); !errors.Is(err, queue.ErrInvalidContents) {
			t.Errorf("%q: %v", body, err)
		}
	}
	err := queue.Check("hej", map[string]string{"name": ""}, 100)
	if !errors.Is(err, queue.ErrInvalidContents) || !strings.Contains(err.Error(), "attribute name:") {
		t.Errorf("an empty attribute: %v", err)
	}
}

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
