package attr_test

import (
	"bytes"
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unsafe"

	"github.com/google/go-cmp/cmp"

	"github.com/homeops/ddbpatterns/dynamotest/internal/attr"
	"github.com/homeops/ddbpatterns/dynamotest/internal/jsonx"
)

func decode(t testing.TB, doc string) attr.Map {
	t.Helper()
	r := jsonx.NewReader([]byte(doc))
	m, err := attr.DecodeMap(r)
	r.End()
	if r.Err() != nil || err != nil {
		t.Fatalf("decode %s: %v, %v", doc, r.Err(), err)
	}
	return m
}

// everything has a value of every kind.
const everything = `{"b":{"B":"AAH/"},"bool":{"BOOL":true},"bs":{"BS":["AA==","AQ=="]},"empty":{"S":""},` +
	`"l":{"L":[{"N":"-1.5"},{"L":[]},{"M":{}}]},"m":{"M":{"x":{"S":"å\n"},"y":{"NULL":true}}},"n":{"N":"42"},` +
	`"no":{"BOOL":false},"ns":{"NS":["-2","1","10"]},"ss":{"SS":["a","b"]}}`

func TestRoundTrip(t *testing.T) {
	t.Parallel()
	m := decode(t, everything)
	if got := string(m.AppendJSON(nil)); got != everything {
		t.Errorf("wrote\n%s, want\n%s", got, everything)
	}
}

func TestDecodeNormalises(t *testing.T) {
	t.Parallel()
	tests := map[string]string{
		`{"b":{"N":"1"},"a":{"N":"2"}}`:           `{"a":{"N":"2"},"b":{"N":"1"}}`,
		`{"a":{"N":"1"},"a":{"N":"2"}}`:           `{"a":{"N":"2"}}`,
		`{"n":{"N":"-0.0"}}`:                      `{"n":{"N":"0"}}`,
		`{"s":{"SS":["b","a"]}}`:                  `{"s":{"SS":["a","b"]}}`,
		`{"s":{"NS":["10","9.0","-1"]}}`:          `{"s":{"NS":["-1","9","10"]}}`,
		`{"s":{"S":"x","N":null}}`:                `{"s":{"S":"x"}}`,
		`{"s":{"S":"x","unknown":{"deep":[1]}}}`:  `{"s":{"S":"x"}}`,
		`{"m":{"M":{"z":{"S":""},"a":{"S":""}}}}`: `{"m":{"M":{"a":{"S":""},"z":{"S":""}}}}`,
	}
	for doc, want := range tests {
		if got := string(decode(t, doc).AppendJSON(nil)); got != want {
			t.Errorf("%s became %s, want %s", doc, got, want)
		}
	}
}

// nested returns n lists, one inside the other.
func nested(n int) string {
	return strings.Repeat(`{"L":[`, n) + `{"S":"x"}` + strings.Repeat(`]}`, n)
}

const (
	overflow  = "Number overflow. Attempting to store a number with magnitude larger than supported range"
	underflow = "Number underflow. Attempting to store a number with magnitude smaller than supported range"
)

