package jsonx_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/homeops/ddbpatterns/dynamotest/internal/jsonx"
)

// tree reads any document into the same values as encoding/json, with numbers
// as their text.
func tree(r *jsonx.Reader) any {
	switch r.Peek() {
	case jsonx.Object:
		m := map[string]any{}
		r.Object()
		for key, ok := r.Key(); ok; key, ok = r.Key() {
			m[key] = tree(r)
		}
		return m
	case jsonx.Array:
		list := []any{}
		r.Array()
		for r.More() {
			list = append(list, tree(r))
		}
		return list
	case jsonx.String:
		return r.String()
	case jsonx.Number:
		return json.Number(r.Raw())
	case jsonx.True, jsonx.False:
		return r.Bool()
	case jsonx.Null:
		r.Null()
		return nil
	}
	r.Skip()
	return nil
}

func TestReader(t *testing.T) {
	t.Parallel()
	documents := []string{
		`{}`, `[]`, `""`, `0`, `-1.5e+10`, `true`, `null`, ` [ 1 , 2 ] `,
		`{"a":{"b":[{},[],"x"]},"c":false}`,
		`"\" \\ \/ \b \f \n \r \t \u00e5 \ud83e\uddf9 å 🧹"`,
		`{"":""}`, `{"a":1,"a":2}`, `[[[[[]]]]]`, "\t\r\n{ \"a\" : [ ] }\n",
	}
	for _, doc := range documents {
		t.Run(doc, func(t *testing.T) {
			t.Parallel()
			var want any
			d := json.NewDecoder(strings.NewReader(doc))
			d.UseNumber()
			if err := d.Decode(&want); err != nil {
				t.Fatal(err)
			}
			r := jsonx.NewReader([]byte(doc))
			got := tree(r)
			r.End()
			if r.Err() != nil {
				t.Fatal(r.Err())
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("read otherwise than by encoding/json (-want +got):\n%s", diff)
			}
		})
	}
}

