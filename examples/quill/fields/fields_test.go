package fields_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/examples/quill/fields"
)

func TestAbsentNullAndEmptyAreAlike(t *testing.T) {
	t.Parallel()
	for _, body := range []string{`{}`, `{"x":null}`, ` { "x" : null } `, `{"x":""}`, `{"X":"a","x ":"b"}`} {
		o := fields.Open("p", "", []byte(body))
		n, whole := o.Whole("x")
		if o.Text("x") != "" || o.Value("x") != "" || o.Name("x") != "" || o.Digits("x") != "" || n != "" || whole {
			t.Errorf("%s has x", body)
		}
		if err := o.Err(); err != nil {
			t.Error(err)
		}
	}
	for body, want := range map[string][2]bool{`{}`: {}, `{"x":null}`: {true, false}, `{"x":""}`: {true, true}, `{"x":false}`: {true, true}} {
		o := fields.Open("p", "", []byte(body))
		if got := [2]bool{o.Named("x"), o.Has("x")}; got != want || o.Err() != nil {
			t.Errorf("%s: named, has: %v; %v", body, got, o.Err())
		}
	}
	o := fields.Open("p", "", []byte(`{"x":null}`))
	if all := o.AllDigits("x"); all != nil || o.Bool("x") || o.Err() != nil {
		t.Error(all, o.Err())
	}
}

func TestWhatFieldsHold(t *testing.T) {
	t.Parallel()
	o := fields.Open("p", "", []byte(`{"text":" a\u00e9\u0000%:","long":18446744073709551615,"digits":"0","float":1.50,"yes":true,"many":[1,"2"],"in":{"text":"b"}}`))
	long, digits := o.MustDigits("long"), o.MustDigits("digits")
	whole, ok := o.Whole("digits")
	got := []any{
		o.Text("text"), o.MustName("text"), o.Value("text"), o.Value("float"), o.Value("yes"), long, digits, whole, ok,
		o.Bool("yes"), o.AllDigits("many"), o.Object("in").Text("text"),
	}
	want := []any{
		" aé\x00%:", " aé\x00%:", " aé\x00%:", "1.50", "true", "18446744073709551615", "0", json.Number("0"), true,
		true,
		[]string{"1", "2"},
		"b",
	}
	if diff := cmp.Diff(want, got); diff != "" || o.Err() != nil {
		t.Errorf("%v\n%s", o.Err(), diff)
	}
}