func TestDecodeRefuses(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ value, want, older string }{
		"nothing":                {`{}`, "Supplied AttributeValue is empty, must contain exactly one of the supported datatypes", ""},
		"unknown type":           {`{"X":"x"}`, "Supplied AttributeValue is empty, must contain exactly one of the supported datatypes", ""},
		"null":                   {`{"S":null}`, "Supplied AttributeValue is empty, must contain exactly one of the supported datatypes", ""},
		"two types":              {`{"S":"x","N":"1"}`, "Supplied AttributeValue has more than one datatypes set, must contain exactly one of the supported datatypes", ""},
		"no number":              {`{"N":"x"}`, "The parameter cannot be converted to a numeric value: x", ""},
		"empty number":           {`{"N":""}`, "The parameter cannot be converted to a numeric value: ", "The parameter cannot be converted to a numeric value"},
		"null a text":            {`{"NULL":"no"}`, "One or more parameter values were invalid: Null attribute value types must have the value of true", ""},
		"null not true":          {`{"NULL":false}`, "One or more parameter values were invalid: Null attribute value types must have the value of true", ""},
		"empty SS":               {`{"SS":[]}`, "One or more parameter values were invalid: An string set  may not be empty", ""},
		"empty NS":               {`{"NS":[]}`, "One or more parameter values were invalid: An number set  may not be empty", ""},
		"empty BS":               {`{"BS":[]}`, "One or more parameter values were invalid: Binary sets should not be empty", ""},
		"duplicate SS":           {`{"SS":["b","a","b"]}`, `One or more parameter values were invalid: Input collection ["a", "b", "b"] contains duplicates.`, "One or more parameter values were invalid: Input collection [b, a, b] contains duplicates."},
		"duplicate NS":           {`{"NS":["1","1.0"]}`, "One or more parameter values were invalid: Input collection contains duplicates.", "Input collection contains duplicates"},
		"duplicate BS":           {`{"BS":["/w==","AA==","AA=="]}`, `One or more parameter values were invalid: Input collection ["AA==","/w==","AA=="]of type BS contains duplicates.`, "One or more parameter values were invalid: Input collection [/w==, AA==, AA==]of type BS contains duplicates."},
		"bad NS":                 {`{"NS":["1","x"]}`, "The parameter cannot be converted to a numeric value: x", ""},
		"inside a list":          {`{"L":[{"S":"x"},{"N":"x"}]}`, "The parameter cannot be converted to a numeric value: x", ""},
		"inside a map":           {`{"M":{"a":{"SS":[]}}}`, "One or more parameter values were invalid: An string set  may not be empty", ""},
		"33 levels":              {nested(32), "Nesting Levels have exceeded supported limits: Attributes in the item have nested levels beyond supported limit", ""},
		"as deep as can be":      {nested(400), "Nesting Levels have exceeded supported limits: Attributes in the item have nested levels beyond supported limit", ""},
		"depth before a name":    {`{"L":[{"M":{"":{"S":"x"}}},` + nested(40) + `]}`, "Nesting Levels have exceeded supported limits: Attributes in the item have nested levels beyond supported limit", ""},
		"a number before depth":  {`{"L":[{"N":"x"},` + nested(40) + `]}`, "The parameter cannot be converted to a numeric value: x", ""},
		"an exponent of 33 bits": {`{"N":"1e2147483648"}`, overflow, "The parameter cannot be converted to a numeric value: 1e2147483648"},
		"a negative one":         {`{"N":"-1.5e-2147483647"}`, underflow, "The parameter cannot be converted to a numeric value: -1.5e-2147483647"},
		"an exponent that wraps": {`{"N":"1e2147483647"}`, overflow, underflow},
		"one that does not":      {`{"N":"0.1e2147483647"}`, overflow, overflow},
		"the first of two":       {`{"L":[{},{"N":"x"}]}`, "Supplied AttributeValue is empty, must contain exactly one of the supported datatypes", ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := jsonx.NewReader([]byte(`{"fine":{"S":"x"},"wrong":` + tt.value + `,"too":{"N":"y"}}`))
			_, err := attr.DecodeMap(r)
			if r.End(); r.Err() != nil {
				t.Fatalf("the reader stopped: %v", r.Err())
			}
			var bad *attr.Error
			if !errors.As(err, &bad) {
				t.Fatalf("error is %v, want an *Error", err)
			}
			if diff := cmp.Diff(&attr.Error{Key: "wrong", Message: tt.want, Older: tt.older}, bad); diff != "" {
				t.Errorf("error (-want +got):\n%s", diff)
			}
		})
	}
}

