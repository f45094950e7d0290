package sqsqueue_test

import (
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/homeops/ddbpatterns/examples/homeops/aws/internal/backend"
	"github.com/homeops/ddbpatterns/examples/homeops/aws/sqsqueue"
	"github.com/homeops/ddbpatterns/examples/homeops/queue"
	"github.com/homeops/ddbpatterns/examples/homeops/queue/queuetest"
)

// differences are the known ways in which a server differs from SQS, and the
// only ones.
var differences = map[string]map[string]queuetest.Difference{
	backend.ElasticMQ: nil,
	backend.Moto: {
		"StaleDelete":         {Says: "the stale receipt deleted the message", Reason: "moto deletes by any receipt that a message ever had"},
		"ConcurrentReceivers": {Says: "2 receivers hold message", Sometimes: true, Reason: "moto may give a message to two receivers at once; so may SQS, which promises at least one delivery"},
	},
}

func TestSuite(t *testing.T) {
	t.Parallel()
	for variable, known := range differences {
		t.Run(variable, func(t *testing.T) {
			t.Parallel()
			server := backend.Open(t, variable)
			queuetest.Run(t, queuetest.Backend{Differences: known, New: func(t *testing.T, s queuetest.Settings) queue.Queue {
				t.Helper()
				config := sqsqueue.Config{MaxBytes: s.MaxBytes}
				if variable == backend.Moto { // there the visibility is asked for, elsewhere it is the queue's
					config.Visibility, s.Visibility = s.Visibility, time.Hour
				}
				made := server.NewQueue(t, s.Visibility, s.MaxReceives)
				q, err := sqsqueue.Open(t.Context(), sqs.NewFromConfig(server.Config()), made.URL, &config)
				if err != nil {
					t.Fatal(err)
				}
				return q
			}})
		})
	}
}
