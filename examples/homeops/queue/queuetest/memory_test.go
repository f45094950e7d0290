package queuetest_test

import (
	"testing"

	"github.com/homeops/ddbpatterns/examples/homeops/queue"
	"github.com/homeops/ddbpatterns/examples/homeops/queue/queuetest"
)

// inProcess is the queue inside the process, which differs in nothing.
var inProcess = queuetest.Backend{
	Bubble: true,
	New: func(_ *testing.T, s queuetest.Settings) queue.Queue {
		return queue.NewMemory(queue.Config{Visibility: s.Visibility, MaxReceives: s.MaxReceives, MaxBytes: s.MaxBytes})
	},
}

func TestMemory(t *testing.T) {
	t.Parallel()
	queuetest.Run(t, inProcess)
}
