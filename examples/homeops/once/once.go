// Package once has a message classified once, however often it is delivered: the
// answer is stored before anything follows from it, and a redelivery gets the same,
// whatever a model would say by now, and costs no tokens.
//
// Its row is the ledger's, CLASSIFY and the message's event, with the answer as
// JSON: names of activities, ids and names of people, and words of the message that
// were unsure.
// It goes with its TTL, and by ledger.Erase.
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

// mostStored bounds an answer, in bytes of JSON. What a text of Telegram's holds is
// a tenth of it.
const mostStored = 16 << 10

// Classifier is a [classify.Classifier] that stores what another says.
type Classifier struct {
	of      classify.Classifier
	answers *ledger.Store
}

var _ classify.Classifier = (*Classifier)(nil)

// New returns a Classifier that stores what the given one says in a ledger's table.
func New(api ledger.API, table string, cfg *ledger.Config, of classify.Classifier) (*Classifier, error) {
	own := ledger.Config{}
	if cfg != nil {
		own = *cfg
	}
	own.MaxResult = mostStored
	answers, err := ledger.New(api, table, &own)
	return &Classifier{of: of, answers: answers}, err
}

// Classify asks the other classifier, or returns what it said about the message's
// event before. While another delivery is at it, the error is a *queue.LaterError.
//
// Beside an error there is no answer, only what it cost. An error of the other is not
// stored: the next delivery asks again. So does one after a crash between the question
// and the answer's row, when the lease of a minute has lapsed, and one after an answer
// that could not be stored: the question may be asked, and paid, more than once, but
// nothing has followed from an answer that is not stored. Of an answer that is too long
// to be stored, the deeds that fit stand. One that ledger.Erase has removed says
// nothing: forget the key to ask again.
//
// Price: 2 requests, 2 WCU. And 1 WCU for each KB of the row after the first; a replay is 1
// request and 1 WCU for each KB.
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
	if err != nil { // what is not stored is no answer
		return classify.Result{Usage: said.Value.Usage}, err
	}
	if said.Replayed {
		said.Value.Usage = classify.Usage{Model: said.Value.Usage.Model, Replayed: true}
	}
	return said.Value, nil
}

// bounded leaves out the last deeds as long as the answer cannot be stored.
func bounded(r classify.Result) classify.Result {
	for r.Done = r.Done[:min(len(r.Done), activity.MaxSet)]; len(r.Done) > 0; r.Done = r.Done[:len(r.Done)-1] {
		if text, err := json.Marshal(r); err != nil || len(text) <= mostStored {
			break
		}
	}
	return r
}
