package queue_test

import (
	"errors"
	"maps"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/homeops/ddbpatterns/examples/homeops/queue"
)

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

func TestNonEmpty(t *testing.T) {
	t.Parallel()
	mine := map[string]string{queue.ChatID: "-5", queue.MessageID: ""}
	if got := queue.NonEmpty(mine); !maps.Equal(got, map[string]string{queue.ChatID: "-5"}) || len(mine) != 2 {
		t.Errorf("%v of %v", got, mine)
	}
	if got := queue.NonEmpty(nil); len(got) != 0 {
		t.Errorf("%v of nothing", got)
	}
}
