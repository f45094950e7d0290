package pattern

import (
	"reflect"
	"testing"
	"time"
)

// Every field that is no switch has a default, and the caller's Config stays
// the caller's.
func TestDefaults(t *testing.T) {
	t.Parallel()
	filled := reflect.ValueOf(withDefaults(nil))
	for i := range filled.NumField() {
		if field := filled.Type().Field(i); field.Type.Kind() != reflect.Bool && filled.Field(i).IsZero() {
			t.Errorf("Config.%s has no default", field.Name)
		}
	}
	own := Config{ConsistentReads: true}
	if got := withDefaults(&own); own.Now != nil || !got.ConsistentReads {
		t.Errorf("Config %+v became %+v", own, got)
	}
	noon := time.Date(2026, 3, 29, 12, 0, 0, 0, time.UTC)
	if got := withDefaults(&Config{Now: func() time.Time { return noon }}); !got.Now().Equal(noon) {
		t.Error("the caller's clock was lost")
	}
}
