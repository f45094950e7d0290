package message_test

import (
	"testing"
	"time"

	"github.com/homeops/ddbpatterns/internal/recordtest"
	"github.com/homeops/ddbpatterns/message"
)

// BenchmarkSave shows what the package itself costs: every request is answered
// at once.
func BenchmarkSave(b *testing.B) {
	s, err := message.New(recordtest.Down(nil), "messages", &message.Config{Now: recordtest.Clock(noon), Retention: 24 * time.Hour})
	if err != nil {
		b.Fatal(err)
	}
	m := said(4711, anna, 0)
	m.ActorName, m.Raw = "Anna", `{"update_id": 1}`
	b.ReportAllocs()
	for b.Loop() {
		if _, err := s.Save(b.Context(), m); err != nil {
			b.Fatal(err)
		}
	}
}
