package max

import "testing"

func TestOf(t *testing.T) {
	t.Parallel()
	if Of(1, 2) != 2 || Of(2, 1) != 2 {
		t.Error("not the greater one")
	}
}

func TestBelow(t *testing.T) {
	t.Parallel()
	if Below(3) != 3 {
		t.Error("not 3")
	}
}

func TestFirst(t *testing.T) {
	t.Parallel()
	done := make(chan int)
	go func() { done <- First([]int{7}) }()
	<-done
}
