package main

import "testing"

// A small heap may double. A large one may grow by 64 MB, or by a part if that is
// more.
func TestHowFarTheHeapGrows(t *testing.T) {
	t.Parallel()
	for live, want := range map[uint64]int{0: 100, 64 << 20: 100, 128 << 20: 50, 256 << 20: 25, 1 << 30: leastPercent, 1 << 40: leastPercent} {
		if got := percentFor(live); got != want {
			t.Errorf("%d bytes: %d percent, want %d", live, got, want)
		}
	}
}
