package cursor_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/cursor"
)

// Law: Decode undoes Encode for the same query, and refuses every other.
func FuzzRoundTrip(f *testing.F) {
	f.Add("InScope", "01KMWQE6G0HNVQ0AK04X3N2M81", "5")
	f.Add("", "", "\"\\")
	f.Add("q", "0", "\xb5")
	f.Fuzz(func(t *testing.T, query, a, b string) {
		text := cursor.Encode(query, []string{a, b})
		got, err := cursor.Decode("activity", query, text, 2)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got, []string{a, b}) {
			t.Errorf("position %q came back as %q", []string{a, b}, got)
		}
		if _, err := cursor.Decode("activity", query+"x", text, 2); err == nil {
			t.Error("another query took the cursor")
		}
	})
}

// Law: no text makes Decode do anything but answer or refuse.
func FuzzDecode(f *testing.F) {
	f.Add(cursor.Encode("q", []string{"a"}))
	f.Add("AQ")
	f.Fuzz(func(t *testing.T, text string) {
		position, err := cursor.Decode("activity", "q", text, 1)
		var bad *event.InputError
		if err == nil && len(position) != 1 || err != nil && !errors.As(err, &bad) {
			t.Errorf("Decode(%q) = %q, %v", text, position, err)
		}
	})
}

func TestDecodeRefuses(t *testing.T) {
	good := cursor.Encode("q", []string{"a", "b"})
	if got, err := cursor.Decode("activity", "q", good, 2); err != nil || !slices.Equal(got, []string{"a", "b"}) {
		t.Fatalf("Decode = %q, %v", got, err)
	}
	for name, text := range map[string]string{
		"empty": "", "not base64": "!!", "cut": good[:len(good)-2], "changed": "B" + good[1:],
		"wrong count": cursor.Encode("q", []string{"a"}), "other query": cursor.Encode("r", []string{"a", "b"}),
	} {
		var bad *event.InputError
		if _, err := cursor.Decode("activity", "q", text, 2); !errors.As(err, &bad) || bad.Field != "Cursor" {
			t.Errorf("%s: %v", name, err)
		}
	}
}
