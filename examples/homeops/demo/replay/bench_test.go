package replay

import (
	"bytes"
	"log/slog"
	"os"
	"testing"
	"time"

	"github.com/homeops/ddbpatterns/examples/homeops/config"
)

// BenchmarkConversation is where a start for prices.json came from: what webhook
// and worker take for one update of the bundled conversation, on a DynamoDB in
// this process, so without a network.
func BenchmarkConversation(b *testing.B) {
	text, err := os.ReadFile("../../run/testdata/conversation.jsonl")
	if err != nil {
		b.Fatal(err)
	}
	cfg, err := config.Load(func(string) (string, bool) { return "", false })
	if err != nil {
		b.Fatal(err)
	}
	var posting, working time.Duration
	var posted, worked int
	for b.Loop() {
		r, err := start(Options{Config: cfg, Updates: bytes.NewReader(text), Log: slog.New(slog.DiscardHandler)})
		if err != nil {
			b.Fatal(err)
		}
		if err := r.setUp(b.Context()); err != nil {
			b.Fatal(err)
		}
		for {
			update, ok, err := r.updates.next()
			if err != nil {
				b.Fatal(err)
			}
			if !ok {
				break
			}
			r.clock.until(update.at)
			began := time.Now()
			if _, _, err := r.telegram.deliver(b.Context(), update.body); err != nil {
				b.Fatal(err)
			}
			posting += time.Since(began)
			posted++
			began = time.Now()
			deliveries := r.tally.Deliveries
			if err := r.drain(b.Context()); err != nil {
				b.Fatal(err)
			}
			working += time.Since(began)
			worked += r.tally.Deliveries - deliveries
		}
	}
	b.ReportMetric(float64(posting.Microseconds())/1000/float64(posted), "ms/post")
	b.ReportMetric(float64(working.Microseconds())/1000/float64(worked), "ms/delivery")
}