// JSON of the wrong shape is a different kind of error: it ends the reading.
func TestDecodeStops(t *testing.T) {
	t.Parallel()
	tests := map[string]string{
		`{"a":{"S":1}}`:            "NUMBER_VALUE cannot be converted to String",
		`{"a":{"N":1}}`:            "NUMBER_VALUE cannot be converted to String",
		`{"a":{"BOOL":"x"}}`:       "Unexpected token received from parser",
		`{"a":{"NULL":"x"}}`:       "Unexpected token received from parser",
		`{"a":{"NULL":1}}`:         "NUMBER_VALUE cannot be converted to Boolean",
		`{"a":{"B":1}}`:            "only base-64-encoded strings are convertible to bytes",
		`{"a":{"B":"?"}}`:          "only base-64-encoded strings are convertible to bytes",
		`{"a":{"B":"AA"}}`:         "only base-64-encoded strings are convertible to bytes",
		`{"a":{"B":"AB=="}}`:       "only base-64-encoded strings are convertible to bytes",
		`{"a":{"L":{}}}`:           "Start of structure or map found where not expected",
		`{"a":{"M":[]}}`:           "Unrecognized collection type java.util.Map",
		`{"a":{"SS":"x"}}`:         "Unexpected field type",
		`{"a":{"SS":[1]}}`:         "NUMBER_VALUE cannot be converted to String",
		`{"a":"x"}`:                "Unexpected field type",
		`{"a":{"N":"x","S":1}}`:    "NUMBER_VALUE cannot be converted to String",
		`{"a":{"L":[{"N":1},{}]}}`: "NUMBER_VALUE cannot be converted to String",
	}
	for doc, want := range tests {
		r := jsonx.NewReader([]byte(doc))
		_, err := attr.DecodeMap(r)
		var bad *jsonx.TypeError
		if err != nil || !errors.As(r.Err(), &bad) || bad.Error() != want {
			t.Errorf("%s: reader says %v, decoder %v, want %q", doc, r.Err(), err, want)
		}
	}
}

func TestDecodeDeepest(t *testing.T) {
	t.Parallel()
	m := decode(t, `{"a":`+nested(31)+`}`)
	if v, _ := m.Get("a"); v.Depth() != 31 {
		t.Errorf("Depth = %d, want 31", v.Depth())
	}
}

func TestDepth(t *testing.T) {
	t.Parallel()
	for doc, want := range map[string]int{
		`{"a":{"S":"x"}}`:                          0,
		`{"a":{"L":[]}}`:                           0,
		`{"a":{"M":{}}}`:                           0,
		`{"a":{"SS":["x"]}}`:                       0,
		`{"a":{"L":[{"S":"x"}]}}`:                  1,
		`{"a":{"L":[{"S":"x"},{"L":[{}]}]}}`:       2,
		`{"a":{"M":{"x":{"L":[{"L":[]}]}}}}`:       2,
		`{"a":{"L":[{"L":[{"L":[]}]},{"S":"x"}]}}`: 2,
	} {
		v, _ := decode(t, strings.ReplaceAll(doc, "{}]", `{"M":{}}]`)).Get("a")
		if got := v.Depth(); got != want {
			t.Errorf("depth of %s = %d, want %d", doc, got, want)
		}
	}
}

func TestSize(t *testing.T) {
	t.Parallel()
	tests := map[string]int{
		`{"S":"hello"}`: 5, `{"S":"åäö"}`: 6, `{"S":""}`: 0, `{"B":"AAH/"}`: 3,
		`{"BOOL":true}`: 1, `{"NULL":true}`: 1,
		`{"L":[]}`: 3, `{"L":[{"S":"ab"},{"BOOL":true}]}`: 3 + 1 + 2 + 1 + 1,
		`{"M":{}}`: 3, `{"M":{"key":{"S":"ab"}}}`: 3 + 1 + 3 + 2,
		`{"SS":["a","bc"]}`: 3, `{"NS":["1","-42"]}`: 2 + 3, `{"BS":["AA==","AQI="]}`: 3,
		// Numbers, by their digits on either side of the point.
		`{"N":"0"}`: 1, `{"N":"-0"}`: 1, `{"N":"1"}`: 2, `{"N":"12"}`: 2, `{"N":"123"}`: 3,
		`{"N":"100"}`: 2, `{"N":"1010"}`: 3, `{"N":"0.0000001"}`: 2, `{"N":"1E125"}`: 2, `{"N":"1E-100"}`: 2,
		`{"N":"1.5"}`: 3, `{"N":"1.200"}`: 3, `{"N":"1.234"}`: 4, `{"N":"3.14159"}`: 5, `{"N":"100.5"}`: 4,
		`{"N":"0.15"}`: 2, `{"N":"-42"}`: 3, `{"N":"-12345"}`: 5, `{"N":"-0.15"}`: 3,
		`{"N":"` + digits38 + `"}`: 20,
	}
	for doc, want := range tests {
		m := decode(t, `{"name":`+doc+`}`)
		if v, _ := m.Get("name"); v.Size() != want {
			t.Errorf("size of %s = %d, want %d", doc, v.Size(), want)
		}
		if got := m.Size(); got != want+len("name") {
			t.Errorf("size of an item with %s = %d, want %d", doc, got, want+len("name"))
		}
	}
}

