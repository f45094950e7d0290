package limit

import "errors"

var (
	// ErrContended is returned when other callers wrote the row first at each of the
	// 4 tries. Nothing was taken or settled. Call again.
	ErrContended = errors.New("limit: other callers wrote the row first at every try")

	// ErrForgotten is returned by Settle if the row does not know the take any more,
	// because 16 later writes have pushed it out, or the take was never granted, or
	// had other weights. Nothing changes: what was taken comes back with time.
	ErrForgotten = errors.New("limit: the row does not know the take, or not any more")
)

// WeightError is returned by Settle if the event was settled to other weights
// already, which stand. The weights are in the order of the limits' names, with commas.
type WeightError struct {
	Recorded string // what the event was settled to
	Given    string // what this call would have settled it to
}

// Error names the weights.
func (e *WeightError) Error() string {
	return "limit: the event was settled to " + e.Recorded + " already, not to " + e.Given
}
