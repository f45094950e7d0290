package ema

import (
	"reflect"
	"testing"
	"time"

	"github.com/homeops/ddbpatterns/internal/recordtest"
)

func configOf(t *testing.T, cfg *Config) Config {
	t.Helper()
	s, err := New(recordtest.Silent(t), "homeops", cfg)
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
		field := filled.Type().Field(i)
		if field.Type.Kind() != reflect.Bool && field.Name != "Names" && filled.Field(i).IsZero() {
			t.Errorf("Config.%s has no default", field.Name)
		}
	}
	noon := time.Date(2026, 3, 29, 12, 0, 0, 0, time.UTC)
	own := Config{Prefix: "PREF", ConsistentReads: true}
	if got := configOf(t, &own); own.Now != nil || own.Alpha != 0 || got.Prefix != "PREF" || !got.ConsistentReads {
		t.Errorf("Config %+v became %+v", own, got)
	}
	got := configOf(t, &Config{Alpha: 0.5, Now: recordtest.Clock(noon)})
	if got.Alpha != 0.5 || !got.Now().Equal(noon) {
		t.Error("what the caller set was lost")
	}
}
