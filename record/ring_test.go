package record_test

import (
	"bytes"
	"errors"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/recordtest"
	"github.com/homeops/ddbpatterns/record"
)

// tick returns the event that comes i-th in time.
func tick(t testing.TB, i int) event.Event {
	t.Helper()
	return recordtest.Event(t, time.UnixMilli(1_774_785_600_000+int64(i)), strconv.Itoa(i))
}

func bytesOf(ev event.Event) []byte { return ev[:] }

func TestRingRefusesDamage(t *testing.T) {
	t.Parallel()
	var ring record.Ring
	for i := range record.RingSize {
		ring, _, _ = ring.Add(tick(t, i))
	}
	for name, damaged := range map[string]record.Ring{
		"cut":      ring[:17],
		"too long": append(slices.Clone(ring), bytesOf(tick(t, 99))...),
		"reversed": append(slices.Clone(ring[16:32]), ring[:16]...),
		"twice":    append(slices.Clone(ring[:16]), ring[:16]...),
	} {
		next, outcome, err := damaged.Add(tick(t, 100))
		if err == nil || errors.Is(err, event.ErrTooOld) || outcome != 0 || next != nil {
			t.Errorf("%s: %v, %v", name, outcome, err)
		}
	}
}

// Law: whatever the order and repetition of events, each counts at most once,
// the ring holds the greatest of those counted, and none is refused that the
// ring could tell of. The model keeps every event ever counted.
func FuzzRing(f *testing.F) {
	var many, even []byte
	for i := range 80 {
		many, even = append(many, byte(i*37%61)), append(even, byte(2*i))
	}
	f.Add(many)
	f.Add(append(even, 2*(80-record.RingSize)+1)) // after the least of a full ring
	f.Fuzz(func(t *testing.T, order []byte) {
		var ring record.Ring
		var counted []event.Event // sorted
		for _, i := range order {
			ev := tick(t, int(i))
			where, found := slices.BinarySearchFunc(counted, ev, event.Event.Compare)
			before := slices.Clone(ring)
			next, outcome, err := ring.Add(ev)
			switch {
			case !bytes.Equal(ring, before):
				t.Fatal("Add wrote into the ring it was given")
			case len(counted) >= record.RingSize && ev.Compare(counted[len(counted)-record.RingSize]) < 0:
				if !errors.Is(err, event.ErrTooOld) {
					t.Fatalf("event %d of %d counted is beyond the horizon: %v, %v", where, len(counted), outcome, err)
				}
				continue
			case err != nil:
				t.Fatal(err)
			case found != (outcome == event.Duplicate):
				t.Fatalf("counted before: %v, outcome %v", found, outcome)
			case !found:
				counted = slices.Insert(counted, where, ev)
			}
			var want []byte
			for _, ev := range counted[max(0, len(counted)-record.RingSize):] {
				want = append(want, ev[:]...)
			}
			if ring = next; !bytes.Equal(ring, want) {
				t.Fatalf("the ring is %x, want %x", ring, want)
			}
		}
	})
}

// Law: no bytes make Add do anything but answer, and what it answers it can
// read again.
func FuzzStoredRing(f *testing.F) {
	f.Add([]byte(nil), []byte("0123456789abcdef"))
	f.Add(make([]byte, 16), make([]byte, 16))
	f.Add(make([]byte, 33), make([]byte, 16))
	f.Fuzz(func(t *testing.T, stored, id []byte) {
		if len(id) != event.Size {
			return // no event to add
		}
		ev := event.Event(id)
		ring, outcome, err := record.Ring(stored).Add(ev)
		if err != nil {
			if outcome != 0 || ring != nil {
				t.Fatalf("%v beside %v", outcome, err)
			}
			return
		}
		if _, outcome, err := ring.Add(ev); err != nil || outcome != event.Duplicate {
			t.Fatalf("the same again: %v, %v", outcome, err)
		}
	})
}
