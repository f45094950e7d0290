package engine

import (
	"time"

	"github.com/homeops/ddbpatterns/dynamotest/internal/api"
)

// changeStream opens or closes a table's stream as its settings say.
func (e *Engine) changeStream(t *table, spec api.Opt[api.Stream], now time.Time) {
	switch {
	case !spec.Set:
	case spec.Value.Enabled.Value:
		t.stream = e.streams.Open(&t.def, spec.Value.View.Value, now)
	default:
		t.stream.Close(now)
	}
}

func (e *Engine) listStreams(_ *Call, req *api.ListStreams) (reply, *api.Error) {
	e.mu.RLock()
	defer e.mu.RUnlock()
	return e.streams.List(req, e.now()), nil
}

func (e *Engine) describeStream(_ *Call, req *api.DescribeStream) (reply, *api.Error) {
	e.mu.RLock()
	defer e.mu.RUnlock()
	return e.streams.Describe(req, e.now())
}

func (e *Engine) getShardIterator(_ *Call, req *api.GetShardIterator) (reply, *api.Error) {
	e.mu.RLock()
	defer e.mu.RUnlock()
	return e.streams.Iterator(req, e.now())
}

func (e *Engine) getRecords(_ *Call, req *api.GetRecords) (reply, *api.Error) {
	e.mu.RLock()
	defer e.mu.RUnlock()
	return e.streams.Records(req, e.opt.Region, e.now())
}
