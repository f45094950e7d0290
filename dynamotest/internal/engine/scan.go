package engine

import (
	"encoding/binary"

	"github.com/homeops/ddbpatterns/dynamotest/internal/api"
	"github.com/homeops/ddbpatterns/dynamotest/internal/bind"
	"github.com/homeops/ddbpatterns/dynamotest/internal/keys"
)

func (e *Engine) scan(call *Call, req *api.Scan) (reply, *api.Error) {
	p := pager{req: &req.Page}
	src := bind.Sources{Filter: req.Filter, Projection: req.Projection, Valued: ": FilterExpression is null"}
	if err := p.bind(&src); err != nil {
		return nil, err
	}
	if err := p.checkSelect(); err != nil {
		return nil, err
	}

	pg, err := e.scanPage(&p, req)
	if err != nil {
		return nil, err
	}

	return p.reply(call, pg), nil
}

func (e *Engine) scanPage(p *pager, req *api.Scan) (page, *api.Error) {
	e.mu.RLock()
	defer e.mu.RUnlock()
	if err := p.open(e); err != nil {
		return page{}, err
	}

	from, to := segment(req.Segment.Value, req.TotalSegments.Or(1))
	start, err := p.start()
	if err != nil {
		return page{}, err
	}
	if start != "" && (start < from || to != "" && start >= to) {
		return page{}, api.Invalid("The provided starting key is invalid: Invalid ExclusiveStartKey. Please use ExclusiveStartKey with correct Segment. TotalSegments: %d Segment: %d",
			req.TotalSegments.Value, req.Segment.Value)
	}

	pg := p.read(p.within(from, to, start, true))
	return pg, e.admitPage(p)
}

// segment returns the range of keys of one of n segments. They are equal shares
// of the hashes with which keys begin. An empty to is the end.
func segment(i, n int64) (from, to string) {
	cut := func(i int64) string {
		var b [keys.HashBytes]byte
		binary.BigEndian.PutUint32(b[:], uint32((i<<32+n-1)/n))
		return string(b[:])
	}
	if i > 0 {
		from = cut(i)
	}
	if i < n-1 {
		to = cut(i + 1)
	}
	return from, to
}
