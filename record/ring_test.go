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

// mustAdd adds events that the ring takes.
func mustAdd(t testing.TB, ring record.Ring, events ...event.Event) record.Ring {
	t.Helper()
	for _, ev := range events {
		next, outcome, err := ring.Add(ev)
		if err != nil || outcome != event.Created {
			t.Fatalf("Add(%v) = %v, %v", ev, outcome, err)
		}
		ring = next
	}
	return ring
}

// full returns a ring of the events 1, 3, 5 and so on, each two apart.
func full(t testing.TB) record.Ring {
	t.Helper()
	var ring record.Ring
	for i := range record.RingSize {
		ring = mustAdd(t, ring, tick(t, 2*i+1))
	}
	return ring
}

func TestRingKeepsTheGreatest(t *testing.T) {
	t.Parallel()
	ring := full(t)
	if len(ring) != 512 {
		t.Fatalf("a full ring has %d bytes, want 512", len(ring))
	}
	ring = mustAdd(t, ring, tick(t, 4)) // between the second and the third
	if len(ring) != 512 || bytes.Contains(ring, bytesOf(tick(t, 1))) {
		t.Error("the least did not make room")
	}
	second, third := tick(t, 3), tick(t, 4)
	if !bytes.Equal(ring[:16], second[:]) || !bytes.Equal(ring[16:32], third[:]) {
		t.Error("the ring is not sorted")
	}
}

func bytesOf(ev event.Event) []byte { return ev[:] }

func TestRingDoesNotTouchTheStored(t *testing.T) {
	t.Parallel()
	ring := full(t)
	before := slices.Clone(ring)
	mustAdd(t, ring, tick(t, 30))
	if !bytes.Equal(ring, before) {
		t.Error("Add wrote into the ring it was given")
	}
}

func TestRingDuplicate(t *testing.T) {
	t.Parallel()
	ring := full(t)
	for i := range record.RingSize {
		next, outcome, err := ring.Add(tick(t, 2*i+1))
		if err != nil || outcome != event.Duplicate || !bytes.Equal(next, ring) {
			t.Errorf("event %d again: %v, %v", i, outcome, err)
		}
	}
}

// Only a full ring has a horizon, and all 16 bytes decide which side of it an
// event is on: what follows second from the least event is not too old.
func TestRingTooOld(t *testing.T) {
	t.Parallel()
	ring := full(t)
	least := tick(t, 1)
	second, err := least.Nth(2)
	if err != nil {
		t.Fatal(err)
	}
	if _, outcome, err := ring.Add(second); err != nil || outcome != event.Created {
		t.Errorf("the least event's second: %v, %v", outcome, err)
	}
	for name, ev := range map[string]event.Event{"earlier": tick(t, 0), "the least event's bound": recordtest.Bound(least)} {
		if next, outcome, err := ring.Add(ev); !errors.Is(err, event.ErrTooOld) || outcome != 0 || next != nil {
			t.Errorf("%s: %v, %v, want too old", name, outcome, err)
		}
	}
	if _, outcome, err := ring[16:].Add(tick(t, 0)); err != nil || outcome != event.Created {
		t.Errorf("an old event with room left: %v, %v", outcome, err)
	}
}

func TestRingRefusesDamage(t *testing.T) {
	t.Parallel()
	ring := full(t)
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
	f.Add([]byte{1, 2, 3, 2, 1})
	var many []byte
	for i := range 80 {
		many = append(many, byte(i*37%61))
	}
	f.Add(many)
	f.Fuzz(func(t *testing.T, order []byte) {
		var ring record.Ring
		var counted []event.Event // sorted
		for _, i := range order {
			ev := tick(t, int(i))
			where, found := slices.BinarySearchFunc(counted, ev, event.Event.Compare)
			next, outcome, err := ring.Add(ev)
			switch {
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
