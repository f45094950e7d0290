package ledger_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/homeops/ddbpatterns/internal/recordtest"
	"github.com/homeops/ddbpatterns/ledger"
)

func ExampleKey() {
	seeds, _ := ledger.Key("ALOWARE", "719285063")
	other, _ := ledger.Key("HUBSPOT", "0-1", "a:b", "100%")
	fmt.Println(seeds)
	fmt.Println(other)
	_, err := ledger.Key("ALOWARE", "")
	fmt.Println(err)
	// Output:
	// ALOWARE:719285063
	// HUBSPOT:0-1:a%3Ab:100%25
	// ledger: parts[1] must not be empty: Key would be the same for all events in which it is empty
}

func TestKeyRefuses(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		parts []string
		field string
	}{
		"no parts":         {nil, "parts"},
		"an empty part":    {[]string{"a", "", "b"}, "parts[1]"},
		"not UTF-8":        {[]string{"a", "\xff"}, "parts[1]"},
		"over 2048 bytes":  {[]string{"a", strings.Repeat("x", 2047)}, "parts"},
		"over by escaping": {[]string{strings.Repeat(":", 683)}, "parts"},
	} {
		key, err := ledger.Key(tc.parts...)
		recordtest.WantBad(t, err, "ledger", tc.field, name)
		if key != "" {
			t.Errorf("%s: a key came back with the error", name)
		}
	}
	if key, err := ledger.Key("a", strings.Repeat("x", 2046)); err != nil || len(key) != 2048 {
		t.Errorf("2048 bytes: %d, %v", len(key), err)
	}
}

// split undoes Key, so that no two lists of parts can share a key.
func split(key string) []string {
	parts := strings.Split(key, ":")
	for i, part := range parts {
		parts[i] = strings.ReplaceAll(strings.ReplaceAll(part, "%3A", ":"), "%25", "%")
	}
	return parts
}

func FuzzKey(f *testing.F) {
	f.Add("ALOWARE", "719285063", "x")
	f.Add("a:b", "c", "%3A")
	f.Add("a", "b:c", "%")
	f.Add("%25", ":", "%253A")
	f.Fuzz(func(t *testing.T, a, b, c string) {
		for _, parts := range [][]string{{a}, {a, b}, {a, b, c}} {
			key, err := ledger.Key(parts...)
			if err != nil {
				if key != "" {
					t.Errorf("Key(%q) = %q with %v", parts, key, err)
				}
				continue
			}
			if got := split(key); !slices.Equal(got, parts) {
				t.Errorf("Key(%q) = %q, which also reads %q", parts, key, got)
			}
		}
		if _, err := ledger.Key(a, b, c); err == nil && !strings.ContainsAny(a+b+c, "%:") {
			if key, _ := ledger.Key(a, b, c); key != a+":"+b+":"+c {
				t.Errorf("Key(%q, %q, %q) = %q: not as the older system joined", a, b, c, key)
			}
		}
	})
}