func TestBounds(t *testing.T) {
	t.Parallel()
	text := func(n int) []byte {
		return []byte(`{"x":"` + strings.Repeat("é", n/2) + strings.Repeat("x", n%2) + `"}`)
	}
	for n, fits := range map[int]bool{2 << 10: true, 2<<10 + 1: false} {
		o := fields.Open("p", "", text(n))
		if o.Text("x"); (o.Err() == nil) != fits {
			t.Errorf("a text of %d bytes: %v", n, o.Err())
		}
	}
	for n, fits := range map[int]bool{192 << 10: true, 192<<10 + 1: false} {
		o := fields.Open("p", "", text(n))
		if o.Value("x"); (o.Err() == nil) != fits {
			t.Errorf("a value of %d bytes: %v", n, o.Err())
		}
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	read := map[string]func(o *fields.Object){
		"Text":       func(o *fields.Object) { o.Text("x") },
		"Value":      func(o *fields.Object) { o.Value("x") },
		"Name":       func(o *fields.Object) { o.Name("x") },
		"MustName":   func(o *fields.Object) { o.MustName("x") },
		"Digits":     func(o *fields.Object) { o.Digits("x") },
		"MustDigits": func(o *fields.Object) { o.MustDigits("x") },
		"Whole":      func(o *fields.Object) { o.Whole("x") },
		"AllDigits":  func(o *fields.Object) { o.AllDigits("x") },
		"Bool":       func(o *fields.Object) { o.Bool("x") },
		"Word":       func(o *fields.Object) { o.Word("x") },
		"Object":     func(o *fields.Object) { o.Object("x") },
		"nothing":    func(*fields.Object) {},
	}
	const whole = "x must be a whole number of up to 64 bits, not negative and with no leading zero"
	const lost = "x must not have U+FFFD, which stands for characters that were lost"
	for _, test := range []struct{ method, body, want string }{
		{"nothing", `{"x":1} `, ""},
		{"nothing", ``, "body must be one JSON value, with nothing after it"},
		{"nothing", `{} {}`, "body must be one JSON value, with nothing after it"},
		{"nothing", `{}]`, "body must be one JSON value, with nothing after it"},
		{"nothing", "{\"x\":\"\xff\"}", "body must be valid UTF-8"},
		{"nothing", "{\"x\":\"\xed\xa0\x80\"}", "body must be valid UTF-8"},
		{"nothing", `[]`, "body must be an object"},
		{"nothing", `null`, "body must be an object"},
		{"nothing", `"x"`, "body must be an object"},
		{"nothing", `{"x":1,"y":2,"x":1}`, `body must have each field only once, repeats "x"`},
		{"nothing", `{"x":1,"\u0078":1}`, `body must have each field only once, repeats "x"`},
		{"nothing", `{"x":{"y":1,"y":2}}`, ""}, // nobody reads this object
		{"Object", `{"x":{"y":1,"y":2}}`, `x must have each field only once, repeats "y"`},
		{"Object", `{"x":[]}`, "x must be an object"},
		{"Object", `{"x":null}`, "x must be an object"},
		{"Object", `{}`, "x must be an object"},
		{"Text", `{"x":1}`, "x must be a text"},
		{"Text", `{"x":true}`, "x must be a text"},
		{"Text", `{"x":{}}`, "x must be a text"},
		{"Text", `{"x":"\ud800"}`, ""},
		{"Value", `{"x":{}}`, "x must be a text"},
		{"Value", `{"x":[]}`, "x must be a text"},
		{"Name", `{"x":"\ud800"}`, lost},
		{"Name", `{"x":"a\udfffb"}`, lost},
		{"Name", `{"x":"\ufffd"}`, lost},
		{"Name", `{"x":"\ud83d\ude00"}`, ""},
		{"MustName", `{}`, "x must be a text that is not empty"},
		{"MustName", `{"x":""}`, "x must be a text that is not empty"},
		{"MustName", `{"x":7}`, "x must be a text"},
		{"MustDigits", `{}`, "x must be a whole number"},
		{"MustDigits", `{"x":null}`, "x must be a whole number"},
		{"MustDigits", `{"x":""}`, "x must be a whole number"},
		{"Digits", `{"x":-1}`, whole},
		{"Digits", `{"x":-0}`, whole},
		{"Digits", `{"x":1.0}`, whole},
		{"Digits", `{"x":1e3}`, whole},
		{"Digits", `{"x":"01"}`, whole},
		{"Digits", `{"x":"+1"}`, whole},
		{"Digits", `{"x":" 1"}`, whole},
		{"Digits", `{"x":"1_000"}`, whole},
		{"Digits", `{"x":"١"}`, whole},
		{"Digits", `{"x":18446744073709551616}`, whole},
		{"Digits", `{"x":true}`, whole},
		{"Digits", `{"x":[1]}`, "x must be a text"},
		{"Whole", `{"x":9223372036854775807}`, ""},
		{"Whole", `{"x":9223372036854775808}`, "x must be a whole number of up to 63 bits"},
		{"Whole", `{"x":-1}`, whole},
		{"AllDigits", `{"x":1}`, "x must be an array"},
		{"AllDigits", `{"x":{}}`, "x must be an array"},
		{"AllDigits", `{"x":[1,null]}`, "x[1] must be a whole number"},
		{"AllDigits", `{"x":[1.5]}`, strings.Replace(whole, "x", "x[0]", 1)},
		{"Word", `{"x":"\ud800"}`, lost},
		{"Word", `{"x":[]}`, "x must be a text"},
		{"Word", `{"x":7}`, ""},
		{"Bool", `{"x":"true"}`, "x must be true or false"},
		{"Bool", `{"x":""}`, "x must be true or false"},
		{"Bool", `{"x":1}`, "x must be true or false"},
	} {
		o := fields.Open("p", "", []byte(test.body))
		read[test.method](o)
		got := ""
		if err := o.Err(); err != nil {
			got = strings.TrimPrefix(err.Error(), "p: ")
			if bad := (*event.InputError)(nil); !errors.As(err, &bad) {
				t.Errorf("%s of %s: %T", test.method, test.body, err)
			}
		}
		if got != test.want {
			t.Errorf("%s of %s: %q", test.method, test.body, got)
		}
	}
}

func TestTheFirstErrorStandsWithItsPlace(t *testing.T) {
	t.Parallel()
	o := fields.Open("p", "[3]", []byte(`{"in":{"x":1},"y":2}`))
	in := o.Object("in")
	in.Text("x")
	o.Text("y")
	in.Refuse("", "is wrong")
	const want = "p: [3].in.x must be a text"
	if o.Err().Error() != want || in.Err().Error() != want {
		t.Errorf("%v, %v", o.Err(), in.Err())
	}
	for path, want := range map[string]string{"": "p: body must be an object", "[3]": "p: [3] must be an object"} {
		if err := fields.Open("p", path, []byte("7")).Err(); err.Error() != want {
			t.Error(err)
		}
	}
	// A value that is not an object has no fields.
	if o := fields.Open("p", "", []byte("{")); o.Has("x") || o.Object("x").Has("y") || o.Text("x") != "" {
		t.Error("a field of nothing")
	}
}

// An optional field that is wrong is left out: it is as if it were absent, and the
// object is accepted.
func TestOptionalFieldsAreLeftOut(t *testing.T) {
	t.Parallel()
	o := fields.Open("p", "[3]", []byte(`{"a":{},"b":"\ud800","c":-1,"d":9223372036854775808,"e":1,"f":[],"g":{"h":7,"i":"x"},"j":{"k":1,"k":2},"l":"x"}`))
	may := o.Optional()
	n, ok := may.Whole("d")
	in, twice := may.Object("g"), may.Object("j")
	got := []any{may.Text("a"), may.Name("b"), may.Digits("c"), n, ok, may.Bool("e"), may.Value("f"), in.Text("h"), in.Text("i"), twice.Has("k"), may.Text("l")}
	want := []any{"", "", "", json.Number(""), false, false, "", "", "x", false, "x"}
	if diff := cmp.Diff(want, got); diff != "" || o.Err() != nil {
		t.Errorf("%v\n%s", o.Err(), diff)
	}
	out := []string{"[3].d", "[3].j", "[3].a", "[3].b", "[3].c", "[3].e", "[3].f", "[3].g.h"}
	if diff := cmp.Diff(out, may.LeftOut()); diff != "" || o.Optional().LeftOut() != nil {
		t.Errorf("left out: %s", diff)
	}
	if o.Text("a"); o.Err() == nil {
		t.Error("the object itself accepts what is wrong")
	}
}

func TestArray(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		`[]`: "", ` [ 1 ] `: "", `{}`: "must be an array", `null`: "must be an array", `7`: "must be an array",
		`[1`: "must be one JSON value, with nothing after it", `[1][`: "must be one JSON value, with nothing after it", "[\"\xff\"]": "must be valid UTF-8",
	} {
		_, err := fields.Array("p", []byte(body))
		if want == "" != (err == nil) || err != nil && err.Error() != "p: body "+want {
			t.Errorf("%s: %v", body, err)
		}
	}
	all, err := fields.Array("p", []byte(` [ 1 , {"a": 2}, null ] `))
	if diff := cmp.Diff([]json.RawMessage{[]byte("1"), []byte(`{"a": 2}`), []byte("null")}, all); diff != "" || err != nil {
		t.Error(err, diff)
	}
}

func TestPart(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{"": "-", "-": "--", "--": "---", "a": "a", "-a": "-a", "a-": "a-", "–": "–", " ": " "} {
		if got := fields.Part(text); got != want {
			t.Errorf("%q is %q", text, got)
		}
	}
}
