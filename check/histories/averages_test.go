package histories_test

import (
	"context"
	"errors"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/homeops/ddbpatterns/event"
)

// averages is what the stories of pattern and ema have in common: events that
// count in one row, once each.
type averages struct {
	w       *world
	pk      string
	observe func(context.Context, *caller, event.Event, int) (event.Outcome, error)
	get     func(context.Context, *caller) any
	least   int // the least of the events that callers mostly observe
}

func (*averages) keyOf(r row) string     { return str(r, "pk") }
func (*averages) delay() time.Duration   { return time.Hour }
func (*averages) leaps() []time.Duration { return []time.Duration{time.Minute} }
func (*averages) keen(*caller) bool      { return false }
func (*averages) waited(*flight) bool    { return false }
func (*averages) wrong() string          { return "" }
func (*averages) verdict() string        { return "" }
func (a *averages) end() []*call         { return []*call{a.read(a.w.callers[0])} }

// start begins with a row that is nearly full, with one of an older system, or
// without a row.
func (a *averages) start(older func()) []*call {
	switch a.w.rnd.IntN(3) {
	case 0:
		a.least = 24
		var calls []*call
		for event := range 30 {
			calls = append(calls, a.call(a.w.callers[event%8], event))
		}
		return calls
	case 1:
		if a.w.rnd.IntN(2) == 0 {
			older()
			break
		}
		left := row{"pk": s(a.pk), "sk": s("metric"), "note": s("bare")}
		if _, err := a.w.raw.PutItem(context.Background(), &dynamodb.PutItemInput{TableName: aws.String("homeops"), Item: left}); err != nil {
			panic(err)
		}
		a.w.happened(a.pk, olderBare{}, nil)
	}
	return nil
}

func (a *averages) next(c *caller) *call {
	if a.w.rnd.IntN(5) == 0 {
		return a.read(c)
	}
	if a.w.rnd.IntN(4) == 0 { // long ago
		return a.call(c, a.w.rnd.IntN(a.least+1))
	}
	return a.call(c, a.least+a.w.rnd.IntN(20))
}

func (a *averages) call(c *caller, n int) *call {
	return &call{caller: c, key: a.pk, in: observes{n}, do: func(ctx context.Context) any {
		out, err := a.observe(ctx, c, numbered(n), n)
		switch {
		case errors.Is(err, event.ErrTooOld):
			return tooOld{}
		case err != nil:
			return nil
		case out == event.Created:
			return created{}
		}
		return duplicate{}
	}}
}

func (a *averages) read(c *caller) *call {
	return &call{caller: c, key: a.pk, in: fetches{}, do: func(ctx context.Context) any { return a.get(ctx, c) }}
}