func TestEqual(t *testing.T) {
	t.Parallel()
	same := []string{`{"N":"1"}`, `{"N":"1.0"}`}
	values := []string{
		`{"S":"1"}`, `{"N":"1"}`, `{"B":"MQ=="}`, `{"BOOL":true}`, `{"BOOL":false}`, `{"NULL":true}`,
		`{"L":[]}`, `{"L":[{"N":"1"}]}`, `{"L":[{"N":"1"},{"N":"2"}]}`, `{"L":[{"N":"2"},{"N":"1"}]}`,
		`{"M":{}}`, `{"M":{"a":{"N":"1"}}}`, `{"M":{"b":{"N":"1"}}}`, `{"M":{"a":{"N":"2"}}}`,
		`{"SS":["1","2"]}`, `{"SS":["1"]}`, `{"NS":["1","2"]}`, `{"NS":["1"]}`, `{"BS":["MQ=="]}`,
	}
	value := func(doc string) attr.Value {
		v, _ := decode(t, `{"a":`+doc+`}`).Get("a")
		return v
	}
	if !value(same[0]).Equal(value(same[1])) || !value(`{"SS":["a","b"]}`).Equal(value(`{"SS":["b","a"]}`)) {
		t.Error("two forms of one value are not equal")
	}
	for i, a := range values {
		for j, b := range values {
			if got := value(a).Equal(value(b)); got != (i == j) {
				t.Errorf("Equal(%s, %s) = %v", a, b, got)
			}
		}
	}
}

func TestCompareRefusesKinds(t *testing.T) {
	t.Parallel()
	m := decode(t, everything)
	for _, a := range m {
		for _, b := range m {
			_, ok := attr.Compare(a.Value, b.Value)
			if want := a.Value.Kind() == b.Value.Kind() && a.Value.Kind().Scalar(); ok != want {
				t.Errorf("Compare(%s, %s) says %v, want %v", a.Name, b.Name, ok, want)
			}
		}
	}
}

func TestDecodeOneValue(t *testing.T) {
	t.Parallel()
	r := jsonx.NewReader([]byte(`[{"N":"1.0"},{"SS":[]}]`))
	r.Array()
	r.More()
	if v, err := attr.Decode(r); err != nil || !v.Equal(attr.Int(1)) {
		t.Errorf("Decode = %s, %v", v.AppendJSON(nil), err)
	}
	r.More()
	_, err := attr.Decode(r)
	var bad *attr.Error
	if !errors.As(err, &bad) || bad.Key != "" {
		t.Errorf("error is %v, want one of no key", err)
	}
	if r.More(); r.Err() != nil {
		t.Error(r.Err())
	}
}

func TestSetConstructors(t *testing.T) {
	t.Parallel()
	ss, err := attr.StringSet("b", "a")
	if err != nil || string(ss.AppendJSON(nil)) != `{"SS":["a","b"]}` {
		t.Errorf("StringSet = %s, %v", ss.AppendJSON(nil), err)
	}
	bs, err := attr.BytesSet("\x01", "\x00")
	if err != nil || string(bs.AppendJSON(nil)) != `{"BS":["AA==","AQ=="]}` {
		t.Errorf("BytesSet = %s, %v", bs.AppendJSON(nil), err)
	}
	given := []string{"2", "1.0"}
	ns, err := attr.NumberSet(given...)
	if err != nil || string(ns.AppendJSON(nil)) != `{"NS":["1","2"]}` || given[1] != "1.0" {
		t.Errorf("NumberSet = %s, %v, of %v", ns.AppendJSON(nil), err, given)
	}
}

