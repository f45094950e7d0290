package message_test

import (
	"testing"
	"time"

	"github.com/homeops/ddbpatterns/message"
)

// Rows that have expired and are not deleted yet take few requests, and no more
// is read than the Limit and twice what is skipped.
func TestExpiredRowsTakeFewRequests(t *testing.T) {
	t.Parallel()
	const expired = 200
	e := open(t, message.Config{Retention: time.Hour})
	for i := range expired {
		e.save(t, said(int64(i+1), bo, float64(expired-i)))
	}
	e.now = noon.Add(2 * time.Hour)
	for name, tc := range map[string]struct {
		read     func() (int, error)
		requests int
	}{
		"Recent(1)": {func() (int, error) {
			got, err := e.Recent(t.Context(), chat, 1)
			return len(got), err
		}, 9}, // 1, 2, 4, … 128 rows, and the end
		"a Limit of 1": {func() (int, error) {
			return len(seqs(t, e.InScope(t.Context(), chat, message.Range{Limit: 1}))), nil
		}, 9},
		"a Limit of 10": {func() (int, error) {
			return len(seqs(t, e.InScope(t.Context(), chat, message.Range{Limit: 10}))), nil
		}, 6}, // 10, 20, 40, 80 rows, and what is left
	} {
		var n int
		var err error
		cost := e.db.Meter(func() { n, err = tc.read() })
		if err != nil || n != 0 {
			t.Errorf("%s: %d messages, %v", name, n, err)
		}
		if cost.Requests > tc.requests {
			t.Errorf("%s: %d requests, want at most %d", name, cost.Requests, tc.requests)
		}
		if most := 15.0; cost.RCU > most { // 200 rows of some 130 bytes are 26 KB
			t.Errorf("%s: %v RCU, want at most %v", name, cost.RCU, most)
		}
	}
}
