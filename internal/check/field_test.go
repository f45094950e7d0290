package check_test

import (
	"errors"
	"testing"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/check"
)

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
