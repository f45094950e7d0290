package item_test

import (
	"maps"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/internal/ddb"
	"github.com/homeops/ddbpatterns/internal/item"
	"github.com/homeops/ddbpatterns/internal/recordtest"
)

func TestFormatTimeHasAlwaysThreeDecimals(t *testing.T) {
	east := time.FixedZone("", 3600)
	for at, want := range map[time.Time]string{
		time.Date(2026, 3, 29, 1, 0, 0, 0, east):           "2026-03-29T00:00:00.000Z",
		time.Date(2026, 3, 29, 1, 0, 0, 500_000_000, east): "2026-03-29T00:00:00.500Z",
		time.Date(2026, 3, 29, 1, 0, 0, 999_999_999, east): "2026-03-29T00:00:00.999Z",
	} {
		if got := item.FormatTime(at); got != want {
			t.Errorf("FormatTime(%v) = %s, want %s", at, got, want)
		}
	}
}

func TestParseTimeReadsOlderForms(t *testing.T) {
	want := time.Date(2026, 2, 17, 10, 30, 0, 0, time.UTC)
	for _, text := range []string{
		"2026-02-17T10:30:00.000Z", "2026-02-17T10:30:00Z", "2026-02-17T11:30:00+01:00",
		"2026-02-17T11:30:00+0100", "2026-02-17T10:30:00", "2026-02-17T10:30Z",
		"2026-02-17T11:30:00.000+0100", "2026-02-17T10:30:00.000000000", "2026-02-17T11:30+01:00",
	} {
		got, err := item.ParseTime(ddb.Item{"at": item.S(text)}, "at")
		if err != nil || !got.Equal(want) || got.Location() != time.UTC {
			t.Errorf("ParseTime(%s) = %v, %v", text, got, err)
		}
	}
	for text, want := range map[string]time.Time{
		"2026-02-17":                          time.Date(2026, 2, 17, 0, 0, 0, 0, time.UTC),
		"2026-02-17T10:30:00.123456789Z":      time.Date(2026, 2, 17, 10, 30, 0, 123_456_789, time.UTC),
		"2026-02-17T11:30:00.123456789+0100":  time.Date(2026, 2, 17, 10, 30, 0, 123_456_789, time.UTC),
		"2026-02-17T10:30:00.123456789":       time.Date(2026, 2, 17, 10, 30, 0, 123_456_789, time.UTC),
		"2026-02-17T10:30:00.123456789-00:00": time.Date(2026, 2, 17, 10, 30, 0, 123_456_789, time.UTC),
	} {
		if got, err := item.ParseTime(ddb.Item{"at": item.S(text)}, "at"); err != nil || !got.Equal(want) {
			t.Errorf("ParseTime(%s) = %v, %v, want %v", text, got, err, want)
		}
	}
	if got, err := item.ParseTime(nil, "at"); err != nil || !got.IsZero() {
		t.Errorf("absent: %v, %v", got, err)
	}
	if _, err := item.ParseTime(ddb.Item{"at": item.S("yesterday")}, "at"); err == nil {
		t.Error("ParseTime(yesterday) is a time")
	}
}

func TestMillisReadsSeconds(t *testing.T) {
	want := time.Unix(1_771_324_200, 0)
	for _, n := range []int64{1_771_324_200, 1_771_324_200_000} {
		got, err := item.Millis(ddb.Item{"at": item.N(n)}, "at")
		if err != nil || !got.Equal(want) {
			t.Errorf("Millis(%d) = %v, %v", n, got, err)
		}
	}
	if got, err := item.Millis(nil, "at"); err != nil || !got.IsZero() {
		t.Errorf("absent: %v, %v", got, err)
	}
	for n, want := range map[int64]time.Time{
		99_999_999_999:  time.Unix(99_999_999_999, 0), // the last number that is read as seconds
		100_000_000_000: time.UnixMilli(100_000_000_000),
		0:               time.Unix(0, 0),
		-1:              time.Unix(-1, 0),
	} {
		if got, err := item.Millis(ddb.Item{"at": item.N(n)}, "at"); err != nil || !got.Equal(want) || got.Location() != time.UTC {
			t.Errorf("Millis(%d) = %v, %v, want %v", n, got, err, want)
		}
	}
	if got, err := item.Millis(ddb.Item{"at": item.F(1.5)}, "at"); err == nil {
		t.Errorf("Millis(1.5) = %v", got)
	}
}

