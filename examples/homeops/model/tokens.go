package model

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/homeops/ddbpatterns/counter"
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/examples/homeops/classify"
)

// TokensKey is the key of the counter of tokens, of all chats together.
const TokensKey = "MODEL#tokens"

// mostHolds bounds how often one message is asked about.
const mostHolds = 10

// errSpent means that nothing may be asked.
var errSpent = errors.New("not enough tokens are left of the day of the message for a question")

// mostOf is the most tokens that one request uses: each byte of it may be one, and the
// answer has a bound of its own.
func mostOf(body []byte) int64 { return int64(len(body)) + mostWritten }

// bill is what a question has cost.
type bill struct {
	classify.Usage
	most    int64 // that a request uses
	unknown int64 // requests that may have used it: no reply says what they used
}

func (b bill) used() int64 { return b.In + b.Out + b.unknown*b.most }

// hold takes all that the question may use, before it is asked. What an earlier
// delivery took and did not settle, because it died, stays taken: the question takes
// its tokens anew, as an event that follows from the message's.
func (c *Classifier) hold(ctx context.Context, of event.Event, weight int64) (counter.Take, error) {
	take := counter.Take{Key: TokensKey, Weight: weight, Cap: c.TokensADay}
	for n := 1; n <= mostHolds; n++ { // the first is the message's event itself
		var err error
		if take.Event, err = of.Nth(n); err != nil {
			return take, err
		}
		grant, err := c.Limits.Take(ctx, take)
		_, other := errors.AsType[*counter.WeightError](err) // the earlier question was longer or shorter
		switch {
		case errors.Is(err, counter.ErrFull) || errors.Is(err, event.ErrTooOld):
			return take, fmt.Errorf("%w: %w", errSpent, err)
		case err != nil && !other:
			return take, err
		case grant.First():
			return take, nil
		case !other && grant.Outcome != event.Duplicate:
			return take, errSpent
		}
	}
	return take, errSpent
}

// settle gives back what was not used. What was used above the hold counts even if it
// is above the day's tokens.
func (c *Classifier) settle(ctx context.Context, held counter.Take, used int64) {
	var err error
	if used == 0 {
		_, err = c.Limits.Refund(ctx, counter.Refund{Key: held.Key, Event: held.Event, Weight: held.Weight})
	} else {
		_, err = c.Limits.Adjust(ctx, counter.Adjust{Key: held.Key, Event: held.Event, From: held.Weight, To: used, Cap: math.MaxInt64})
	}
	if err != nil {
		c.Log.WarnContext(ctx, "the tokens that a question did not use stay taken for the day", "error", err)
	}
}
