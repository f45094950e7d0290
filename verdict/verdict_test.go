package verdict_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/activity"
	"github.com/homeops/ddbpatterns/alias"
	"github.com/homeops/ddbpatterns/counter"
	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/ema"
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/ledger"
	"github.com/homeops/ddbpatterns/limit"
	"github.com/homeops/ddbpatterns/pattern"
	"github.com/homeops/ddbpatterns/record"
	"github.com/homeops/ddbpatterns/schema"
	"github.com/homeops/ddbpatterns/verdict"
)

func open(t *testing.T) *ledger.Store {
	t.Helper()
	db := dynamotest.New(t, nil)
	seen, err := ledger.New(db.Client(), db.Name("seen"), &ledger.Config{MaxAttempts: 1})
	if err != nil {
		t.Fatal(err)
	}
	if err := schema.Create(t.Context(), db.Client(), seen.Table()); err != nil {
		t.Fatal(err)
	}
	return seen
}

// wantVerdict judges an error, and the same under another text.
func wantVerdict(t *testing.T, err error, want verdict.Kind, status int) {
	t.Helper()
	for _, err := range []error{err, fmt.Errorf("worker: %w", err)} {
		if got := verdict.Of(err); got != (verdict.Verdict{Kind: want, Status: status}) {
			t.Errorf("%v: %+v, want %v and %d", err, got, want, status)
		}
	}
}

func TestNoError(t *testing.T) {
	t.Parallel()
	if got := verdict.Of(nil); got != (verdict.Verdict{Status: 200}) {
		t.Errorf("%+v", got)
	}
	if got := verdict.Of(&event.LeftoverError{}); got != (verdict.Verdict{Status: 200}) {
		t.Errorf("nothing is left over: %+v", got)
	}
}

// Of many things each is judged by itself, and the worst decides.
func TestLeftovers(t *testing.T) {
	t.Parallel()
	many := func(errs ...error) error {
		var left event.LeftoverError
		for _, err := range errs {
			left.Leftovers = append(left.Leftovers, event.Leftover{Err: err})
		}
		return &left
	}
	conflict, bad := &activity.ConflictError{}, &event.InputError{}
	wantVerdict(t, many(conflict), verdict.Done, 409)
	wantVerdict(t, many(conflict, bad), verdict.Poison, 400)
	wantVerdict(t, many(bad, errors.New("down")), verdict.Retry, 503)
	waits := many(
		record.ErrContended, &ledger.InProgressError{Wait: time.Second}, &ledger.InProgressError{Wait: time.Minute},
		&ledger.InProgressError{Wait: 2 * time.Second}, event.ErrTooOld,
	)
	if got := verdict.Of(waits); got != (verdict.Verdict{Kind: verdict.Retry, Status: 503, Wait: time.Minute}) {
		t.Errorf("the longest wait decides: %+v", got)
	}
}

