package demo

import (
	"runtime"
	"runtime/metrics"
	"sync"
	"time"

	"github.com/homeops/ddbpatterns/examples/internal/database"
)

// watchHeap watches how many bytes of the heap objects use, garbage included, until
// the returned function is called. That function returns the maximum.
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

// weigh measures how much of the heap DynamoDB and Power BI keep, by releasing
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
	runtime.GC() // the second run frees what a finalizer held
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
