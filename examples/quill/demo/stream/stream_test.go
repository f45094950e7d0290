package stream_test

import (
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/homeops/ddbpatterns/examples/quill/demo/stream"
)

// The same seed makes the same stream, another seed does not, and a consumer
// may stop.
func TestRepeatable(t *testing.T) {
	t.Parallel()
	all := func(seed uint64) (made []stream.Request) {
		for r := range stream.Of(seed, 500) {
			made = append(made, r)
		}
		return made
	}
	if diff := cmp.Diff(all(1), all(1)); diff != "" {
		t.Error(diff)
	}
	if cmp.Equal(all(1), all(2)) {
		t.Error("another seed makes the same")
	}
	n := 0
	for range stream.Of(1, 500) {
		if n++; n == 3 {
			break
		}
	}
}

// The expectations add up, each fact is new once, and every kind of event
// comes.
func TestWhatIsMade(t *testing.T) {
	t.Parallel()
	for seed := range uint64(20) {
		var sum stream.Want
		facts := map[string]bool{}
		for r := range stream.Of(seed, 5000) {
			w := r.Want
			if w.Received != w.New+w.Duplicate+w.Refused+w.Waiting || w.Old+w.Later > w.Duplicate || w.New != len(w.Facts) || w.Received > 100 {
				t.Fatalf("does not add up: %+v", w)
			}
			if (r.Proof == stream.Right) != (w.Received > 0) {
				t.Fatalf("%q: %+v", r.Proof, w)
			}
			for _, key := range w.Facts {
				if facts[key] {
					t.Fatalf("%s is new twice", key)
				}
				facts[key] = true
			}
			sum.Add(w)
		}
		if sum.Received != 5000 || sum.Duplicate < 1250 || sum.Duplicate > 2250 || min(sum.Refused, sum.Waiting, sum.Old, sum.Later) < 10 || sum.Later > sum.Duplicate/10 {
			t.Errorf("seed %d: %+v", seed, sum)
		}
	}
}

// The number of requests does not change how much is remembered.
func TestMemoryIsBounded(t *testing.T) {
	n, first := 0, uint64(0)
	for range stream.Of(1, 50_000) {
		if n++; n%4_000 != 0 {
			continue
		}
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		if first == 0 {
			first = m.HeapAlloc
		}
		if m.HeapAlloc > first+1<<20 {
			t.Errorf("after %d requests %d bytes are in use, at first %d", n, m.HeapAlloc, first)
		}
	}
}

// The stream has the traps.
func TestTraps(t *testing.T) {
	t.Parallel()
	var bodies, facts, old strings.Builder
	proofs := map[stream.Proof]int{}
	for r := range stream.Of(1, 5000) {
		bodies.WriteString(r.Body + "\n")
		for _, key := range r.Want.Facts {
			facts.WriteString(key + "\n")
		}
		for _, row := range r.Old {
			old.WriteString(row.Key + "\n")
		}
		proofs[r.Proof]++
	}
	for _, part := range []string{`"attemptNumber":2`, `"eventType":`, `"objectId":"`, `"newObjectIds":`, `"event":"Call: 100% done"`, `"levitating"`, "9007199254740993", "9007199254740992"} {
		if !strings.Contains(bodies.String(), part) {
			t.Errorf("no body has %s", part)
		}
	}
	for _, part := range []string{":contact.propertyChange:9007199254740993:", ":--:", "ALOWARE:SMS:", "ALOWARE:CALL:", ":deal.merge:", "contact.associationChange"} {
		if !strings.Contains(facts.String(), part) {
			t.Errorf("no fact has %s", part)
		}
	}
	if !strings.Contains(old.String(), "ALOWARE:9") || !strings.Contains(old.String(), "HUBSPOT:0-3:") {
		t.Errorf("old rows:\n%s", old.String())
	}
	for _, p := range []stream.Proof{stream.Missing, stream.Wrong, stream.Changed, stream.Stale} {
		if proofs[p] == 0 {
			t.Errorf("none is %s", p)
		}
	}
}
