package check_test

import (
	"testing"

	"github.com/homeops/ddbpatterns/internal/check"
)

func TestEnc(t *testing.T) {
	for part, want := range map[string]string{
		"":           "",
		"-100123":    "-100123",
		"a#b":        "a%23b",
		"100%":       "100%25",
		"%23":        "%2523",
		"diskning å": "diskning å",
	} {
		if got := check.Enc(part); got != want {
			t.Errorf("Enc(%q) = %q, want %q", part, got, want)
		}
	}
}

// Law: different lists of parts give different keys.
func FuzzJoin(f *testing.F) {
	f.Add("a", "b#c", "a#b", "c")
	f.Add("a", "bc", "ab", "c")
	f.Add("a%23b", "c", "a#b", "c")
	f.Add("", "", "#", "")
	f.Fuzz(func(t *testing.T, a, b, c, d string) {
		left, right := check.Join(a, b), check.Join(c, d)
		if same := a == c && b == d; same != (left == right) {
			t.Errorf("Join(%q, %q) = %q, Join(%q, %q) = %q", a, b, left, c, d, right)
		}
	})
}
