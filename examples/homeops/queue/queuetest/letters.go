package queuetest

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"strconv"
	"strings"
	"time"

	"github.com/homeops/ddbpatterns/examples/homeops/queue"
)

func letterTests() []Test {
	return []Test{
		{"Redriven", Settings{Visibility: time.Second, MaxReceives: 2}, redriven},
		{"Buried", Settings{Visibility: short}, buried},
		{"BuriedForAnyReason", Settings{}, buriedForAnyReason},
		{"Refused", Settings{}, refused},
		{"RefusedTooLarge", Settings{MaxBytes: 2000}, refusedTooLarge},
		{"LettersAreHidden", Settings{}, lettersAreHidden},
		{"SentAgain", Settings{}, sentAgain},
	}
}

// A message that is given back, or that nobody settles, comes again. Its last delivery
// is marked as such; after it the queue itself moves the message, without a reason.
func redriven(t *T) {
	id := t.send("hej", from())
	for n := 1; n <= t.Settings.MaxReceives; n++ {
		m := t.receive()
		if m.Receives != n || m.Last() != (n == t.Settings.MaxReceives) {
			t.errorf("delivery %d: %d receives of %d", n, m.Receives, m.MaxReceives)
		}
		if n == 1 {
			t.must("Release", t.Queue.Release(t.ctx, m.Receipt, 0))
		}
	}
	letter := t.moved()
	if letter.ID != id || letter.Body != "hej" || letter.Last() {
		t.errorf("sent as %q, the letter is %+v", id, letter)
	}
	t.attributes("the letter", letter.Attributes, from())
	// SQS counts receives over both queues.
	if want := "no reason, 3 receives"; letter.Why() != want {
		t.errorf("dead for %q, want %q", letter.Why(), want)
	}
	t.depth(queue.Depth{Dead: 1})
}

// moved returns the letter of a message that was received too often: SQS moves
// it when somebody asks for the next.
func (t *T) moved() (letter queue.Message) {
	t.until("the message is moved", func() bool {
		if !t.none("received too often") {
			t.fatalf("delivered once too often")
		}
		batch, err := t.letters.Receive(t.ctx, 1, time.Minute)
		t.must("DeadLetters.Receive", err)
		if len(batch) == 1 {
			letter = batch[0]
		}
		return len(batch) == 1
	})
	return letter
}

// The worker gives up a delivery: it is dead as it was, with the reason.
func buried(t *T) {
	t.send("hej", from())
	m := t.receive()
	t.must("Bury", t.Queue.Bury(t.ctx, m, "no such table"))
	letter := t.letter(time.Minute)
	want := from()
	want[queue.Reason], want[queue.Delivery] = "no such table", m.ID
	t.attributes("the letter", letter.Attributes, want)
	t.attributes("the message", m.Attributes, from())
	if body, whole := letter.Content(); string(body) != "hej" || !whole || letter.Why() != "no such table" {
		t.errorf("the letter is %+v", letter)
	}
	t.stays("buried")
	if err := t.Queue.Delete(t.ctx, m.Receipt); err != nil { // as the worker does with every message that it settled
		t.errorf("deleted after it was buried: %v", err)
	}
	t.depth(queue.Depth{Dead: 1})
}

// A reason may be anything: it becomes text that SQS takes.
func buriedForAnyReason(t *T) {
	for reason, want := range map[string]string{
		"":                            "unknown",
		"a\x00b\uFFFFc\xff":           "a?b?c?",
		strings.Repeat("åäö 👋", 1000): "…",
	} {
		t.send("hej", nil)
		t.must("Bury", t.Queue.Bury(t.ctx, t.receive(), reason))
		letter := t.letter(time.Minute)
		if !strings.HasSuffix(letter.Why(), want) || len(letter.Why()) > 1000 {
			t.errorf("dead for %q, want %q", letter.Why(), want)
		}
	}
}

// The webhook refuses bytes that need not be text.
func refused(t *T) {
	for _, body := range [][]byte{[]byte("{poison"), {0, 1, 2, 0xff, 0xfe}, bytes.Repeat([]byte{0xff}, 1000), []byte(" "), {}} {
		t.must("Refuse", t.Queue.Refuse(t.ctx, body, from(), "no JSON"))
		letter := t.letter(time.Minute)
		want := from()
		want[queue.Reason], want[queue.Encoding] = "no JSON", "base64"
		t.attributes("the letter", letter.Attributes, want)
		if got, whole := letter.Content(); !bytes.Equal(got, body) || !whole {
			t.errorf("refused %q, the letter holds %q, whole: %t", body, got, whole)
		}
	}
	t.none("refused")
	t.depth(queue.Depth{Dead: 5})
}

// A body that is too large for a letter is cut, and says what it was.
func refusedTooLarge(t *T) {
	body := bytes.Repeat([]byte("åäö"), t.Settings.MaxBytes)
	sum := sha256.Sum256(body)
	t.must("Refuse", t.Queue.Refuse(t.ctx, body, from(), "too large"))
	letter := t.letter(time.Minute)
	want := from()
	maps.Copy(want, map[string]string{
		queue.Reason: "too large", queue.Encoding: "base64",
		queue.FullSize: strconv.Itoa(len(body)), queue.FullHash: hex.EncodeToString(sum[:]),
	})
	t.attributes("the letter", letter.Attributes, want)
	got, whole := letter.Content()
	if whole || !bytes.HasPrefix(body, got) || len(got) < t.Settings.MaxBytes/2 {
		t.errorf("the letter holds %d bytes of %d, whole: %t", len(got), len(body), whole)
	}
}

// While an operator looks at a letter it is hidden from others, and afterwards
// not.
func lettersAreHidden(t *T) {
	t.must("Refuse", t.Queue.Refuse(t.ctx, []byte("{"), nil, "no JSON"))
	began := time.Now()
	first := t.letter(short)
	second := t.letter(time.Minute)
	if passed := time.Since(began); passed < short {
		t.errorf("visible again after %v, hidden for %v", passed, short)
	}
	if second.ID != first.ID || second.Receipt == first.Receipt || second.Receives <= first.Receives {
		t.errorf("received %+v, then %+v", first, second)
	}
	batch, err := t.letters.Receive(t.ctx, 10, time.Second)
	t.must("DeadLetters.Receive", err)
	if len(batch) > 0 {
		t.errorf("hidden for a minute, received %q", batch[0].Body)
	}
}

// An operator sends a letter again: it begins anew.
func sentAgain(t *T) {
	t.send("hej", from())
	t.must("Bury", t.Queue.Bury(t.ctx, t.receive(), "no such table"))
	letter := t.letter(time.Minute)
	body, _ := letter.Content()
	t.send(string(body), queue.WithoutReason(letter.Attributes))
	t.must("DeadLetters.Delete", t.letters.Delete(t.ctx, letter.Receipt))
	m := t.receive()
	if m.Body != "hej" || m.Receives != 1 || m.MaxReceives != t.Settings.MaxReceives {
		t.errorf("received %+v", m)
	}
	t.attributes("the message", m.Attributes, from())
	t.depth(queue.Depth{InFlight: 1})
}
