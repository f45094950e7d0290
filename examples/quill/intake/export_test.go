package intake

import "fmt"

// Undecided keeps so many more undecided transactions.
func (h *Handler) Undecided(n int) {
	for i := range n {
		h.undecided.share(fmt.Sprint(i), &transaction{})
	}
}
