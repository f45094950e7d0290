// Package once classifies a message once, for any number of deliveries. The answer
// is stored before anything follows from it. A redelivery gets the same answer,
// even if a model would say something else by now, and costs no tokens.
//
// Its rows are those of package ledger. The key is CLASSIFY and the message's
// event, the result is the answer as JSON: names of activities, ids and names of
// people, and words of the message that were unsure. A row is deleted by its TTL,
// and by ledger.Erase.
package once

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/homeops/ddbpatterns/activity"
	"github.com/homeops/ddbpatterns/examples/homeops/classify"
	"github.com/homeops/ddbpatterns/examples/homeops/queue"
	"github.com/homeops/ddbpatterns/ledger"
)

// mostStored bounds an answer, in bytes of JSON. The answer to a text of Telegram's
// takes a tenth of it.
const mostStored = 16 << 10

// Classifier is a [classify.Classifier] that stores the answers of another.
type Classifier struct {
	of      classify.Classifier
	answers *ledger.Store
}

var _ classify.Classifier = (*Classifier)(nil)

// New returns a Classifier that stores the answers of the given one in a ledger's
// table.
func New(api ledger.API, table string, cfg *ledger.Config, of classify.Classifier) (*Classifier, error) {
	own := ledger.Config{}
	if cfg != nil {
		own = *cfg
	}
	own.MaxResult = mostStored
	answers, err := ledger.New(api, table, &own)
	return &Classifier{of: of, answers: answers}, err
}

// Classify asks the other classifier, or returns the answer that is stored for the
// message's event. While another delivery asks, the error is a *queue.LaterError.
//
// With an error it returns no answer, only its Usage. An error of the other
// classifier is not stored: the next delivery asks again. The next delivery also
// asks again if the answer could not be stored, or after a crash between the
// question and the answer's row, once the lease of a minute has lapsed. So the
// question may be asked and paid more than once, but nothing has followed from an
// answer that is not stored. If an answer is too long to be stored, the first deeds
// that fit are kept. An answer that ledger.Erase has removed is empty: forget the
// key to ask again.
//
// Price: 2 requests, 2 WCU. A row above 1 KB costs 1 WCU more for each further KB.
// A replay is 1 request and 1 WCU for each KB.
func (c *Classifier) Classify(ctx context.Context, m classify.Message) (classify.Result, error) {
	key, err := ledger.Key("CLASSIFY", m.Event.String())
	if err != nil {
		return classify.Result{}, err
	}
	said, err := ledger.Do(ctx, c.answers, ledger.Request{Key: key}, func(ctx context.Context, _ *ledger.Claim) (classify.Result, error) {
		result, err := c.of.Classify(ctx, m)
		return bounded(result), err
	})
	if busy, ok := errors.AsType[*ledger.InProgressError](err); ok {
		return classify.Result{}, &queue.LaterError{After: max(busy.Wait, time.Second), Err: fmt.Errorf("once: %w", err)}
	}
	if errors.Is(err, ledger.ErrNoResult) { // it was erased
		return classify.Result{Usage: classify.Usage{Replayed: true}}, nil
	}
	if err != nil { // an answer that is not stored does not count
		return classify.Result{Usage: said.Value.Usage}, err
	}
	if said.Replayed {
		said.Value.Usage = classify.Usage{Model: said.Value.Usage.Model, Replayed: true}
	}
	return said.Value, nil
}

// bounded drops the last deeds until the answer is short enough to be stored.
func bounded(r classify.Result) classify.Result {
	for r.Done = r.Done[:min(len(r.Done), activity.MaxSet)]; len(r.Done) > 0; r.Done = r.Done[:len(r.Done)-1] {
		if text, err := json.Marshal(r); err != nil || len(text) <= mostStored {
			break
		}
	}
	return r
}
