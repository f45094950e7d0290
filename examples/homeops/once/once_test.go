package once_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/examples/homeops/classify"
	"github.com/homeops/ddbpatterns/examples/homeops/once"
	"github.com/homeops/ddbpatterns/examples/homeops/queue"
	"github.com/homeops/ddbpatterns/internal/recordtest"
	"github.com/homeops/ddbpatterns/ledger"
	"github.com/homeops/ddbpatterns/schema"
)

var noon = time.Date(2026, 2, 18, 11, 0, 0, 0, time.UTC)

// fickle is a classifier that never says the same twice.
type fickle struct {
	asked int
	say   func(ctx context.Context, n int) (classify.Result, error)
}

func (f *fickle) Classify(ctx context.Context, _ classify.Message) (classify.Result, error) {
	f.asked++
	return f.say(ctx, f.asked)
}

type bench struct {
	*once.Classifier
	*fickle
	db  *dynamotest.DB
	now time.Time
}

func newBench(t *testing.T, say func(context.Context, int) (classify.Result, error)) *bench {
	t.Helper()
	b := &bench{fickle: &fickle{say: say}, now: noon}
	clock := func() time.Time { return b.now }
	b.db = dynamotest.New(t, &dynamotest.Config{Now: clock, MaxBackoff: time.Millisecond})
	cfg := &ledger.Config{Now: clock}
	store, err := ledger.New(b.db.Client(), "ledger", cfg)
	if err == nil {
		err = schema.Create(t.Context(), b.db.Client(), store.Table())
	}
	if err == nil {
		b.Classifier, err = once.New(b.db.Client(), "ledger", cfg, b.fickle)
	}
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func (b *bench) Classify(ctx context.Context, m classify.Message) (classify.Result, error) {
	return b.Classifier.Classify(ctx, m)
}

func message(t *testing.T, id int) classify.Message {
	t.Helper()
	ev := recordtest.Event(t, noon, "telegram", "-5", fmt.Sprint(id))
	return classify.Message{Event: ev, Scope: "-5", Text: "Bo har diskat"}
}

// A redelivery gets the first answer, with its deeds, people and doubts and without
// its cost. Another message gets its own. The prices are those of the doc comment.
func TestAnAnswerStands(t *testing.T) {
	t.Parallel()
	first := classify.Result{
		Done:  []classify.Done{{By: &classify.Person{ID: "7", Name: "Bo", End: 2}, Name: "diskning", Kind: classify.Chore, Effort: 1.1, Confidence: 0.83}},
		Guess: &classify.Guess{Phrase: "dammsgit", Name: "dammsugning"},
		Usage: classify.Usage{Model: "m", Requests: 1, In: 300, Out: 20, FellBack: true},
	}
	b := newBench(t, func(_ context.Context, n int) (classify.Result, error) {
		if n == 1 {
			return first, nil
		}
		return classify.Result{Done: []classify.Done{{Name: "tvätt", Kind: classify.Chore, Effort: 1, Confidence: 1}}}, nil
	})
	var got classify.Result
	var err error
	b.db.Meter(func() { got, err = b.Classify(t.Context(), message(t, 1)) }).Want(t, dynamotest.Price{Requests: 2, WCU: 2})
	if diff := cmp.Diff(first, got); err != nil || diff != "" {
		t.Error(err, diff)
	}
	b.now = noon.Add(24 * time.Hour)
	b.db.Meter(func() { got, err = b.Classify(t.Context(), message(t, 1)) }).Want(t, dynamotest.Price{Requests: 1, WCU: 1})
	want := first
	want.Usage = classify.Usage{Model: "m", Replayed: true}
	if diff := cmp.Diff(want, got); err != nil || diff != "" || b.asked != 1 {
		t.Error(err, diff, b.asked)
	}
	if got, err = b.Classify(t.Context(), message(t, 2)); err != nil || got.Done[0].Name != "tvätt" {
		t.Errorf("%+v, %v", got, err)
	}
}

// An error is not an answer: the next delivery asks. So does a delivery after a
// crash when the lease has lapsed; before that it learns when to come again.
func TestWhatIsNotAnswered(t *testing.T) {
	t.Parallel()
	trouble := errors.New("trouble")
	b := newBench(t, func(_ context.Context, n int) (classify.Result, error) {
		switch n {
		case 1:
			return classify.Result{}, trouble
		case 2:
			panic("the process dies")
		}
		return classify.Result{}, nil
	})
	if _, err := b.Classify(t.Context(), message(t, 1)); !errors.Is(err, trouble) {
		t.Error(err)
	}
	func() {
		defer func() { _ = recover() }()
		_, _ = b.Classify(t.Context(), message(t, 1))
	}()
	_, err := b.Classify(t.Context(), message(t, 1))
	later, ok := errors.AsType[*queue.LaterError](err)
	if !ok || later.After <= 0 || later.After > 2*time.Minute || b.asked != 2 {
		t.Fatalf("%v, asked %d", err, b.asked)
	}
	b.now = b.now.Add(later.After)
	if _, err := b.Classify(t.Context(), message(t, 1)); err != nil || b.asked != 3 {
		t.Errorf("%v, asked %d", err, b.asked)
	}
}

// An answer that is not stored is not returned, because nothing may follow from it.
// Its cost is returned. The next delivery gets another answer, which stays.
func TestWhatIsNotStored(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(_ context.Context, n int) (classify.Result, error) {
		return classify.Result{
			Done:  []classify.Done{{Name: fmt.Sprint(n), Kind: classify.Chore, Effort: 1, Confidence: 1}},
			Guess: &classify.Guess{Phrase: "dammsgit", Name: "dammsugning"},
			Usage: classify.Usage{Model: "m", Requests: 1, In: 300, Out: 20},
		}, nil
	})
	b.db.Inject(dynamotest.Fault{Do: dynamotest.LoseRequest, Op: "UpdateItem", Nth: 2, Times: -1})
	got, err := b.Classify(t.Context(), message(t, 1))
	b.db.Heal()
	want := classify.Result{Usage: classify.Usage{Model: "m", Requests: 1, In: 300, Out: 20}}
	if diff := cmp.Diff(want, got); err == nil || diff != "" {
		t.Errorf("%v\n%s", err, diff)
	}
	b.now = b.now.Add(2 * time.Minute)
	for range 2 {
		if got, err = b.Classify(t.Context(), message(t, 1)); err != nil || got.Done[0].Name != "2" || b.asked != 2 {
			t.Errorf("%+v, %v, asked %d", got, err, b.asked)
		}
	}
}