// Numbers come back as they were, to the last digit.
func TestNumbersComeBack(t *testing.T) {
	for _, n := range []int64{0, 1, -1, math.MaxInt32 + 1, math.MaxInt64, math.MinInt64} {
		if got, err := item.Int(ddb.Item{"n": item.N(n)}, "n"); err != nil || got != n {
			t.Errorf("Int(%d) = %d, %v", n, got, err)
		}
	}
	for text, want := range map[string]int64{"5E+2": 500, "12.0": 12, "-3E0": -3, "4.611686018427387904E+18": 1 << 62} {
		if got, err := item.Int(ddb.Item{"n": item.Digits(text)}, "n"); err != nil || got != want {
			t.Errorf("Int(%s) = %d, %v, want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"1.5", "9.223372036854775808E+18", "-9.3E+18", "1E+30", "x"} {
		if got, err := item.Int(ddb.Item{"n": item.Digits(text)}, "n"); err == nil {
			t.Errorf("Int(%s) = %d", text, got)
		}
	}
	for _, x := range []float64{0, 0.1, 1.0 / 3, math.Nextafter(0.6, 1), 9.87654321e125, -1e-130} {
		if got, err := item.Float(ddb.Item{"x": item.F(x)}, "x"); err != nil || got != x {
			t.Errorf("Float(%v) = %v, %v", x, got, err)
		}
	}
	if got, err := item.Float(ddb.Item{"x": item.Digits("x")}, "x"); err == nil {
		t.Errorf("Float(x) = %v", got)
	}
}

// An absent attribute is the zero value, and not an error. One of another type is an
// error.
func TestOtherAttributes(t *testing.T) {
	it := ddb.Item{"s": item.S("x"), "n": item.Digits("7"), "f": item.F(1.5), "b": item.B([]byte{1}), "m": item.M(ddb.Item{"k": item.S("v")})}
	for attribute, read := range map[string]func(ddb.Item, string) (zero bool, err error){
		"n": func(it ddb.Item, name string) (bool, error) { n, err := item.Int(it, name); return n == 0, err },
		"f": func(it ddb.Item, name string) (bool, error) { x, err := item.Float(it, name); return x == 0, err },
		"b": func(it ddb.Item, name string) (bool, error) { b, err := item.Bytes(it, name); return b == nil, err },
		"m": func(it ddb.Item, name string) (bool, error) { m, err := item.Map(it, name); return m == nil, err },
	} {
		if zero, err := read(nil, attribute); !zero || err != nil {
			t.Errorf("no %s: zero %v, %v", attribute, zero, err)
		}
		if zero, err := read(it, attribute); zero || err != nil {
			t.Errorf("%s: zero %v, %v", attribute, zero, err)
		}
		if _, err := read(it, "s"); err == nil {
			t.Errorf("text is read as %s", attribute)
		}
	}
	if _, err := item.ParseTime(it, "f"); err == nil {
		t.Error("ParseTime of a number")
	}
	if item.Text(nil, "s") != "" || item.Text(it, "s") != "x" || item.Text(it, "n") != "7" || item.Text(it, "b") != "" {
		t.Error("Text reads strings and the digits of numbers")
	}
	if item.Has(nil, "b") || !item.Has(it, "b") {
		t.Error("Has")
	}
}

func TestSize(t *testing.T) {
	it := ddb.Item{
		"id":  item.S("åäö"),                                                             // 2 + 6
		"n":   item.N(-12345),                                                            // 1 + 1+3+1
		"f":   item.F(0.25),                                                              // 1 + 1+1
		"b":   item.B([]byte{1, 2, 3}),                                                   // 1 + 3
		"m":   item.M(ddb.Item{"mon": item.N(1)}),                                        // 1 + 3+1+3+2
		"l":   &types.AttributeValueMemberL{Value: []types.AttributeValue{item.S("ab")}}, // 1 + 3+1+2
		"yes": &types.AttributeValueMemberBOOL{Value: true},                              // 3 + 1
		"g":   item.F(0.125),                                                             // 1 + 1+2
	}
	if got, want := item.Size(it), 8+6+3+4+10+7+4+4; got != want {
		t.Errorf("Size = %d, want %d", got, want)
	}
}

func TestCheckSize(t *testing.T) {
	fits := ddb.Item{"text": item.S(strings.Repeat("x", 400<<10-4))}
	if err := item.CheckSize("message", "Text", fits); err != nil {
		t.Errorf("400 KB is refused: %v", err)
	}
	over := ddb.Item{"text": item.S(strings.Repeat("x", item.MaxSize-3))} // by a byte
	recordtest.WantBad(t, item.CheckSize("message", "Text", over), "message", "Text")
}

func TestNames(t *testing.T) {
	if got := item.Names("pk", "ttl"); len(got) != 2 || got["#pk"] != "pk" || got["#ttl"] != "ttl" {
		t.Errorf("Names = %v", got)
	}
}

func TestNamesIn(t *testing.T) {
	want := item.Names("state", "gsi1pk", "gsi1sk", "pk")
	for range 2 { // the second is remembered
		got := item.NamesIn("SET #state = :done REMOVE #gsi1pk,#gsi1sk", "attribute_exists(#pk) AND #state = :held")
		if !maps.Equal(got, want) {
			t.Errorf("NamesIn = %v, not %v", got, want)
		}
	}
	if got := item.NamesIn("", "#gsi1pk,#gsi1sk"); len(got) != 2 {
		t.Errorf("NamesIn = %v", got)
	}
}

// DynamoDB ignores a TTL that is not a time, and so does Expired.
func TestExpired(t *testing.T) {
	now := time.Unix(1000, 999)
	for name, tc := range map[string]struct {
		row  ddb.Item
		want bool
	}{
		"no row":         {nil, false},
		"no ttl":         {ddb.Item{"pk": item.S("x")}, false},
		"past":           {ddb.Item{"ttl": item.N(999)}, true},
		"this second":    {ddb.Item{"ttl": item.N(1000)}, true},
		"the next":       {ddb.Item{"ttl": item.N(1001)}, false},
		"zero":           {ddb.Item{"ttl": item.N(0)}, false},
		"negative":       {ddb.Item{"ttl": item.N(-1)}, false},
		"text":           {ddb.Item{"ttl": item.S("999")}, false},
		"not whole":      {ddb.Item{"ttl": item.F(1.5)}, false},
		"of another row": {ddb.Item{"expiresAt": item.N(999)}, false},
	} {
		if got := item.Expired(tc.row, "ttl", now); got != tc.want {
			t.Errorf("%s: Expired = %v", name, got)
		}
	}
}

func TestHasTTL(t *testing.T) {
	for name, tc := range map[string]struct {
		value types.AttributeValue
		want  bool
	}{
		"a time":       {item.N(1000), true},
		"the last":     {item.N(253_402_300_799), true},
		"year 10000":   {item.N(253_402_300_800), false},
		"milliseconds": {item.N(1_774_785_601_000), false},
		"zero":         {item.N(0), false},
		"text":         {item.S("999"), false},
		"not whole":    {item.F(1.5), false},
	} {
		if got := item.HasTTL(ddb.Item{"ttl": tc.value}, "ttl"); got != tc.want {
			t.Errorf("%s: HasTTL = %v", name, got)
		}
	}
	if item.HasTTL(nil, "ttl") {
		t.Error("no row has a TTL")
	}
}
