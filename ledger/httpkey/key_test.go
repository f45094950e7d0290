package httpkey

import (
	"net/http"
	"strings"
	"testing"
)

// Whatever a client sends: a key is 1 to 255 visible characters and spaces, and the
// string that structured fields make of it is read as the same key.
func FuzzKey(f *testing.F) {
	for _, seed := range []string{`"k-1"`, "k-1", `"a\"b\\c"`, `"k`, `"k"x`, "k,l", `"k" , "l"`, ` "k" `, `"\`, "ö", `""`, strings.Repeat("k", 256)} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, value string) {
		key, wrong := keyOf(http.Header{"Idempotency-Key": {value}})
		if (key == "") != (wrong != "") || len(key) > 255 || strings.ContainsFunc(key, func(r rune) bool { return r < ' ' || r > '~' }) {
			t.Fatalf("%q: key %q, wrong %q", value, key, wrong)
		}
		if wrong != "" {
			return
		}
		again, wrong := keyOf(http.Header{"Idempotency-Key": {`"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(key) + `"`}})
		if again != key || wrong != "" {
			t.Errorf("%q: key %q, and as a string %q, %s", value, key, again, wrong)
		}
		if bare, _ := strings.CutPrefix(strings.Trim(value, " "), `"`); bare == value && key != value {
			t.Errorf("the bare %q is the key %q", value, key)
		}
	})
}
