package ema

import (
	"context"
	"math"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/check"
	"github.com/homeops/ddbpatterns/record"
)

// Observe is one value of a metric, and the event that gave the value.
type Observe struct {
	Subject string
	Metric  string
	Event   event.Event // to count several things of one message, use event.Event.Nth for each
	Value   float64
}

// Observe moves the average towards the value, once for the event. If the row
// remembers the event, Observe answers [event.Duplicate], whatever the value
// is: an earlier delivery or a call whose reply was lost has counted the event.
// If the event is earlier than the 32 latest events of the row, the error is
// [event.ErrTooOld], because the row cannot tell whether the event was counted.
// After the error [ErrContended] the event may have been counted or not.
//
// If another writer changes the row first, Observe tries again, up to 15 times.
// The pauses between the tries grow to 1.3 seconds. Together they last some 5
// seconds, and at most 10.3. Observe stops earlier if the context ends.
//
// Price: 2 requests, 1 RCU, 1 WCU. A duplicate, or an event that is too old, costs 1
// request and 1 RCU. Each race lost to another writer adds 1 request and 1 WCU. From
// the second on, each also adds a read of the row: 1 request and 1 RCU. A row above 1
// KB costs 1 WCU for each KB and 1 RCU for each 4 KB.
func (s *Store) Observe(ctx context.Context, o Observe) (event.Outcome, error) {
	if err := s.checkRow(o.Subject, o.Metric); err != nil {
		return 0, err
	}
	if err := check.Finite(pkg, "Value", o.Value); err != nil {
		return 0, err
	}

	return s.rows.Apply(ctx, record.Apply{
		Method: "Observe", Partition: s.partition(o.Subject), Sort: o.Metric, Event: o.Event,
		Next: func(row record.Item, _ event.Event) (record.Item, error) {
			average, err := s.learn(row, o.Value)
			return record.Item{attrAverage: record.Float(average)}, err
		},
	})
}

// learn returns the average with one more value in it. An average without a
// count is an older system's; an average of 0 values is ignored.
func (s *Store) learn(row record.Item, value float64) (float64, error) {
	stood, err := decode(row)
	if err != nil {
		return 0, err
	}
	f := record.Read(row)
	cold := !f.Has(attrAverage) || f.Has(attrSamples) && stood.Samples == 0
	if cold {
		return value, nil
	}
	return move(stood.Value, value, s.cfg.Alpha), nil
}

// tiny is the least magnitude of a DynamoDB number. An average whose values
// have become 0 for good falls below it in the end.
const tiny = 1e-130

// move returns the average after the value. The conversions keep a compiler
// from fusing the operations, so that every machine learns the same; rounding
// never leads outside the range between the two.
func move(average, value, alpha float64) float64 {
	moved := float64(alpha*value) + float64((1-alpha)*average)
	moved = max(moved, min(average, value))
	moved = min(moved, max(average, value))
	if math.Abs(moved) < tiny {
		return 0
	}
	return moved
}
