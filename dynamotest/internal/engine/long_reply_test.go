package engine

import (
	"fmt"
	"strings"
	"testing"
)

// Long replies are written one at a time, and short ones do not wait for them.
func TestLongRepliesAreWrittenOneAtATime(t *testing.T) {
	t.Parallel()
	e := New(Options{})
	if !puts(0, 0, 0)[0].do(e) {
		t.Fatal("the table is refused")
	}
	const items = 10
	value := strings.Repeat("x", 8*longReads<<10/items) // 8 KB for a unit
	keys := make([]string, items)
	for i := range items {
		keys[i] = fmt.Sprintf(`{"id":{"N":"%d"}}`, i)
		if !(step{"PutItem", fmt.Sprintf(`{"TableName":"plain","Item":{"id":{"N":"%d"},"v":{"S":"%s"}}}`, i, value)}).do(e) {
			t.Fatalf("item %d is refused", i)
		}
	}
	ask := func(n int) {
		if !(step{"BatchGetItem", `{"RequestItems":{"plain":{"Keys":[` + strings.Join(keys[:n], ",") + `]}}}`}).do(e) {
			t.Errorf("a batch of %d is refused", n)
		}
	}
	done := make(chan struct{})
	e.writing.Lock()
	go func() {
		defer close(done)
		ask(items)
	}()
	for range 1000 {
		ask(1)
	}
	select {
	case <-done:
		t.Error("a long reply was written while another one was")
	default:
	}
	e.writing.Unlock()
	<-done
}
