package key_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/homeops/ddbpatterns/internal/key"
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
		if got := key.Enc(part); got != want {
			t.Errorf("Enc(%q) = %q, want %q", part, got, want)
		}
	}
}

var decoder = strings.NewReplacer("%25", "%", "%23", "#")

// decode undoes Enc, and split undoes Join. Only the tests of these laws need
// them.
func decode(part string) string { return decoder.Replace(part) }

func split(joined string) []string {
	parts := strings.Split(joined, "#")
	for i, part := range parts {
		parts[i] = decode(part)
	}
	return parts
}

// Law: different lists of parts give different keys.
func FuzzJoin(f *testing.F) {
	f.Add("a", "b#c", "a#b", "c")
	f.Add("a%23b", "c", "a#b", "c")
	f.Add("", "", "#", "")
	f.Fuzz(func(t *testing.T, a, b, c, d string) {
		left, right := key.Join(a, b), key.Join(c, d)
		if same := a == c && b == d; same != (left == right) {
			t.Errorf("Join(%q, %q) = %q, Join(%q, %q) = %q", a, b, left, c, d, right)
		}
		if got := split(left); !slices.Equal(got, []string{a, b}) {
			t.Errorf("%q splits into %q", left, got)
		}
	})
}
