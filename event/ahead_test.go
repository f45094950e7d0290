package event_test

import (
	"errors"
	"testing"
	"time"

	"github.com/homeops/ddbpatterns/event"
)

// The hour that an event may lie ahead belongs to what is taken.
func TestExactlyAnHourAheadIsTaken(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 29, 12, 0, 0, 0, time.UTC)
	if err := mustNew(t, now.Add(event.MaxAhead), "a").Check("counter", "Event", now); err != nil {
		t.Errorf("an hour ahead: %v", err)
	}
	var bad *event.InputError
	if err := mustNew(t, now.Add(event.MaxAhead+time.Millisecond), "a").Check("counter", "Event", now); !errors.As(err, &bad) {
		t.Errorf("an hour and a millisecond ahead: %v", err)
	}
}
