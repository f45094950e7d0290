package item_test

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/ddb"
	"github.com/homeops/ddbpatterns/internal/item"
)

// 10^11 is the least number that is milliseconds.
func TestMillisOrSecondsAtTheBound(t *testing.T) {
	t.Parallel()
	for n, want := range map[int64]time.Time{
		99_999_999_999:  time.Unix(99_999_999_999, 0),
		100_000_000_000: time.UnixMilli(100_000_000_000),
	} {
		if got, err := item.Millis(ddb.Item{"at": item.N(n)}, "at"); err != nil || !got.Equal(want) {
			t.Errorf("Millis(%d) = %v, %v, want %v", n, got, err, want)
		}
	}
}

func TestFloatsComeBackAsTheyWere(t *testing.T) {
	t.Parallel()
	tenth := 0.1
	for _, x := range []float64{0, 0.25, -1.5, tenth + 0.2, math.Pi, 1e-130, 9.87654321e125} {
		if got, err := item.Float(ddb.Item{"x": item.F(x)}, "x"); err != nil || got != x {
			t.Errorf("%v came back as %v, %v", x, got, err)
		}
	}
}

func TestOneByteMoreThanAnItemTakes(t *testing.T) {
	t.Parallel()
	var bad *event.InputError
	err := item.CheckSize("message", "Text", ddb.Item{"text": item.S(strings.Repeat("x", item.MaxSize-3))})
	if !errors.As(err, &bad) || bad.Field != "Text" {
		t.Errorf("a byte over 400 KB: %v", err)
	}
}