func TestAnswersOfTheLedger(t *testing.T) {
	t.Parallel()
	seen := open(t)
	do := func(key, payload string, work error) error {
		req := ledger.Request{Key: key, Payload: []byte(payload)}
		_, err := ledger.Do(t.Context(), seen, req, func(context.Context, *ledger.Claim) (string, error) { return "paid", work })
		return err
	}
	if _, err := seen.MarkSeen(t.Context(), "marked"); err != nil {
		t.Fatal(err)
	}
	wantVerdict(t, do("marked", "", nil), verdict.Done, 200) // ledger.ErrNoResult

	if err := do("paid", "7 EUR", nil); err != nil {
		t.Fatal(err)
	}
	wantVerdict(t, do("paid", "9 EUR", nil), verdict.Poison, 422) // ledger.ErrFingerprintMismatch
	_, misfit := ledger.Do(t.Context(), seen, ledger.Request{Key: "paid", Payload: []byte("7 EUR")},
		func(context.Context, *ledger.Claim) (int, error) { return 0, nil })
	wantVerdict(t, misfit, verdict.Poison, 500)                             // *ledger.ResultError
	wantVerdict(t, do("down", "", errors.New("down")), verdict.Retry, 503)  // the first attempt is the last
	wantVerdict(t, do("down", "", errors.New("down")), verdict.Poison, 500) // ledger.ErrTooManyAttempts

	for range 2 { // the second is replayed
		_, err := ledger.Do(t.Context(), seen, ledger.Request{Key: "long"}, func(context.Context, *ledger.Claim) (string, error) {
			return strings.Repeat("x", 20<<10), nil
		})
		wantVerdict(t, err, verdict.Poison, 500)
	}
	_, err := ledger.DoTx(t.Context(), seen, ledger.Request{Key: "many"}, func(context.Context, *ledger.Claim) (string, []types.TransactWriteItem, error) {
		return "", make([]types.TransactWriteItem, 100), nil
	})
	wantVerdict(t, err, verdict.Poison, 500) // an InputError that is not the client's
	if _, err := seen.Claim(t.Context(), ledger.Request{Key: "held"}); err != nil {
		t.Fatal(err)
	}
	if got := verdict.Of(do("held", "", nil)); got.Kind != verdict.Retry || got.Wait <= 0 || got.Status != 409 {
		t.Errorf("a held key: %+v", got)
	}
	// What was refused for good is not tried again, whatever the cause says of itself.
	wantVerdict(t, ledger.Permanent(&ledger.InProgressError{Wait: time.Second}), verdict.Poison, 422)
	wantVerdict(t, ledger.Permanent(counter.ErrFull), verdict.Poison, 422)
}

// A ledger stores the text of most causes and no more, so a cause decides only if a
// replay still has it: each delivery of a key gets the same verdict.
func TestAReplayHasTheSameVerdict(t *testing.T) {
	t.Parallel()
	seen := open(t)
	causes := maps.Clone(values)
	causes["event.LeftoverError"] = &event.LeftoverError{Leftovers: []event.Leftover{{Err: record.ErrContended}}}
	kept := map[string]verdict.Verdict{
		"event.ErrTooOld":               {Kind: verdict.Poison, Status: 410},
		"event.ErrSuperseded":           {Status: 200},
		"event.ErrUnknownOutcome":       {Kind: verdict.Poison, Status: 500},
		"event.InputError":              {Kind: verdict.Poison, Status: 400},
		"ledger.ErrFingerprintMismatch": {Kind: verdict.Poison, Status: 422},
		"ledger.ErrNoResult":            {Status: 200},
		"ledger.ErrResultDiffers":       {Kind: verdict.Poison, Status: 500},
		"ledger.ErrResultNotStored":     {Kind: verdict.Poison, Status: 500},
		"ledger.ErrTooManyAttempts":     {Kind: verdict.Poison, Status: 500},
	}
	for name, cause := range causes {
		want, ok := kept[name]
		if !ok {
			want = verdict.Verdict{Kind: verdict.Poison, Status: 422}
		}
		for _, delivery := range []string{"first", "replayed"} {
			_, err := ledger.Do(t.Context(), seen, ledger.Request{Key: name}, func(context.Context, *ledger.Claim) (string, error) {
				return "", ledger.Permanent(cause)
			})
			if got := verdict.Of(err); got != want {
				t.Errorf("%s, %s: %+v, want %+v", name, delivery, got, want)
			}
		}
	}
}

