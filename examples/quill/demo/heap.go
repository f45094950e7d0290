package demo

import (
	"runtime"
	"runtime/metrics"
	"sync"
	"time"

	"github.com/homeops/ddbpatterns/examples/internal/database"
)

// watchHeap looks at how much of the heap objects take, garbage included, until the
// function that it returns is called, which says how much that was at most.
func watchHeap() (stop func() uint64) {
	most, done := uint64(0), make(chan struct{})
	var watching sync.WaitGroup
	watching.Go(func() {
		sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
		tick := time.NewTicker(20 * time.Millisecond)
		defer tick.Stop()
		for {
			metrics.Read(sample)
			most = max(most, sample[0].Value.Uint64())
			select {
			case <-tick.C:
			case <-done:
				return
			}
		}
	})
	return func() uint64 {
		close(done)
		watching.Wait()
		return most
	}
}

// weigh says how much of the heap is what DynamoDB and Power BI keep, by letting go of
// them.
func (r *replay) weigh() {
	before := live()
	r.close()
	r.db, r.metered, r.tap, r.powerBI, r.service, r.place, r.sender = database.DB{}, nil, nil, nil, nil, Place{}, Sender{}
	after := live()
	r.report.Kept = before - min(after, before)
}

func live() uint64 {
	runtime.GC()
	runtime.GC() // what a finalizer held goes with the second
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
