package payload_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/ddb"
	"github.com/homeops/ddbpatterns/internal/item"
	"github.com/homeops/ddbpatterns/internal/payload"
	"github.com/homeops/ddbpatterns/internal/recordtest"
	"github.com/homeops/ddbpatterns/schema"
)

// n is like attributevalue.Number, which would be in a consumer's go.sum.
type n string

func (v n) Float64() (float64, error) { return strconv.ParseFloat(string(v), 64) }

// Stored data comes back, with numbers in their one form, whatever their Go
// type was.
func TestRoundTrip(t *testing.T) {
	t.Parallel()
	db := dynamotest.Open(t)
	table := db.Name("orders")
	recordtest.Create(t, db.Client(), schema.Table{Name: table, Key: schema.Key{Partition: schema.String("pk")}})
	longest := strings.Repeat("9", 38)
	for _, tc := range []struct{ given, want any }{
		{"", ""},
		{"Malmö", "Malmö"},
		{true, true},
		{-7, n("-7")},
		{int8(-128), n("-128")},
		{int64(math.MinInt64), n("-9223372036854775808")},
		{uint8(255), n("255")},
		{uint64(math.MaxUint64), n("18446744073709551615")},
		{float32(0.1), n("0.1")},
		{1e21, n("1000000000000000000000")},
		{math.Copysign(0, -1), n("0")},
		{1e-7, n("0.0000001")},
		{n("1.0"), n("1")},
		{n("-0.50"), n("-0.5")},
		{n("+007"), n("7")},
		{n("12.34e1"), n("123.4")},
		{json.Number("1E3"), n("1000")},
		{n(longest), n(longest)},
		{n("0." + longest), n("0." + longest)},
		{n("1e-130"), n("0." + strings.Repeat("0", 129) + "1")},
		{n("9.9e125"), n("99" + strings.Repeat("0", 124))},
	} {
		row := ddb.Item{"pk": item.S("1")}
		given := map[string]any{"x": tc.given}
		if err := payload.Encode("activity", row, given); err != nil {
			t.Errorf("%v: %v", tc.given, err)
			continue
		}
		recordtest.Put(t, db.Client(), table, row)
		stored := recordtest.Row(t, db.Client(), table, ddb.Item{"pk": item.S("1")})
		got, err := payload.Decode[n](stored)
		if diff := cmp.Diff(map[string]any{"x": tc.want}, got); diff != "" || err != nil {
			t.Errorf("%T %v, %v (-want +got):\n%s", tc.given, tc.given, err, diff)
		}
		if !payload.Equal(got, given) || !payload.Equal(given, got) {
			t.Errorf("%v is not equal to what came back, %v", given, got)
		}
	}
}

func TestNothing(t *testing.T) {
	t.Parallel()
	row := ddb.Item{}
	for _, nothing := range []map[string]any{nil, {}} {
		if err := payload.Encode("activity", row, nothing); err != nil || len(row) != 0 {
			t.Errorf("%v, %v", row, err)
		}
	}
	if got, err := payload.Decode[n](row); got != nil || err != nil {
		t.Errorf("%v, %v", got, err)
	}
	if got, err := payload.Decode[n](ddb.Item{"data": item.M(nil)}); got != nil || err != nil {
		t.Errorf("an empty map: %v, %v", got, err)
	}
	if !payload.Equal(nil, map[string]any{}) || payload.Clone(nil) != nil {
		t.Error("nothing is not nothing")
	}
}

