package main

import (
	"context"
	"net/http"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"strings"
	"time"
)

// A heap may grow by as much as is in use before it is collected, as Go's default
// has it, but by more than roomy bytes only up to leastPercent: otherwise a million
// items would need twice their size. A collection takes time by what is in use, so
// a large heap must not be collected too often either.
const (
	roomy        = 64 << 20
	leastPercent = 12
)

// percentFor returns the percentage by which a heap may grow.
func percentFor(live uint64) int {
	if live <= roomy {
		return 100
	}
	return max(leastPercent, int(100*roomy/live))
}

// tune adapts the garbage collector after each collection, until the context ends.
// It leaves alone what GOGC sets.
func tune(ctx context.Context) {
	const usual = 100
	if was := debug.SetGCPercent(usual); was != usual {
		debug.SetGCPercent(was)
		return
	}

	percent := usual
	type cycle struct{ _ [16]byte }
	var collected func(*cycle)
	collected = func(*cycle) {
		want := usual
		if ctx.Err() == nil {
			want = percentFor(inUse())
			runtime.SetFinalizer(new(cycle), collected)
		}
		if want != percent {
			percent = want
			debug.SetGCPercent(want)
		}
	}

	runtime.SetFinalizer(new(cycle), collected)
}

// inUse returns how many bytes of the heap the last collection has left.
func inUse() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// afterDelete is how long a table is gone before its memory is given back, so that
// a program that deletes many tables waits for that once.
const afterDelete = time.Second

// givingBack gives the memory of deleted tables back to the system.
func givingBack(ctx context.Context, next http.Handler) http.Handler {
	deleted := make(chan struct{}, 1)
	go func() {
		for {
			select {
			case <-ctx.Done():
				return
			case <-deleted:
			}

			select {
			case <-ctx.Done():
				return
			case <-time.After(afterDelete):
			}

			if inUse() > roomy {
				debug.FreeOSMemory()
			}
		}
	}()

	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		next.ServeHTTP(w, r)
		if strings.HasSuffix(r.Header.Get("X-Amz-Target"), ".DeleteTable") {
			select {
			case deleted <- struct{}{}:
			default:
			}
		}
	})
}
