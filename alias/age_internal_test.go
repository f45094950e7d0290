package alias

import "testing"

// A value that is set again is the youngest, and the one set longest ago is
// evicted first.
func TestTheOldestIsEvicted(t *testing.T) {
	t.Parallel()
	m := newByAge[int]()
	m.set("a", 1, 2)
	m.set("b", 2, 2)
	m.set("a", 3, 2)
	if evicted, any := m.set("c", 4, 2); !any || evicted != 2 {
		t.Errorf("evicted %d, %v, want b's 2", evicted, any)
	}
	for key, want := range map[string]int{"a": 3, "b": 0, "c": 4} {
		if got := m.get(key); got != want {
			t.Errorf("%s is %d, want %d", key, got, want)
		}
	}
	if n := m.order.Len(); n != 2 {
		t.Errorf("%d are in order, want 2", n)
	}
}
