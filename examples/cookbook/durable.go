package cookbook

import (
	"context"
	"time"

	"github.com/homeops/ddbpatterns/ledger"
	"github.com/homeops/ddbpatterns/verdict"
)

// Once does the work of a step of a durable execution until a result is stored, and then
// returns that to each attempt. It is the step's body, never the handler's. A step in a
// loop has its index in its name.
func Once[T any](ctx context.Context, steps *ledger.Store, execution, step string, work func(context.Context, *ledger.Claim) (T, error)) (T, error) {
	key, err := ledger.Key("STEP", execution, step)
	if err != nil {
		return *new(T), err
	}
	done, err := ledger.Do(ctx, steps, ledger.Request{Key: key}, work)
	return done.Value, err
}

// Again is the step's retry strategy: whether to try again after the error, and when. An
// attempt that died holds the key until its lease and the skew budget are over. An
// attempt before that would be refused, and use up one of the few that a step has.
func Again(err error) (again bool, delay time.Duration) {
	v := verdict.Of(err)
	return v.Kind == verdict.Retry, max(v.Wait, 5*time.Second)
}