// An answer of any length is stored, and both deliveries get the same.
func TestAnAnswerIsBounded(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(context.Context, int) (classify.Result, error) {
		return classify.Result{Done: slices.Repeat([]classify.Done{{Name: strings.Repeat("å", 500), Kind: classify.Chore, Effort: 1, Confidence: 1}}, 400)}, nil
	})
	first, err := b.Classify(t.Context(), message(t, 1))
	if err != nil || len(first.Done) < 10 || len(first.Done) > 100 {
		t.Errorf("%d deeds, %v", len(first.Done), err)
	}
	again, err := b.Classify(t.Context(), message(t, 1))
	if diff := cmp.Diff(first.Done, again.Done); err != nil || diff != "" || b.asked != 1 {
		t.Error(err, diff, b.asked)
	}
}

// An answer that ledger.Erase removed is empty, and is not asked for again.
func TestErased(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(context.Context, int) (classify.Result, error) {
		return classify.Result{Done: []classify.Done{{Name: "diskning"}}}, nil
	})
	answers, err := ledger.New(b.db.Client(), "ledger", &ledger.Config{Now: func() time.Time { return b.now }})
	if err != nil {
		t.Fatal(err)
	}
	m := message(t, 1)
	key := "CLASSIFY:" + m.Event.String()
	if _, err := b.Classify(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	if err := answers.Erase(t.Context(), key); err != nil {
		t.Fatal(err)
	}
	if r, err := b.Classify(t.Context(), m); err != nil || len(r.Done) > 0 || r.Guess != nil || !r.Usage.Replayed || b.asked != 1 {
		t.Errorf("%+v, %v, asked %d times", r, err, b.asked)
	}
}
