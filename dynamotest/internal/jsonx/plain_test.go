package jsonx_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/homeops/ddbpatterns/dynamotest/internal/jsonx"
)

// Strings are searched eight bytes at a time: every byte must be found in every
// place of a word, next to any other bytes.
func TestEveryByteAtEveryPlace(t *testing.T) {
	t.Parallel()
	for _, beside := range []byte{'a', '!', ' ', 0x7F} {
		for place := range 19 {
			for b := range 0x80 {
				text := bytes.Repeat([]byte{beside}, 19)
				text[place] = byte(b)
				quoted := jsonx.AppendString(nil, string(text))
				var got string
				if err := json.Unmarshal(quoted, &got); err != nil || got != string(text) {
					t.Fatalf("%q is written as %s: %v", text, quoted, err)
				}
				r := jsonx.NewReader(quoted)
				if got := r.String(); got != string(text) || r.Err() != nil {
					t.Fatalf("%s is read as %q: %v", quoted, got, r.Err())
				}
				raw := append(append([]byte{'"'}, text...), '"')
				r = jsonx.NewReader(raw)
				r.Skip()
				r.End()
				if taken := r.Err() == nil; taken != json.Valid(raw) {
					t.Fatalf("%q is taken: %v", raw, taken)
				}
			}
		}
	}
}
