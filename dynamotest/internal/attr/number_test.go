package attr_test

import (
	"bytes"
	"errors"
	"math/big"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/homeops/ddbpatterns/dynamotest/internal/attr"
)

var digits38 = strings.Repeat("1234567890", 4)[:38]

func TestNumber(t *testing.T) {
	t.Parallel()
	tests := map[string]string{
		"0": "0", "-0": "0", "+0": "0", "0.0": "0", "0e125": "0", "-0.0e-129": "0",
		"1": "1", "00042": "42", "+7": "7", "-7": "-7", "1.0": "1", "-1.50": "-1.5",
		".5": "0.5", "+.5": "0.5", "5.": "5", "1e+2": "100", "1E2": "100", "1.5e1": "15", "1.5e-1": "0.15",
		"120e-1": "12", "0.00012e4": "1.2", "100": "100", "1000e-3": "1", "-12.340e1": "-123.4",
		digits38: digits38, "-" + digits38: "-" + digits38, digits38 + "000": digits38 + "000",
		"0." + digits38: "0." + digits38, digits38 + ".000": digits38,
		"1E125": "1" + strings.Repeat("0", 125), "9.9E125": "99" + strings.Repeat("0", 124),
		"1E-130": "0." + strings.Repeat("0", 129) + "1", "-1E-130": "-0." + strings.Repeat("0", 129) + "1",
		"0." + strings.Repeat("0", 200) + "1E100": "0." + strings.Repeat("0", 100) + "1",
		"1" + strings.Repeat("0", 300) + "E-300":  "1",
	}
	for text, want := range tests {
		v, err := attr.Number(text)
		if err != nil || v.Str() != want || v.Kind() != attr.N {
			t.Errorf("Number(%s) = %s, %v, want %s", text, v.Str(), err, want)
		}
	}
}

func TestNumberRefuses(t *testing.T) {
	t.Parallel()
	tests := map[string]string{
		"": "converted", " ": "converted", " 1": "converted", "1 ": "converted", "1_000": "converted",
		"abc": "converted", "NaN": "converted", "Infinity": "converted", "0x10": "converted", "--1": "converted",
		"+-1": "converted", "+": "converted", "-": "converted", ".": "converted", "e5": "converted", ".e5": "converted",
		"1e": "converted", "1e+": "converted", "1e1.5": "converted", "1.2.3": "converted", "1,5": "converted",
		"١": "converted", "1e5e5": "converted",
		digits38 + "1":        "38 significant",
		"0." + digits38 + "1": "38 significant",
		"1E126":               "overflow", "-1E126": "overflow", "10E125": "overflow", "1e9223372036854775807": "overflow",
		"1E-131": "underflow", "-0.1E-130": "underflow", "1e-9223372036854775808": "underflow",
		"1e9223372036854775808": "converted", "-1e9223372036854775808": "converted", "1e-9223372036854775809": "converted",
		"0e9223372036854775808": "converted", "1e00000000000000000000999999999999999999": "overflow", "1e+-5": "converted", "1e1_0": "converted",
	}
	for text, want := range tests {
		v, err := attr.Number(text)
		var bad *attr.Error
		if !errors.As(err, &bad) || !strings.Contains(bad.Message, want) || v.Valid() {
			t.Errorf("Number(%s) = %s, %v, want an error with %q", text, v.Str(), err, want)
		}
	}
}

func TestSums(t *testing.T) {
	t.Parallel()
	tests := []struct{ a, b, sum, difference string }{
		{"1", "2", "3", "-1"},
		{"0", "0", "0", "0"},
		{"0.1", "0.2", "0.3", "-0.1"},
		{"-5", "5", "0", "-10"},
		{"999999999999999999", "1", "1000000000000000000", "999999999999999998"},
		{"9223372036854775807", "1", "9223372036854775808", "9223372036854775806"},
		{"1E125", "1E125", "2" + strings.Repeat("0", 125), "0"},
		{"1E-130", "2E-130", "0." + strings.Repeat("0", 129) + "3", "-0." + strings.Repeat("0", 129) + "1"},
		{digits38, "0", digits38, digits38},
		{"0.5", digits38[:37], digits38[:37] + ".5", "-" + digits38[:36] + "6.5"},
	}
	for _, tt := range tests {
		a, b := number(t, tt.a), number(t, tt.b)
		if got, err := attr.Add(a, b); err != nil || got.Str() != tt.sum {
			t.Errorf("%s + %s = %s, %v, want %s", tt.a, tt.b, got.Str(), err, tt.sum)
		}
		if got, err := attr.Sub(a, b); err != nil || got.Str() != tt.difference {
			t.Errorf("%s - %s = %s, %v, want %s", tt.a, tt.b, got.Str(), err, tt.difference)
		}
	}
}

// A sum that does not fit is refused: DynamoDB never rounds.
func TestSumsRefuse(t *testing.T) {
	t.Parallel()
	tests := []struct{ a, b, want string }{
		{digits38, "0.1", "Number overflow"},
		{"1E125", "1", "Number overflow"},
		{"1E125", "1E-130", "Number overflow"},
		{"9E125", "1E125", "overflow"},
		{strings.Repeat("9", 38), "0.1", "Number overflow"},
	}
	for _, tt := range tests {
		got, err := attr.Add(number(t, tt.a), number(t, tt.b))
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s + %s = %s, %v, want an error with %q", tt.a, tt.b, got.Str(), err, tt.want)
		}
	}
}

