package bench_test

import (
	"fmt"
	"io"
	"runtime"
	"testing"

	"github.com/homeops/ddbpatterns/dynamotest"
)

// BenchmarkStart measures a new server with a table.
func BenchmarkStart(b *testing.B) {
	for b.Loop() {
		if err := createTable(b.Context(), dynamotest.NewServer(nil).Client()); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkFork measures a server of its own that begins with 4,000 items.
func BenchmarkFork(b *testing.B) {
	server := dynamotest.NewServer(nil)
	seed(b, server.Client())
	for b.Loop() {
		server.Fork()
	}
}

// BenchmarkMillion measures the memory of a million items of 200 bytes, and
// compares calls on single items there with those on the usual 4,000.
func BenchmarkMillion(b *testing.B) {
	small := dynamotest.NewServer(nil)
	seed(b, small.Client())
	before := heap()
	large := dynamotest.NewServer(nil)
	if err := createTable(b.Context(), large.Client()); err != nil {
		b.Fatal(err)
	}
	if err := large.LoadItems(tableName, million()); err != nil {
		b.Fatal(err)
	}
	size := heap() - before
	spread := func(i int) int { return i * 250 } // over the whole table
	few, many := small.Client(), large.Client()
	for _, call := range calls[:3] {
		b.Run(call.name, func(b *testing.B) {
			var ratios []float64
			for b.Loop() {
				base := measure(b, 1, func(i int) error { return call.do(b.Context(), few, i) }).perSecond
				ratios = append(ratios, measure(b, 1, func(i int) error { return call.do(b.Context(), many, spread(i)) }).perSecond/base)
			}
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(float64(size)/1e6, "MB")
			b.ReportMetric(100*median(ratios), "of-small-%")
		})
	}
	runtime.KeepAlive(large)
}

// million writes a million items as JSON lines.
func million() io.Reader {
	r, w := io.Pipe()
	go func() {
		for i := range 1_000_000 {
			_, err := fmt.Fprintf(w, `{"Item":{"pk":{"S":"p%d"},"sk":{"N":"%d"},"n":{"N":"0"},"payload":{"S":"%s"}}}`+"\n", i/20, i%20, payload[:180])
			if err != nil {
				return
			}
		}
		_ = w.Close() // a pipe's writer closes without error
	}()
	return r
}

func heap() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