// values has a value of each error of the page's table.
var values = map[string]error{
	"event.InputError":              &event.InputError{},
	"event.ErrTooOld":               event.ErrTooOld,
	"event.ErrSuperseded":           event.ErrSuperseded,
	"event.ErrUnknownOutcome":       event.ErrUnknownOutcome,
	"ledger.InProgressError":        &ledger.InProgressError{},
	"ledger.DoneError":              &ledger.DoneError{},
	"ledger.PermanentError":         ledger.Permanent(errors.New("card expired")),
	"ledger.ItemError":              &ledger.ItemError{},
	"ledger.ResultError":            &ledger.ResultError{},
	"ledger.ErrFingerprintMismatch": ledger.ErrFingerprintMismatch,
	"ledger.ErrTooManyAttempts":     ledger.ErrTooManyAttempts,
	"ledger.ErrNoResult":            ledger.ErrNoResult,
	"ledger.ErrLeaseLost":           ledger.ErrLeaseLost,
	"ledger.ErrResultDiffers":       ledger.ErrResultDiffers,
	"ledger.ErrResultNotStored":     ledger.ErrResultNotStored,
	"ledger.ErrNotFound":            ledger.ErrNotFound,
	"ledger.ErrChanged":             ledger.ErrChanged,
	"counter.ErrFull":               counter.ErrFull,
	"counter.ErrNotFound":           counter.ErrNotFound,
	"counter.ErrBelowZero":          counter.ErrBelowZero,
	"counter.WeightError":           &counter.WeightError{},
	"limit.ErrContended":            limit.ErrContended,
	"limit.ErrForgotten":            limit.ErrForgotten,
	"limit.ErrSettled":              limit.ErrSettled,
	"activity.ConflictError":        &activity.ConflictError{},
	"activity.ErrRetracted":         activity.ErrRetracted,
	"activity.ErrNotFound":          activity.ErrNotFound,
	"alias.TakenError":              &alias.TakenError{},
	"alias.ErrNotFound":             alias.ErrNotFound,
	"record.ErrContended":           record.ErrContended,
	"record.AddError":               &record.AddError{},
	"record.FloorError":             &record.FloorError{},
	"record.TieError":               &record.TieError{},
	"pattern.ErrContended":          pattern.ErrContended,
	"ema.ErrContended":              ema.ErrContended,
	"schema.MismatchError":          &schema.MismatchError{},
}

// The table in docs/errors.md is what Of answers. A test of the root holds it to all
// exported errors.
func TestTable(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../docs/errors.md")
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[string]verdict.Kind{"Done": verdict.Done, "Poison": verdict.Poison, "Retry": verdict.Retry}
	listed := map[string]bool{}
	for _, row := range regexp.MustCompile(`(?m)^\| (Done|Poison|Retry) \| (\d+) \| (.*) \|$`).FindAllStringSubmatch(string(page), -1) {
		status, _ := strconv.Atoi(row[2])
		for _, name := range regexp.MustCompile("`\\*?(\\w+\\.\\w+)`").FindAllStringSubmatch(row[3], -1) {
			listed[name[1]] = true
			if values[name[1]] == nil {
				t.Errorf("%s has no value here", name[1])
				continue
			}
			wantVerdict(t, values[name[1]], kinds[row[1]], status)
			if kind := verdict.Of(values[name[1]]).Kind; kind.String() != row[1] {
				t.Errorf("%v is %s", kind, row[1])
			} else if final := verdict.Of(ledger.Permanent(values[name[1]])).Kind; kind == verdict.Poison && final != kind {
				t.Errorf("%s: what the work marks as Permanent is %v", name[1], final)
			}
		}
	}
	for name := range values {
		if !listed[name] {
			t.Errorf("docs/errors.md does not say what Of answers to %s", name)
		}
	}
}

// errDeclined is the service's own.
var errDeclined = errors.New("card declined")

func ExampleOf() {
	judge := func(err error) verdict.Verdict {
		switch {
		case errors.Is(err, errDeclined):
			return verdict.Verdict{Kind: verdict.Done, Status: http.StatusPaymentRequired}
		case errors.Is(err, activity.ErrNotFound): // this service only deletes
			return verdict.Verdict{Kind: verdict.Done, Status: http.StatusOK}
		}
		return verdict.Of(err)
	}
	for _, err := range []error{
		nil, ledger.Permanent(errDeclined), activity.ErrNotFound, event.ErrTooOld,
		&ledger.InProgressError{Wait: 3 * time.Second}, errors.New("connection refused"),
	} {
		switch v := judge(err); v.Kind {
		case verdict.Done:
			fmt.Println(v.Status, "done")
		case verdict.Poison:
			fmt.Println(v.Status, "to the dead letters:", err)
		case verdict.Retry:
			fmt.Println(v.Status, "again after", v.Wait)
		}
	}
	// Output:
	// 200 done
	// 402 done
	// 200 done
	// 410 to the dead letters: event: too old to judge
	// 409 again after 3s
	// 503 again after 0s
}
