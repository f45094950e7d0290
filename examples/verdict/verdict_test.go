package verdict_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/homeops/ddbpatterns/activity"
	"github.com/homeops/ddbpatterns/counter"
	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/examples/verdict"
	"github.com/homeops/ddbpatterns/ledger"
	"github.com/homeops/ddbpatterns/schema"
	"github.com/homeops/ddbpatterns/tzclock"
)

// shop is the stores of a service, in tables of the test's own.
type shop struct {
	db     *dynamotest.DB
	log    *activity.Store
	limits *counter.Store
	seen   *ledger.Store
}

func open(t *testing.T) shop {
	t.Helper()
	db := dynamotest.New(t, &dynamotest.Config{MaxBackoff: time.Millisecond}) // the SDK's retries wait no seconds
	var errs [3]error
	s := shop{db: db}
	s.log, errs[0] = activity.New(db.Client(), db.Name("log"), nil)
	s.limits, errs[1] = counter.New(db.Client(), db.Name("limits"), tzclock.UTC, &counter.Config{MaxRecorded: 1})
	s.seen, errs[2] = ledger.New(db.Client(), db.Name("seen"), &ledger.Config{MaxAttempts: 1})
	if err := errors.Join(errs[:]...); err != nil {
		t.Fatal(err)
	}
	if err := schema.Create(t.Context(), db.Client(), s.log.Table(), s.limits.Table(), s.seen.Table()); err != nil {
		t.Fatal(err)
	}
	return s
}

func order(t *testing.T, at time.Time, id string) event.Event {
	t.Helper()
	ev, err := event.New(at, "shop", id)
	if err != nil {
		t.Fatal(err)
	}
	return ev
}

// wantVerdict judges an error, and the same under another text.
func wantVerdict(t *testing.T, err error, want verdict.Verdict) {
	t.Helper()
	for _, err := range []error{err, fmt.Errorf("worker: %w", err)} {
		if got, wait := verdict.Of(err); got != want || wait != 0 {
			t.Errorf("%v: verdict %v, wait %v, want %v", err, got, wait, want)
		}
	}
}

func TestNoError(t *testing.T) {
	t.Parallel()
	if got, wait := verdict.Of(nil); got != verdict.Done || wait != 0 {
		t.Errorf("verdict %v, wait %v", got, wait)
	}
}

func TestAnswersOfALimit(t *testing.T) {
	t.Parallel()
	s := open(t)
	take := func(at time.Time, id, customer string) error {
		_, err := s.limits.Take(t.Context(), counter.Take{Key: customer, Event: order(t, at, id), Weight: 1, Cap: 3})
		return err
	}
	now := time.Now()
	if err := take(now, "1", "anna"); err != nil {
		t.Fatal(err)
	}
	wantVerdict(t, take(now, "2", "anna"), verdict.Done)                  // counter.ErrFull
	wantVerdict(t, take(now.AddDate(0, 0, -30), "3", "bo"), verdict.Done) // event.ErrTooOld
	wantVerdict(t, take(now, "4", ""), verdict.Poison)                    // *event.InputError
	s.db.Inject(dynamotest.Fault{Do: dynamotest.InternalError, Times: 10})
	wantVerdict(t, take(now, "5", "bo"), verdict.Retry)
}

func TestAnswersOfALog(t *testing.T) {
	t.Parallel()
	s := open(t)
	ev := order(t, time.Now(), "1")
	ordered := activity.Activity{Scope: "shop", Actor: "42", Event: ev, Name: "order"}
	if _, err := s.log.Record(t.Context(), ordered); err != nil {
		t.Fatal(err)
	}
	returned := ordered
	returned.Name = "return"
	_, err := s.log.Record(t.Context(), returned)
	wantVerdict(t, err, verdict.Done) // *activity.ConflictError
	if _, err := s.log.Retract(t.Context(), activity.Retract{Scope: "shop", Event: ev}); err != nil {
		t.Fatal(err)
	}
	_, err = s.log.Record(t.Context(), ordered)
	wantVerdict(t, err, verdict.Done) // activity.ErrRetracted
}

// Of many things each is judged by itself, and the worst decides.
func TestLeftovers(t *testing.T) {
	t.Parallel()
	s := open(t)
	good := activity.Activity{Scope: "shop", Actor: "42", Event: order(t, time.Now(), "1"), Name: "order"}
	bad, other := good, good
	bad.Event, bad.Scope = order(t, time.Now(), "2"), ""
	other.Name = "return"
	_, err := s.log.RecordMany(t.Context(), []activity.Activity{good, other})
	wantVerdict(t, err, verdict.Done)
	_, err = s.log.RecordMany(t.Context(), []activity.Activity{good, other, bad})
	wantVerdict(t, err, verdict.Poison)
	s.db.Inject(dynamotest.Fault{Do: dynamotest.InternalError, Times: 10})
	_, err = s.log.RecordMany(t.Context(), []activity.Activity{bad, good})
	wantVerdict(t, err, verdict.Retry)
}

func TestAnswersOfTheLedger(t *testing.T) {
	t.Parallel()
	s := open(t)
	do := func(key, payload string, work error) error {
		req := ledger.Request{Key: key, Payload: []byte(payload)}
		_, err := ledger.Do(t.Context(), s.seen, req, func(context.Context, *ledger.Claim) (string, error) { return "paid", work })
		return err
	}
	if _, err := s.seen.MarkSeen(t.Context(), "marked"); err != nil {
		t.Fatal(err)
	}
	wantVerdict(t, do("marked", "", nil), verdict.Done) // ledger.ErrNoResult

	refused := ledger.Permanent(errors.New("card expired"))
	wantVerdict(t, do("refused", "", refused), verdict.Poison)
	wantVerdict(t, do("refused", "", refused), verdict.Poison) // replayed
	late := ledger.Permanent(event.ErrTooOld)
	wantVerdict(t, do("late", "", late), verdict.Done)
	wantVerdict(t, do("late", "", late), verdict.Done) // replayed
	if err := do("paid", "7 EUR", nil); err != nil {
		t.Fatal(err)
	}
	wantVerdict(t, do("paid", "9 EUR", nil), verdict.Poison) // ledger.ErrFingerprintMismatch
	_, misfit := ledger.Do(t.Context(), s.seen, ledger.Request{Key: "paid", Payload: []byte("7 EUR")},
		func(context.Context, *ledger.Claim) (int, error) { return 0, nil })
	wantVerdict(t, misfit, verdict.Poison)                             // *ledger.ResultError
	wantVerdict(t, do("down", "", errors.New("down")), verdict.Retry)  // the first attempt is the last
	wantVerdict(t, do("down", "", errors.New("down")), verdict.Poison) // ledger.ErrTooManyAttempts

	if _, err := s.seen.Claim(t.Context(), ledger.Request{Key: "held"}); err != nil {
		t.Fatal(err)
	}
	if got, wait := verdict.Of(do("held", "", nil)); got != verdict.Retry || wait <= 0 {
		t.Errorf("a held key: verdict %v, wait %v", got, wait)
	}
}
