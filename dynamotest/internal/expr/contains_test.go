package expr_test

import "testing"

// A string contains only strings, and a binary only binaries: an equal value of
// another kind is not a part.
func TestContainsComparesOneKind(t *testing.T) {
	t.Parallel()
	it := item(t, `{"s":{"S":"a1"},"b":{"B":"YTE="}}`)
	for src, want := range map[string]bool{
		"contains(s, :text)": true, "contains(s, :number)": false, "contains(s, :binary)": false,
		"contains(b, :binary)": true, "contains(b, :text)": false, "contains(b, :number)": false,
	} {
		c, err := bindCondition(t, src, params(t, "", `{":text":{"S":"1"},":number":{"N":"1"},":binary":{"B":"MQ=="}}`))
		if err != nil {
			t.Fatal(err)
		}
		if got := c.Match(it); got != want {
			t.Errorf("%s is %v, want %v", src, got, want)
		}
	}
}
