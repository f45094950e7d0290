package item_test

import (
	"errors"
	"testing"
	"time"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/item"
)

func TestRetention(t *testing.T) {
	t.Parallel()
	day := item.Retention{For: 24 * time.Hour, MaxSkew: time.Minute}
	at := time.Date(2026, 3, 29, 12, 0, 0, 999_000_000, time.UTC)
	expiry := time.Date(2026, 3, 30, 12, 0, 0, 0, time.UTC)
	if got := day.Expiry(at); !got.Equal(expiry) {
		t.Errorf("Expiry = %v, want %v", got, expiry)
	}
	for now, want := range map[time.Time]bool{
		at:                                     false,
		expiry.Add(-time.Minute - 1):           false,
		expiry.Add(-time.Minute):               true,
		expiry:                                 true,
		expiry.Add(100 * 365 * 24 * time.Hour): true,
	} {
		if got := day.TooOld(at, now); got != want {
			t.Errorf("TooOld at %v = %v, want %v", now, got, want)
		}
	}
	if forever := (item.Retention{MaxSkew: time.Minute}); forever.Limited() || forever.TooOld(at, expiry.AddDate(100, 0, 0)) || !day.Limited() {
		t.Error("what is kept for ever is too old, or is not")
	}
}

func TestRetentionCheck(t *testing.T) {
	t.Parallel()
	for _, good := range []item.Retention{{}, {MaxSkew: 24 * time.Hour}, {For: 2, MaxSkew: 1}, {For: 1}} {
		if err := good.Check("x"); err != nil {
			t.Errorf("%+v: %v", good, err)
		}
	}
	for field, bad := range map[string][]item.Retention{
		"Config.MaxSkew":   {{MaxSkew: -1}, {MaxSkew: 24*time.Hour + 1}},
		"Config.Retention": {{For: -1}, {For: 1, MaxSkew: 1}, {For: time.Minute, MaxSkew: time.Hour}},
	} {
		for _, r := range bad {
			var refused *event.InputError
			if err := r.Check("x"); !errors.As(err, &refused) || refused.Package != "x" || refused.Field != field {
				t.Errorf("%+v: %v", r, err)
			}
		}
	}
}