// A value that cannot be a key has no key bytes.
func TestAppendKeyOfOtherKinds(t *testing.T) {
	t.Parallel()
	for _, f := range decode(t, everything) {
		if got := len(attr.AppendKey(nil, f.Value)) > 0; got != f.Value.Kind().Scalar() {
			t.Errorf("the key of %s has bytes: %v", f.Name, got)
		}
	}
}

// A string begins with another exactly if its key bytes begin with the other's
// prefix, even with zero bytes.
func TestAppendKeyPrefix(t *testing.T) {
	t.Parallel()
	texts := []string{"", "a", "ab", "abc", "b", "\x00", "\x00\x00", "\x00\x01", "a\x00", "a\x00b", "a\x00\xff", "\xff"}
	for _, kind := range []func(string) attr.Value{attr.String, attr.Bytes} {
		for _, whole := range texts {
			for _, head := range texts {
				key, prefix := attr.AppendKey([]byte("x"), kind(whole)), attr.AppendKeyPrefix([]byte("x"), kind(head))
				if got, want := bytes.HasPrefix(key, prefix), strings.HasPrefix(whole, head); got != want {
					t.Errorf("%q begins with %q: %t, want %t", whole, head, got, want)
				}
			}
		}
	}
	one, err := attr.Number("1")
	if err != nil || len(attr.AppendKeyPrefix(nil, one)) != 0 {
		t.Errorf("%v: a number has no prefix", err)
	}
}

func TestSets(t *testing.T) {
	t.Parallel()
	a, _ := attr.NumberSet("10", "9", "1.50")
	b, _ := attr.NumberSet("9.0", "2")
	if got, want := attr.Union(a, b).Set(), []string{"1.5", "2", "9", "10"}; !slices.Equal(got, want) {
		t.Errorf("union = %v, want %v", got, want)
	}
	rest, ok := attr.Difference(a, b)
	if want := []string{"1.5", "10"}; !ok || !slices.Equal(rest.Set(), want) {
		t.Errorf("difference = %v, want %v", rest.Set(), want)
	}
	if _, ok := attr.Difference(a, a); ok {
		t.Error("something is left of a set without itself")
	}
	if !attr.HasElement(a, number(t, "9.00")) || attr.HasElement(a, number(t, "8")) || attr.HasElement(a, attr.String("9")) {
		t.Error("HasElement finds what is not there, or not what is")
	}
	if got := a.Set(); !slices.Equal(got, []string{"1.5", "9", "10"}) {
		t.Errorf("the set was changed to %v", got)
	}
}

func TestMap(t *testing.T) {
	t.Parallel()
	m := decode(t, `{"b":{"N":"2"},"d":{"N":"4"}}`)
	before := string(m.AppendJSON(nil))
	check := func(what string, got attr.Map, want string) {
		t.Helper()
		if diff := cmp.Diff(want, string(got.AppendJSON(nil))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", what, diff)
		}
	}
	check("first", m.With("a", attr.Int(1)), `{"a":{"N":"1"},"b":{"N":"2"},"d":{"N":"4"}}`)
	check("middle", m.With("c", attr.Int(3)), `{"b":{"N":"2"},"c":{"N":"3"},"d":{"N":"4"}}`)
	check("last", m.With("e", attr.Int(5)), `{"b":{"N":"2"},"d":{"N":"4"},"e":{"N":"5"}}`)
	check("replaced", m.With("d", attr.Null()), `{"b":{"N":"2"},"d":{"NULL":true}}`)
	check("into nothing", attr.Map(nil).With("a", attr.Bool(true)), `{"a":{"BOOL":true}}`)
	check("without", m.Without("b"), `{"d":{"N":"4"}}`)
	check("without none", m.Without("x"), before)
	check("picked", m.Pick("d", "x", "d"), `{"d":{"N":"4"}}`)
	check("unchanged", m, before)
	if m.Has("a") || !m.Has("b") {
		t.Error("Has is wrong")
	}
	if v, ok := m.Get("c"); ok || v.Valid() {
		t.Error("Get found what is not there")
	}
}

