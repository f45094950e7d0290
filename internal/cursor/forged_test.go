package cursor_test

import (
	"encoding/base64"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"strings"
	"testing"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/cursor"
)

// forge is a cursor whose checksum is right.
func forge(version byte, query, body string) string {
	raw := append([]byte{version}, body...)
	raw = binary.BigEndian.AppendUint32(raw, crc32.Update(crc32.ChecksumIEEE([]byte(query)), crc32.IEEETable, raw))
	return base64.RawURLEncoding.EncodeToString(raw)
}

// A right checksum does not make a cursor of this version and query.
func TestForgedCursorsAreRefused(t *testing.T) {
	t.Parallel()
	if got, err := cursor.Decode("activity", "q", forge(1, "q", `["YQ=="]`), 1); err != nil || got[0] != "a" {
		t.Fatalf("as Encode writes it: %q, %v", got, err)
	}
	for name, tc := range map[string]struct{ text, reason string }{
		"a later version":    {forge(2, "q", `["YQ=="]`), "another version"},
		"an earlier version": {forge(0, "q", `["YQ=="]`), "another version"},
		"a value too many":   {forge(1, "q", `["YQ==","YQ=="]`), "no position"},
		"a value too few":    {forge(1, "q", `[]`), "no position"},
		"no list":            {forge(1, "q", `{}`), "no position"},
		"too long":           {cursor.Encode("q", []string{strings.Repeat("a", 10<<10)}), "too long"},
	} {
		var bad *event.InputError
		if _, err := cursor.Decode("activity", "q", tc.text, 1); !errors.As(err, &bad) || !strings.Contains(bad.Reason, tc.reason) {
			t.Errorf("%s: %v, want a refusal that says %q", name, err, tc.reason)
		}
	}
	if _, err := cursor.Decode("activity", "q", cursor.Encode("q", []string{strings.Repeat("a", 6<<10)}), 1); err != nil {
		t.Errorf("the longest keys there are: %v", err)
	}
}