func TestReaderRefuses(t *testing.T) {
	t.Parallel()
	documents := map[string]string{
		"nothing":            ``,
		"only space":         "  ",
		"open object":        `{`,
		"open array":         `[1`,
		"no colon":           `{"a" 1}`,
		"no value":           `{"a":}`,
		"name without quote": `{a:1}`,
		"comma at the end":   `[1,]`,
		"comma in an object": `{"a":1,}`,
		"comma first":        `[,1]`,
		"no comma":           `[1 2]`,
		"two documents":      `{} {}`,
		"wrong bracket":      `[1}`,
		"leading zero":       `01`,
		"lone minus":         `-`,
		"no fraction":        `1.`,
		"no exponent":        `1e`,
		"plus":               `+1`,
		"bare word":          `nul`,
		"open string":        `"abc`,
		"open escape":        `"\`,
		"unknown escape":     `"\x"`,
		"short escape":       `"\u12"`,
		"no hex":             `"\u12zz"`,
		"half a pair":        `"\ud83e"`,
		"wrong half":         `"\ud83ex"`,
		"second half":        `"\udd00"`,
		"control character":  "\"a\nb\"",
		"control after \\":   "\"\\n\n\"",
		"bad UTF-8":          "\"\xff\"",
		"bad UTF-8 after \\": "\"\\n\xff\"",
		"too deep":           strings.Repeat("[", jsonx.MaxDepth+1),
		"endlessly deep":     strings.Repeat(`{"a":`, 1_000_000),
	}
	for name, doc := range documents {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			read := map[string]func(*jsonx.Reader){
				"as a tree": func(r *jsonx.Reader) { tree(r) },
				"skipping":  (*jsonx.Reader).Skip,
			}
			for how, read := range read {
				r := jsonx.NewReader([]byte(doc))
				read(r)
				r.End()
				var bad *jsonx.SyntaxError
				if !errors.As(r.Err(), &bad) {
					t.Errorf("%s: error is %v, want a *SyntaxError", how, r.Err())
				}
			}
		})
	}
}

func TestReaderDepth(t *testing.T) {
	t.Parallel()
	nested := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	tests := map[string]struct {
		doc string
		ok  bool
	}{
		"deepest":  {nested(jsonx.MaxDepth), true},
		"too deep": {nested(jsonx.MaxDepth + 1), false},
		"wide":     {"[" + strings.Repeat("{},[],", 2*jsonx.MaxDepth) + "[]]", true},
	}
	for name, tt := range tests {
		for how, read := range map[string]func(*jsonx.Reader){
			"as a tree": func(r *jsonx.Reader) { tree(r) },
			"skipping":  (*jsonx.Reader).Skip,
		} {
			r := jsonx.NewReader([]byte(tt.doc))
			read(r)
			if r.End(); (r.Err() == nil) != tt.ok {
				t.Errorf("%s, %s: %v", name, how, r.Err())
			}
		}
	}
}

// A Boolean may be a text.
func TestBooleanTexts(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{`true`: true, `"true"`: true, `"YES"`: true, `"1"`: true, `false`: false, `"False"`: false, `"no"`: false, `"0"`: false} {
		r := jsonx.NewReader([]byte(text))
		got := r.Bool()
		if r.End(); got != want || r.Err() != nil {
			t.Errorf("%s is %v, %v", text, got, r.Err())
		}
	}
}

func TestReaderTypes(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		doc  string
		read func(*jsonx.Reader)
		want string
	}{
		"string":  {`1`, func(r *jsonx.Reader) { _ = r.String() }, "NUMBER_VALUE cannot be converted to String"},
		"name":    {`true`, func(r *jsonx.Reader) { r.Name() }, "TRUE_VALUE cannot be converted to String"},
		"text":    {`{}`, func(r *jsonx.Reader) { r.Text() }, "Start of structure or map found where not expected"},
		"boolean": {`1`, func(r *jsonx.Reader) { r.Bool() }, "NUMBER_VALUE cannot be converted to Boolean"},
		"a text":  {`"23"`, func(r *jsonx.Reader) { r.Bool() }, "Unexpected token received from parser"},
		"integer": {`false`, func(r *jsonx.Reader) { r.Int() }, "FALSE_VALUE cannot be converted to Long"},
		"huge":    {`1e99`, func(r *jsonx.Reader) { r.Int() }, "NUMBER_VALUE cannot be converted to Long"},
		"list":    {`"x"`, func(r *jsonx.Reader) { r.Array() }, "Unexpected field type"},
		"map":     {`[]`, func(r *jsonx.Reader) { r.Object() }, "Unrecognized collection type java.util.Map"},
		"scalar":  {`[]`, func(r *jsonx.Reader) { _ = r.String() }, "Unrecognized collection type class java.lang.String"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := jsonx.NewReader([]byte(tt.doc))
			tt.read(r)
			var bad *jsonx.TypeError
			if !errors.As(r.Err(), &bad) {
				t.Fatalf("error is %v, want a *TypeError", r.Err())
			}
			if bad.Error() != tt.want {
				t.Errorf("error says %q, want %q", bad, tt.want)
			}
			if r.More() || r.Bool() || r.Null() || r.Int() != 0 || r.String() != "" || r.Peek() != jsonx.Invalid {
				t.Error("a reader with an error went on")
			}
		})
	}
}

func TestReaderInts(t *testing.T) {
	t.Parallel()
	for doc, want := range map[string]int64{
		"0": 0, "-7": -7, "9223372036854775807": 1<<63 - 1, "1e3": 1000, "2.9": 2, "-2.9": -2,
	} {
		r := jsonx.NewReader([]byte(doc))
		if got := r.Int(); got != want || r.Err() != nil {
			t.Errorf("Int of %s = %d, %v, want %d", doc, got, r.Err(), want)
		}
	}
}

func TestReaderStrings(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("n", 100)
	for _, want := range []string{"", "a", "å", "\n", long} {
		doc := jsonx.AppendString(nil, want)
		for how, read := range map[string]func(*jsonx.Reader) string{
			"String": (*jsonx.Reader).String,
			"Name":   (*jsonx.Reader).Name,
			"Text":   func(r *jsonx.Reader) string { return string(r.Text()) },
		} {
			r := jsonx.NewReader(doc)
			if got := read(r); got != want || r.Err() != nil || r.Pos() != len(doc) {
				t.Errorf("%s of %s = %q, %v", how, doc, got, r.Err())
			}
		}
	}
}

func TestAppendString(t *testing.T) {
	t.Parallel()
	got := string(jsonx.AppendString(nil, "a\"b\\c\n\r\t\x00\x1f\x7få🧹\xff"))
	if want := `"a\"b\\c\n\r\t\u0000\u001f` + "\x7få🧹\uFFFD" + `"`; got != want {
		t.Errorf("AppendString = %s, want %s", got, want)
	}
}

// Errors are for logs, too, so they have the place.
func TestSyntaxErrorSaysWhere(t *testing.T) {
	t.Parallel()
	r := jsonx.NewReader([]byte(`{"a": ]`))
	r.Skip()
	if r.Err() == nil || !strings.Contains(r.Err().Error(), "byte 6") {
		t.Errorf("error is %v, want one that names byte 6", r.Err())
	}
}

func TestReaderRaw(t *testing.T) {
	t.Parallel()
	r := jsonx.NewReader([]byte(`{"a": {"b": [1, 2]} , "c": 3}`))
	r.Object()
	r.Key()
	if got := string(r.Raw()); got != `{"b": [1, 2]}` {
		t.Errorf("Raw = %s", got)
	}
	if key, ok := r.Key(); key != "c" || !ok || r.Int() != 3 {
		t.Error("the reader did not go on after Raw")
	}
}

// Names are shared between documents, so that items do not hold copies of them.
func TestReaderSharesNames(t *testing.T) {
	doc := []byte(`{"activityTimestamp":0}`)
	r := jsonx.NewReader(nil)
	read := func() {
		r.Reset(doc)
		r.Object()
		r.Key()
		r.Skip()
		r.Key()
	}
	read()
	if n := testing.AllocsPerRun(100, read); n != 0 {
		t.Errorf("reading a known name allocates %v times", n)
	}
}

func FuzzReader(f *testing.F) {
	for _, doc := range []string{`{"a":[1,"\u00e5",null]}`, `[[1e5,true],{}]`, `"\ud83e\uddf9"`, `{"a":`, "\"\xff\""} {
		f.Add([]byte(doc))
	}
	f.Fuzz(func(t *testing.T, doc []byte) {
		r := jsonx.NewReader(doc)
		tree(r)
		r.End()
		skip := jsonx.NewReader(doc)
		skip.Skip()
		skip.End()
		if (r.Err() == nil) != (skip.Err() == nil) {
			t.Errorf("reading says %v, skipping says %v", r.Err(), skip.Err())
		}
		if r.Err() == nil && !json.Valid(doc) {
			t.Error("read what is no JSON")
		}
	})
}

func FuzzAppendString(f *testing.F) {
	for _, s := range []string{"", "plain", "å 🧹 \" \\ \n \x00 \x1f \u2028", "bad \xff\xfe end", "\xed\xa0\x80"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		doc := jsonx.AppendString([]byte("x"), s)[1:]
		var std string
		if err := json.Unmarshal(doc, &std); err != nil {
			t.Fatalf("%s is no JSON: %v", doc, err)
		}
		r := jsonx.NewReader(doc)
		got := r.String()
		if r.End(); r.Err() != nil || got != std {
			t.Fatalf("read back %q, %v, want %q", got, r.Err(), std)
		}
		if utf8.ValidString(s) && got != s {
			t.Errorf("read back %q, want %q", got, s)
		}
	})
}
