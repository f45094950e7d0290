package ema

import (
	"testing"

	"github.com/homeops/ddbpatterns/internal/check"
)

func TestMove(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ average, value, alpha, want float64 }{
		"half of the way":        {2, 4, 0.5, 3},
		"down":                   {8, 0, 0.25, 6},
		"all of the way":         {0.1, 0.7, 1, 0.7},
		"nowhere":                {0.1, 0.1, 0.3, 0.1},
		"nowhere below zero":     {-0.1, -0.1, 0.3, -0.1},
		"too small to be stored": {1e-130, 0, 0.5, 0},
		"too small below zero":   {-1e-130, 0, 0.5, 0},
		"as small as can be":     {2e-130, 0, 0.5, 1e-130},
		"from one end to other":  {-9e125, 9e125, 0.5, 0},
	} {
		if got := move(tc.average, tc.value, tc.alpha); got != tc.want {
			t.Errorf("%s: move(%g, %g, %g) = %g, want %g", name, tc.average, tc.value, tc.alpha, got, tc.want)
		}
	}
}

// Law: the average after a value lies between what it was and the value, or is
// 0, and can be stored.
func FuzzMove(f *testing.F) {
	f.Add(1.0, 2.0, 0.3)
	f.Add(0.1, 0.1, 0.3)
	f.Add(-9.9e125, 9.9e125, 0.999)
	f.Add(1e-130, -1e-130, 0.5)
	f.Fuzz(func(t *testing.T, average, value, alpha float64) {
		if check.Finite("ema", "average", average) != nil || check.Finite("ema", "value", value) != nil || !(alpha > 0 && alpha <= 1) {
			return // no average has them
		}
		got := move(average, value, alpha)
		if check.Finite("ema", "average", got) != nil {
			t.Errorf("move(%g, %g, %g) = %g cannot be stored", average, value, alpha, got)
		}
		if between := got >= min(average, value) && got <= max(average, value); !between && got != 0 {
			t.Errorf("move(%g, %g, %g) = %g leaves what lies between", average, value, alpha, got)
		}
		if alpha == 1 && got != value {
			t.Errorf("move(%g, %g, 1) = %g", average, value, got)
		}
	})
}
