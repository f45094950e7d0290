package message

import (
	"errors"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/item"
)

// Law: what is stored comes back, and what would not is refused.
func FuzzRowRoundTrip(f *testing.F) {
	f.Add("-100123", int64(42), "7", "Anna", "diskat", "{}", int64(1774785600000), false)
	f.Add("a#b", int64(math.MaxInt64), "-1", "", "\x00", "", int64(item.SecondsBelow), false)
	f.Add("å", int64(1), "007", "🍽️", "", "\xff", int64(item.SecondsBelow-1), true)
	f.Fuzz(func(t *testing.T, scope string, seq int64, actor, name, text, raw string, ms int64, texts bool) {
		now := time.UnixMilli(4_102_444_800_000) // 2100
		cfg := &Config{Retention: time.Hour, Now: func() time.Time { return now }}
		if texts {
			cfg.ActorType = String
		}
		s, err := New(struct{ API }{}, "messages", cfg)
		if err != nil {
			t.Fatal(err)
		}
		at := time.UnixMilli(ms).UTC()
		m := Message{Scope: scope, Seq: seq, Actor: actor, ActorName: name, Text: text, Raw: raw, At: at}
		if err := s.check(m, now); err != nil {
			var bad *event.InputError
			if !errors.As(err, &bad) {
				t.Errorf("%+v is refused with %v", m, err)
			}
			return
		}
		row, err := s.encode(m, now)
		if err != nil { // too large
			return
		}
		got, err := s.decode(row)
		m.CreatedAt = now.UTC()
		if diff := cmp.Diff(m, got); err != nil || diff != "" {
			t.Errorf("%v (-given +read):\n%s", err, diff)
		}
		if got, want := s.expired(row), at.Add(time.Hour).Unix() <= now.Unix(); got != want {
			t.Errorf("said at %s, expired at %s: %v", at, now, got)
		}
	})
}
