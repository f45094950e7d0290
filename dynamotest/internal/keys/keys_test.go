package keys_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/homeops/ddbpatterns/dynamotest/internal/attr"
	"github.com/homeops/ddbpatterns/dynamotest/internal/keys"
)

func of(fields ...any) attr.Map {
	var out []attr.Field
	for i := 0; i < len(fields); i += 2 {
		out = append(out, attr.Field{Name: fields[i].(string), Value: attr.String(fields[i+1].(string))})
	}
	return attr.NewMap(out...)
}

var schema = keys.Schema{Hash: []keys.Part{{Name: "h", Kind: attr.S}}, Range: []keys.Part{{Name: "r", Kind: attr.S}}}

func TestWhatIsWrongWithAKey(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		key  attr.Map
		want string // of the error; empty without one
	}{
		{"a key", of("h", "a", "r", "b"), ""},
		{"one attribute only", of("h", "a"), "does not match the schema"},
		{"another besides", of("h", "a", "r", "b", "x", "c"), "does not match the schema"},
		{"another instead", of("h", "a", "x", "c"), "does not match the schema"},
		{"another type", attr.NewMap(attr.Field{Name: "h", Value: attr.Bytes("a")}, attr.Field{Name: "r", Value: attr.String("b")}), "does not match the schema"},
		{"empty hash", of("h", "", "r", "b"), "cannot contain an empty string value. Key: h"},
		{"empty range", of("h", "a", "r", ""), "cannot contain an empty string value. Key: r"},
		{"longest", of("h", strings.Repeat("x", 2048), "r", strings.Repeat("x", 1024)), ""},
		{"too long a hash", of("h", strings.Repeat("x", 2049), "r", "b"), "Size of hashkey has exceeded"},
		{"too long a range", of("h", "a", "r", strings.Repeat("x", 1025)), "range keys has exceeded the size limit of 1024 bytes"},
	} {
		got := ""
		if err := schema.CheckKey(tt.key); err != nil {
			got = err.Message
		}
		if !strings.Contains(got, tt.want) || (got == "") != (tt.want == "") {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
	if err := schema.CheckItem(of("h", "a", "r", "b", "x", "c")); err != nil {
		t.Errorf("an item with more than its key: %v", err)
	}
	if err := schema.CheckItem(of("h", "a")); err == nil || !strings.Contains(err.Message, "Missing the key r") {
		t.Errorf("an item without its key: %v", err)
	}
}

// The items of one partition come together, in the order of their range keys.
// Every key with a prefix is less than After of the prefix.
func TestTheOrderOfKeys(t *testing.T) {
	t.Parallel()
	key := func(h, r string) string {
		k, ok := schema.Key(of("h", h, "r", r))
		if !ok {
			t.Fatalf("no key of %s, %s", h, r)
		}
		return string(k)
	}
	partition := string(keys.Partition([]attr.Value{attr.String("a")}))
	end := keys.After([]byte(partition))
	for _, r := range []string{"", "b", "b\x00", "c", "\xff"} {
		if k := key("a", r); !strings.HasPrefix(k, partition) || k >= end {
			t.Errorf("%q is not in its partition", r)
		}
	}
	if key("a", "b") >= key("a", "b\x00") || key("a", "b\x00") >= key("a", "c") {
		t.Error("range keys are out of order")
	}
	if k := key("b", "b"); k >= partition && k < end {
		t.Error("partitions overlap")
	}
	if got, ok := schema.Key(of("h", "a")); ok {
		t.Errorf("the key of an item without one: %q", got)
	}
	// For an entry of a batch, only the key is checked. An empty key refuses a
	// whole transaction.
	for _, tt := range []struct {
		item  attr.Map
		want  string
		whole bool
	}{
		{of("h", "a", "r", "b", "x", "y"), "", false},
		{of("h", "a", "x", "y"), "The provided key element does not match the schema", false},
		{of("h", "a", "r", "", "x", "y"), "cannot contain an empty string value. Key: r", true},
	} {
		switch err := schema.CheckEntry(tt.item); {
		case err == nil && tt.want == "":
		case err == nil || tt.want == "" || !strings.Contains(err.Message, tt.want) || err.WholeRequest != tt.whole:
			t.Errorf("%v: %v, want %s", tt.item, err, tt.want)
		}
	}
	if diff := cmp.Diff([]string{"h", "r"}, keys.Names(schema.Parts())); diff != "" {
		t.Error(diff)
	}
}