// The accessors of one kind find nothing in another.
func TestAccessors(t *testing.T) {
	t.Parallel()
	for _, f := range decode(t, everything) {
		v := f.Value
		if (v.List() != nil) != (v.Kind() == attr.L) || (v.Map() != nil) != (v.Kind() == attr.M) || (v.Set() != nil) != v.Kind().Set() {
			t.Errorf("%s has the contents of another kind", f.Name)
		}
	}
	var none attr.Value
	if none.Valid() || none.Kind().String() != "" || none.Size() != 0 || string(none.AppendJSON(nil)) != "{}" {
		t.Error("the zero Value is something")
	}
}

func TestKinds(t *testing.T) {
	t.Parallel()
	for k := attr.S; k <= attr.BS; k++ {
		if got := attr.KindOf(k.String()); got != k {
			t.Errorf("KindOf(%s) = %v", k, got)
		}
	}
	if attr.KindOf("") != 0 || attr.KindOf("s") != 0 {
		t.Error("a kind has another name")
	}
	if attr.SS.Element() != attr.S || attr.NS.Element() != attr.N || attr.BS.Element() != attr.B || attr.L.Element() != 0 {
		t.Error("a set has the wrong elements")
	}
}

// A million items must fit in memory, so a Value must stay small.
func TestValueIsSmall(t *testing.T) {
	t.Parallel()
	if size := unsafe.Sizeof(attr.Value{}); size > 24 {
		t.Errorf("a Value takes %d bytes", size)
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(everything))
	f.Add([]byte(`{"a":{"L":[{"M":{"x":{"NS":["1","1e-5"]}}}]}}`))
	f.Add([]byte(`{"a":` + nested(40) + `}`))
	f.Fuzz(func(t *testing.T, doc []byte) {
		r := jsonx.NewReader(doc)
		m, err := attr.DecodeMap(r)
		if r.End(); r.Err() != nil || err != nil {
			return
		}
		first := m.AppendJSON(nil)
		again := decode(t, string(first))
		if !m.Equal(again) || !bytes.Equal(first, again.AppendJSON(nil)) {
			t.Errorf("%s became %s", first, again.AppendJSON(nil))
		}
		if m.Size() != again.Size() {
			t.Errorf("%s has two sizes", first)
		}
	})
}

func FuzzKeyOrder(f *testing.F) {
	for _, s := range []string{"", "a", "a\x00", "a\x00\x01", "a\x00\xff", "\xff", "a\x01"} {
		f.Add(s, "a", "tail")
	}
	f.Fuzz(func(t *testing.T, x, y, tail string) {
		for _, kind := range []func(string) attr.Value{attr.String, attr.Bytes} {
			a, b := attr.AppendKey(nil, kind(x)), attr.AppendKey(nil, kind(y))
			if got, want := bytes.Compare(a, b), strings.Compare(x, y); got != want {
				t.Errorf("keys of %q and %q compare %d, want %d", x, y, got, want)
			}
			if x != y && bytes.HasPrefix(a, b) {
				t.Errorf("the key of %q begins with that of %q", x, y)
			}
			// The bytes after a key do not change the order of two keys.
			joined := bytes.Compare(attr.AppendKey(a, kind(tail)), b)
			if x != y && joined != strings.Compare(x, y) {
				t.Errorf("%q with a tail and %q compare %d", x, y, joined)
			}
		}
	})
}

