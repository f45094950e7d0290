package pattern

import (
	"reflect"
	"testing"
	"time"

	"github.com/homeops/ddbpatterns/internal/recordtest"
	"github.com/homeops/ddbpatterns/tzclock"
)

func configOf(t *testing.T, cfg *Config) Config {
	t.Helper()
	s, err := New(recordtest.Silent(t), "homeops", tzclock.UTC, cfg)
	if err != nil {
		t.Fatal(err)
	}
	return s.cfg
}

// Every field except switches has a default, and the caller's Config stays the
// caller's.
func TestDefaults(t *testing.T) {
	t.Parallel()
	filled := reflect.ValueOf(configOf(t, nil))
	for i := range filled.NumField() {
		if field := filled.Type().Field(i); field.Name != "Names" && field.Type.Kind() != reflect.Bool && filled.Field(i).IsZero() {
			t.Errorf("Config.%s has no default", field.Name)
		}
	}
	own := Config{ConsistentReads: true}
	if got := configOf(t, &own); own.Now != nil || !got.ConsistentReads {
		t.Errorf("Config %+v became %+v", own, got)
	}
	noon := time.Date(2026, 3, 29, 12, 0, 0, 0, time.UTC)
	if got := configOf(t, &Config{Now: recordtest.Clock(noon)}); !got.Now().Equal(noon) {
		t.Error("the caller's clock was lost")
	}
}