func number(t testing.TB, text string) attr.Value {
	t.Helper()
	v, err := attr.Number(text)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// randomNumber has digits, signs and exponents of every length.
func randomNumber(r *rand.Rand) string {
	var b strings.Builder
	if r.IntN(2) == 0 {
		b.WriteByte('-')
	}
	digits := 1 + r.IntN(38)
	point := r.IntN(digits + 1)
	for i := range digits {
		if i == point {
			b.WriteByte('.')
		}
		b.WriteByte(byte('0' + r.IntN(10)))
	}
	if r.IntN(2) == 0 {
		b.WriteString("e" + strconv.Itoa(r.IntN(160)-80))
	}
	return b.String()
}

// The order of keys is that of the numbers in rational arithmetic.
func TestNumberOrder(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	texts := []string{"1.0001", "-1.0001", "1.00010001", "-1.00010001", "-1.00009", "100000001", "-100000001", // with pairs of zeros inside
		"0", "1E125", "-1E125", "1E-130", "-1E-130", "9.9E125", "1", "-1", "10", "9", "0.1", "0.09", "1.01", "1.1"}
	for range 300 {
		texts = append(texts, randomNumber(r))
	}
	for _, x := range texts {
		for _, y := range texts {
			checkNumberOrder(t, x, y)
		}
	}
}

func checkNumberOrder(t *testing.T, x, y string) {
	t.Helper()
	a, errA := attr.Number(x)
	b, errB := attr.Number(y)
	if errA != nil || errB != nil {
		return
	}
	want := rational(t, x).Cmp(rational(t, y))
	if got, ok := attr.Compare(a, b); sign(got) != want || !ok {
		t.Errorf("Compare(%s, %s) = %d, want %d", x, y, got, want)
	}
	if got := bytes.Compare(attr.AppendKey(nil, a), attr.AppendKey(nil, b)); got != want {
		t.Errorf("keys of %s and %s compare %d, want %d", x, y, got, want)
	}
	// Keys are joined, so the bytes after a key must not change the order.
	tail := attr.AppendKey(nil, attr.String("\xff"))
	if got := bytes.Compare(append(attr.AppendKey(nil, a), tail...), attr.AppendKey(nil, b)); want != 0 && got != want {
		t.Errorf("the key of %s with a tail and that of %s compare %d, want %d", x, y, got, want)
	}
	if got := a.Equal(b); got != (want == 0) {
		t.Errorf("Equal(%s, %s) = %v", x, y, got)
	}
}

func rational(t *testing.T, text string) *big.Rat {
	t.Helper()
	r, ok := new(big.Rat).SetString(text)
	if !ok {
		t.Fatalf("%s is no number to math/big", text)
	}
	return r
}

func sign(n int) int { return min(max(n, -1), 1) }

func TestSumsAgreeWithRationals(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 4))
	checked := 0
	for range 5000 {
		x, y := randomNumber(r), randomNumber(r)
		a, errA := attr.Number(x)
		b, errB := attr.Number(y)
		if errA != nil || errB != nil {
			continue
		}
		sum, err := attr.Add(a, b)
		if err != nil {
			continue
		}
		checked++
		want := new(big.Rat).Add(rational(t, x), rational(t, y))
		if rational(t, sum.Str()).Cmp(want) != 0 {
			t.Errorf("%s + %s = %s", x, y, sum.Str())
		}
		back, err := attr.Sub(sum, b)
		if err == nil && !back.Equal(a) {
			t.Errorf("%s + %s - %s = %s", x, y, y, back.Str())
		}
	}
	if checked < 500 {
		t.Errorf("only %d sums fitted", checked)
	}
}

func FuzzNumber(f *testing.F) {
	for _, s := range []string{"0", "-1.5e10", "+.5", "5.", "1E-130", "9.99E+125", digits38, "1e999999999", "00.100", "-"} {
		f.Add(s, s)
	}
	f.Fuzz(func(t *testing.T, x, y string) {
		a, err := attr.Number(x)
		if err != nil {
			return
		}
		if len(x) < 200 && !strings.ContainsAny(x, "eE") && rational(t, a.Str()).Cmp(rational(t, x)) != 0 {
			t.Errorf("%s became %s", x, a.Str())
		}
		if again := number(t, a.Str()); again.Str() != a.Str() {
			t.Errorf("%s is not canonical: it becomes %s", a.Str(), again.Str())
		}
		b, err := attr.Number(y)
		if err != nil {
			return
		}
		order, _ := attr.Compare(a, b)
		if keys := bytes.Compare(attr.AppendKey(nil, a), attr.AppendKey(nil, b)); keys != sign(order) {
			t.Errorf("%s and %s compare %d, their keys %d", a.Str(), b.Str(), order, keys)
		}
		if s := []string{a.Str(), b.Str()}; order > 0 != !slices.IsSortedFunc(s, attr.CompareNumbers) {
			t.Errorf("%s and %s are sorted in two ways", a.Str(), b.Str())
		}
	})
}