func BenchmarkDecode(b *testing.B) {
	doc := []byte(`{"chatId":{"S":"-100123"},"messageId":{"N":"4711"},"text":{"S":"` + strings.Repeat("x", 100) + `"},"at":{"N":"1700000000000"}}`)
	r := jsonx.NewReader(nil)
	b.ReportAllocs()
	for b.Loop() {
		r.Reset(doc)
		if _, err := attr.DecodeMap(r); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkEncode(b *testing.B) {
	m := decode(b, everything)
	var buf []byte
	b.ReportAllocs()
	for b.Loop() {
		buf = m.AppendJSON(buf[:0])
	}
}

// The older code accepts any zero whose exponent it can read.
func TestDecodeTakesZeros(t *testing.T) {
	t.Parallel()
	for text, taken := range map[string]bool{
		`{"N":"0e-131"}`: true, `{"N":"-0.00e2147483647"}`: true, `{"N":"0e2147483648"}`: false, `{"NS":["1","0e-500"]}`: true,
		`{"L":[{"N":"0e126"},{"N":"x"}]}`: false, `{"N":"1e126"}`: false,
	} {
		m, err := attr.DecodeMap(jsonx.NewReader([]byte(`{"a":` + text + `}`)))
		if err == nil || (attr.AsOlder(err) == nil) != taken {
			t.Errorf("%s: %v, %v", text, err, attr.AsOlder(err))
		}
		if v, _ := m.Get("a"); taken && v.Kind() == attr.N && v.Str() != "0" {
			t.Errorf("%s is read as %s", text, v.Str())
		}
	}
}

// An attribute without a name is reported before errors of values.
func TestDecodeRefusesNames(t *testing.T) {
	t.Parallel()
	for _, doc := range []string{`{"a":` + nested(40) + `,"":{"S":"x"}}`, `{"":{"S":"x"},"a":{"N":"x"}}`, `{"a":{"M":{"":{"S":"x"}}}}`} {
		if _, err := attr.DecodeMap(jsonx.NewReader([]byte(doc))); err == nil || err.Error() != "Empty attribute name" {
			t.Errorf("%.40s: %v", doc, err)
		}
	}
}

// A set of any length is refused for its duplicates, in a short message. An
// element that is not a number is reported first, at any place.
func TestLongSets(t *testing.T) {
	t.Parallel()
	const many = 100_000
	set := func(kind, elems string, n int, last string) string {
		return `{"a":{"` + kind + `":[` + strings.Repeat(elems+",", n) + last + `]}}`
	}
	for name, tt := range map[string]struct{ doc, want string }{
		"numbers":          {set("NS", `"7","8"`, many, `"9"`), "One or more parameter values were invalid: Input collection contains duplicates"},
		"no number":        {set("NS", `"7"`, many, `"x"`), "The parameter cannot be converted to a numeric value: x"},
		"no number before": {`{"a":{"NS":["y",` + strings.Repeat(`"7",`, many) + `"x"]}}`, "The parameter cannot be converted to a numeric value: y"},
		"strings":          {set("SS", `"p","q"`, many, `"r"`), `One or more parameter values were invalid: Input collection ["p", "q", "p", "q",`},
		"bytes":            {set("BS", `"AA==",""`, many, `"AQ=="`), `One or more parameter values were invalid: Input collection ["","AA==","AA==","",`},
	} {
		_, err := attr.DecodeMap(jsonx.NewReader([]byte(tt.doc)))
		if err == nil || !strings.HasPrefix(err.Error(), tt.want) || len(err.Error()) > many {
			t.Errorf("%s: got %.200v, want %s", name, err, tt.want)
		}
	}
	r := jsonx.NewReader([]byte(set("SS", `"p"`, many, `1`)))
	if _, err := attr.DecodeMap(r); err != nil || r.Err() == nil {
		t.Errorf("a number among strings: %v, %v", err, r.Err())
	}
	var elems []string
	for i := range many {
		elems = append(elems, `"`+strconv.Itoa(i)+`"`)
	}
	m := decode(t, `{"a":{"NS":[`+strings.Join(elems, ",")+`]}}`)
	if v, _ := m.Get("a"); len(v.Set()) != many || v.Set()[many-1] != strconv.Itoa(many-1) {
		t.Errorf("%d elements are left", len(v.Set()))
	}
}
