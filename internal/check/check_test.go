package check_test

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/check"
)

const pkg, field = "counter", "Key"

// want checks a verdict. A refusal must name package and field.
func want(t *testing.T, name string, err error, ok bool) {
	t.Helper()
	if ok {
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		return
	}
	bad, is := errors.AsType[*event.InputError](err)
	if !is || bad.Package != pkg || bad.Field != field || bad.Reason == "" {
		t.Errorf("%s: got %v, want an InputError of %s", name, err, field)
	}
}

func TestKeys(t *testing.T) {
	t.Parallel()
	want(t, "id", check.ID(pkg, field, "-100123"), true)
	want(t, "empty id", check.ID(pkg, field, ""), false)
	want(t, "not UTF-8", check.ID(pkg, field, "a\xff"), false)
	want(t, "empty text", check.Text(pkg, field, ""), true)
	want(t, "text that is not UTF-8", check.Text(pkg, field, "\xff"), false)
	want(t, "2,048 bytes", check.PartitionKey(pkg, field, strings.Repeat("å", 1024)), true)
	want(t, "2,049 bytes", check.PartitionKey(pkg, field, strings.Repeat("å", 1024)+"x"), false)
	want(t, "1,024 bytes", check.SortKey(pkg, field, strings.Repeat("x", 1024)), true)
	want(t, "1,025 bytes", check.SortKey(pkg, field, strings.Repeat("x", 1025)), false)
	want(t, "empty key", check.SortKey(pkg, field, ""), false)
}

func TestNotNil(t *testing.T) {
	t.Parallel()
	var none *strings.Reader
	want(t, "nil", check.NotNil(pkg, field, nil), false)
	want(t, "a nil pointer", check.NotNil(pkg, field, none), false)
	want(t, "a pointer", check.NotNil(pkg, field, strings.NewReader("")), true)
	want(t, "a value", check.NotNil(pkg, field, strings.Reader{}), true)
}

func TestFinite(t *testing.T) {
	t.Parallel()
	for _, x := range []float64{0, 1, -1.5, 1e-130, 9.9e125, -1e125} {
		want(t, "finite", check.Finite(pkg, field, x), true)
	}
	for _, x := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), 1e-131, 1e126, -1e200} {
		want(t, "not finite", check.Finite(pkg, field, x), false)
	}
}

func TestTTL(t *testing.T) {
	t.Parallel()
	want(t, "2026", check.TTL(pkg, field, time.Date(2026, 3, 29, 0, 0, 0, 0, time.UTC)), true)
	want(t, "the last second of 9999", check.TTL(pkg, field, time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC)), true)
	want(t, "the first second of 10000", check.TTL(pkg, field, time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)), false)
	want(t, "1970", check.TTL(pkg, field, time.Unix(0, 0)), false)
	want(t, "before 1970", check.TTL(pkg, field, time.Unix(-1, 0)), false)
	want(t, "milliseconds for seconds", check.TTL(pkg, field, time.Unix(1_800_000_000_000, 0)), false)
}

func TestNames(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"abc", "a.b-c_D9", strings.Repeat("x", 255)} {
		want(t, name, check.Index(pkg, field, name), true)
	}
	for _, name := range []string{"", "ab", "a b", "åäö", "a/b", strings.Repeat("x", 256)} {
		want(t, name, check.Index(pkg, field, name), false)
	}
	if err := check.Table(pkg, "a/b"); err == nil || !strings.Contains(err.Error(), "counter: table") {
		t.Errorf("a table's name: %v", err)
	}
	want(t, "attribute", check.Attribute(pkg, field, "chatId"), true)
	want(t, "an attribute of 255 bytes", check.Attribute(pkg, field, strings.Repeat("x", 255)), true)
	want(t, "no attribute", check.Attribute(pkg, field, ""), false)
	want(t, "long attribute", check.Attribute(pkg, field, strings.Repeat("x", 256)), false)
}

func TestDecimal(t *testing.T) {
	for _, id := range []string{"0", "7", "42", "-100123", "1000", strings.Repeat("9", 38), "-" + strings.Repeat("9", 38)} {
		if err := check.Decimal("activity", "Actor", id); err != nil {
			t.Errorf("Decimal(%q) = %v", id, err)
		}
	}
	for _, id := range []string{"", "-", "-0", "+1", "00", "042", "-042", "1.0", "1e3", " 1", "1 ", "٣", "anna", strings.Repeat("9", 39)} {
		var bad *event.InputError
		if err := check.Decimal("activity", "Actor", id); !errors.As(err, &bad) || bad.Field != "Actor" {
			t.Errorf("Decimal(%q) = %v, want an InputError", id, err)
		}
	}
}

func TestFieldNames(t *testing.T) {
	t.Parallel()
	for field, want := range map[string][2]string{
		"Scope":           {"scope", "Filter.Scope"},
		"Scope and Actor": {"scope and actor", "Filter.Scope and Actor"},
		"Range.Limit":     {"Range.Limit", "Range.Limit"},
	} {
		for i, err := range []error{check.Positional(event.BadInput("p", field, "r")), check.Within("Filter", event.BadInput("p", field, "r"))} {
			if got := *err.(*event.InputError); got != (event.InputError{Package: "p", Field: want[i], Reason: "r"}) {
				t.Errorf("%s: got %+v, want %s", field, got, want[i])
			}
		}
	}
	trouble := errors.New("trouble")
	if check.Positional(nil) != nil || check.Within("Filter", trouble) != trouble {
		t.Error("what is not bad input was changed")
	}
}