func TestRefuses(t *testing.T) {
	t.Parallel()
	many := map[string]any{}
	for i := range 33 {
		many[fmt.Sprint(i)] = i
	}
	for field, all := range map[string][]map[string]any{
		"Data": {many, {"": 1}, {strings.Repeat("x", 256): 1}, {"\xff": 1}, {"x": strings.Repeat("x", 4<<10)}},
		`Data["x"]`: {
			{"x": nil},
			{"x": []string{"a"}},
			{"x": map[string]any{}},
			{"x": "\xff"},
			{"x": new(int)},
			{"x": new(n)},
			{"x": math.NaN()},
			{"x": math.Inf(1)},
			{"x": 1e126},
			{"x": 1e-131},
			{"x": n("1e999999999")},
			{"x": n("")},
			{"x": n(".5")},
			{"x": n("0x1f")},
			{"x": n("+-1")},
			{"x": n("١")},
			{"x": n(strings.Repeat("9", 39))},
			{"x": n("1." + strings.Repeat("0", 37) + "1")},
			{"x": json.Number("NaN")},
		},
	} {
		for _, data := range all {
			recordtest.WantBad(t, payload.Encode("activity", ddb.Item{}, data), "activity", field, data)
		}
	}
	fits := map[string]any{"x": strings.Repeat("x", 4<<10-4-3-2), strings.Repeat("å", 127): ""}
	recordtest.WantBad(t, payload.Encode("activity", ddb.Item{}, fits), "activity", "Data", "a long name more")
	delete(fits, strings.Repeat("å", 127))
	if err := payload.Encode("activity", ddb.Item{}, fits); err != nil {
		t.Error(err)
	}
}

// Decode refuses types that the format does not have.
func TestStrange(t *testing.T) {
	t.Parallel()
	for name, value := range map[string]types.AttributeValue{
		"text":   item.S("x"),
		"binary": item.M(ddb.Item{"x": item.B([]byte("x"))}),
		"null":   item.M(ddb.Item{"x": &types.AttributeValueMemberNULL{Value: true}}),
		"a map":  item.M(ddb.Item{"x": item.M(nil)}),
		"none":   item.M(ddb.Item{"x": nil}),
	} {
		var bad *event.InputError
		if got, err := payload.Decode[n](ddb.Item{"data": value}); err == nil || errors.As(err, &bad) || got != nil {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
}

// The returned map belongs to the caller, and the given map is not kept.
func TestNoMapIsShared(t *testing.T) {
	t.Parallel()
	given, row := map[string]any{"x": 1}, ddb.Item{}
	if err := payload.Encode("activity", row, given); err != nil {
		t.Fatal(err)
	}
	kept := payload.Clone(given)
	given["x"] = 2
	got, _ := payload.Decode[n](row)
	if !payload.Equal(got, kept) || payload.Equal(got, given) {
		t.Errorf("%v, %v", got, kept)
	}
	got["x"] = "y"
	if again, _ := payload.Decode[n](row); !payload.Equal(again, kept) {
		t.Errorf("%v", again)
	}
}

func TestEqual(t *testing.T) {
	t.Parallel()
	for _, differ := range [][2]map[string]any{
		{{"x": 1}, nil},
		{{"x": 1}, {"y": 1}},
		{{"x": 1}, {"x": 1, "y": 1}},
		{{"x": 1}, {"x": "1"}},
		{{"x": true}, {"x": "true"}},
		{{"x": 1}, {"x": -1}},
		{{"x": 1}, {"x": []int{1}}},
		{{"x": []int{1}}, {"x": []int{1}}},
		{{"x": int64(1) << 60}, {"x": int64(1)<<60 + 1}}, // one float64
	} {
		if payload.Equal(differ[0], differ[1]) || payload.Equal(differ[1], differ[0]) {
			t.Errorf("%v and %v are equal", differ[0], differ[1])
		}
	}
}

// Random numbers in random forms: two are equal exactly if their values are.
func TestNumbersCompareByValue(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	form := func() string {
		text := fmt.Sprint(r.IntN(12))
		if r.IntN(2) == 0 {
			text += "." + strings.Repeat("0", r.IntN(2)) + fmt.Sprint(r.IntN(4))
		}
		if r.IntN(2) == 0 {
			text += fmt.Sprintf("%s%+d", []string{"e", "E"}[r.IntN(2)], r.IntN(5)-2)
		}
		return []string{"", "-", "+", "0"}[r.IntN(4)] + text
	}
	equal := 0
	for range 20_000 {
		a, b := form(), form()
		x, _ := new(big.Rat).SetString(a)
		y, _ := new(big.Rat).SetString(b)
		want := x.Cmp(y) == 0
		if want {
			equal++
		}
		if got := payload.Equal(map[string]any{"x": n(a)}, map[string]any{"x": n(b)}); got != want {
			t.Fatalf("%s and %s: equal %v, want %v", a, b, got, want)
		}
	}
	if equal < 100 {
		t.Errorf("only %d of the pairs are equal", equal)
	}
}
