package check_test

import (
	"encoding/base64"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"slices"
	"strings"
	"testing"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/check"
)

// Law: no text makes Decode do anything but answer or refuse.
func FuzzDecodeCursor(f *testing.F) {
	f.Add(check.EncodeCursor("q", []string{"a"}))
	f.Add("AQ")
	f.Fuzz(func(t *testing.T, text string) {
		position, err := check.DecodeCursor("activity", "Range.Cursor", "q", text, 1)
		var bad *event.InputError
		if err == nil && len(position) != 1 || err != nil && !errors.As(err, &bad) {
			t.Errorf("Decode(%q) = %q, %v", text, position, err)
		}
	})
}

func TestDecodeCursorRefuses(t *testing.T) {
	good := check.EncodeCursor("q", []string{"a", "b"})
	if got, err := check.DecodeCursor("activity", "Range.Cursor", "q", good, 2); err != nil || !slices.Equal(got, []string{"a", "b"}) {
		t.Fatalf("Decode = %q, %v", got, err)
	}
	// sealed is a cursor of any bytes whose checksum is right.
	sealed := func(raw string) string {
		sum := crc32.Update(crc32.ChecksumIEEE([]byte("q")), crc32.IEEETable, []byte(raw))
		return base64.RawURLEncoding.EncodeToString(binary.BigEndian.AppendUint32([]byte(raw), sum))
	}
	for name, tc := range map[string]struct{ text, want string }{
		"empty":           {"", "is not a cursor"},
		"not base64":      {"AQAAAAAAAA!!", "is not a cursor"},
		"a checksum only": {sealed(""), "is not a cursor"},
		"a version only":  {sealed("\x01"), "is not a cursor of this query"},
		"cut":             {good[:len(good)-4], "is damaged"},
		"changed":         {good[:8] + "x" + good[9:], "is damaged"},
		"another version": {"B" + good[1:], "is damaged"},
		"a later version": {sealed("\x02[\"YQ==\",\"Yg==\"]"), "is of another version"},
		"no list":         {sealed("\x01{}"), "is not a cursor of this query"},
		"no text":         {sealed("\x01[1,2]"), "is not a cursor of this query"},
		"one value":       {check.EncodeCursor("q", []string{"a"}), "is not a cursor of this query"},
		"three values":    {check.EncodeCursor("q", []string{"a", "b", "c"}), "is not a cursor of this query"},
		"another query":   {check.EncodeCursor("r", []string{"a", "b"}), "belongs to another query"},
		"too long":        {check.EncodeCursor("q", []string{strings.Repeat("a", 16<<10), "b"}), "is too long"},
	} {
		var bad *event.InputError
		_, err := check.DecodeCursor("activity", "Range.Cursor", "q", tc.text, 2)
		if !errors.As(err, &bad) || bad.Field != "Range.Cursor" || !strings.Contains(bad.Reason, tc.want) {
			t.Errorf("%s: %v, want one that %s", name, err, tc.want)
		}
	}
}

// Every later release accepts cursors that an earlier one handed out.
func TestCursorsLast(t *testing.T) {
	const handedOut = "AVsiWVE9PSIsIllnPT0iXWk1hfE"
	if got := check.EncodeCursor("q", []string{"a", "b"}); got != handedOut {
		t.Errorf("Encode = %s, want %s", got, handedOut)
	}
}

// Decode accepts the cursor of the longest possible keys.
func TestLongestPosition(t *testing.T) {
	longest := []string{strings.Repeat("k", 1024), strings.Repeat("s", 2048), strings.Repeat("i", 1024), strings.Repeat("p", 2048)}
	got, err := check.DecodeCursor("activity", "Range.Cursor", "q", check.EncodeCursor("q", longest), len(longest))
	if err != nil || !slices.Equal(got, longest) {
		t.Errorf("%d values, %v", len(got), err)
	}
}
