package ledger_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/ddb"
	"github.com/homeops/ddbpatterns/internal/item"
	"github.com/homeops/ddbpatterns/internal/recordtest"
	"github.com/homeops/ddbpatterns/ledger"
)

// A caller's sentinels, of which one is told by two errors.Is, and one that
// nobody registered.
var (
	errSoldOut  = errors.New("sold out")
	errTonight  = fmt.Errorf("tonight: %w", errSoldOut)
	errNoKnown  = errors.New("known to nobody")
	callersOwn  = map[string]error{"a": errSoldOut, "b": errTonight}
	librarysOwn = map[string]error{
		"event.ErrSuperseded": event.ErrSuperseded, "event.ErrTooOld": event.ErrTooOld, "event.ErrUnknownOutcome": event.ErrUnknownOutcome,
		"ledger.ErrFingerprintMismatch": ledger.ErrFingerprintMismatch, "ledger.ErrLeaseLost": ledger.ErrLeaseLost,
		"ledger.ErrNoResult": ledger.ErrNoResult, "ledger.ErrResultDiffers": ledger.ErrResultDiffers,
		"ledger.ErrTooManyAttempts": ledger.ErrTooManyAttempts,
	}
)

// told is what a caller can tell of an error.
type told struct {
	Is        map[string]bool
	Permanent bool
	Bad       event.InputError
}

func tell(err error) told {
	out := told{Is: map[string]bool{}}
	for _, known := range []map[string]error{callersOwn, librarysOwn} {
		for code, sentinel := range known {
			out.Is[code] = errors.Is(err, sentinel)
		}
	}
	var permanent *ledger.PermanentError
	var bad *event.InputError
	out.Permanent = errors.As(err, &permanent)
	if errors.As(err, &bad) {
		out.Bad = *bad
	}
	return out
}

// The first delivery and every later one get the same error, as far as
// errors.Is and errors.As can tell, however it is wrapped.
func TestPermanentErrorsStayTheSame(t *testing.T) {
	t.Parallel()
	b, store := opened(t, ledger.Config{Errors: callersOwn})
	bad := event.BadInput("counter", "Take.Cap", "must: not be räksmörgås")
	parts := []error{errNoKnown, bad, errSoldOut, errTonight}
	for _, code := range slices.Sorted(maps.Keys(librarysOwn)) {
		parts = append(parts, librarysOwn[code])
	}
	for i, part := range parts {
		for j, other := range parts {
			if other == bad {
				continue // told outside of the permanent error it is not stored
			}
			for k, cause := range []error{
				fmt.Errorf("å: %w: step: %w", part, ledger.Permanent(other)),
				ledger.Permanent(errors.Join(part, errors.New(strings.Repeat("å", 30)), other)),
				fmt.Errorf("(%w; after %w)", ledger.Permanent(part), other),
			} {
				if part == bad && k == 0 {
					continue // as above
				}
				wantSame(t, b, store, ledger.Request{Key: fmt.Sprint(i, j, k)}, ledger.Permanent(cause))
			}
		}
	}
}

func wantSame(t *testing.T, b *bench, store *ledger.Store, req ledger.Request, cause error) {
	t.Helper()
	do := func() (ledger.Result[int], error) {
		return ledger.Do(t.Context(), store, req, func(context.Context, *ledger.Claim) (int, error) { return 0, cause })
	}
	_, first := do()
	res, replayed := do()
	_, claimed := store.Claim(t.Context(), req)
	if diff := cmp.Diff(tell(first), tell(replayed)) + cmp.Diff(tell(replayed), tell(claimed)); diff != "" || !res.Replayed {
		t.Errorf("%v, and then:\n%s", first, diff)
	}
	if code := item.Text(b.row(t, req.Key), "errorCode"); len(code) > 80 {
		t.Errorf("a code of %d bytes: %s", len(code), code)
	}
}

// An input error that is told beside the permanent one, or beyond the text
// that is stored, is still bad input when replayed.
func TestInputErrorsThatAreNotTold(t *testing.T) {
	t.Parallel()
	_, store := opened(t, ledger.Config{})
	bad := event.BadInput("counter", "Take.Cap", "must not be negative")
	long := strings.Repeat("x", 511)
	for name, tc := range map[string]struct {
		err  error
		want event.InputError
	}{
		"beside":     {fmt.Errorf("%w: %w", ledger.Permanent(errors.New("no")), bad), event.InputError{Reason: "no"}},
		"beyond":     {ledger.Permanent(fmt.Errorf("%s %w", long, bad)), event.InputError{Reason: long + " "}},
		"cut":        {ledger.Permanent(fmt.Errorf("%s %w", long[:485], bad)), event.InputError{Package: "counter", Field: "Take.Cap", Reason: "must not"}},
		"not UTF-8":  {ledger.Permanent(event.BadInput("a\xff", "b", "c\xff\xfe")), event.InputError{Package: "a\uFFFD", Field: "b", Reason: "c\uFFFD"}},
		"its bounds": {ledger.Permanent(event.BadInput("", "", "")), event.InputError{}},
	} {
		must(t, mustClaim(t, store, ledger.Request{Key: name}).Fail(t.Context(), tc.err))
		_, err := store.Claim(t.Context(), ledger.Request{Key: name})
		var got *event.InputError
		if !errors.As(err, &got) || *got != tc.want {
			t.Errorf("%s: %#v, want %#v", name, got, tc.want)
		}
	}
}

// What does not fit is left out; the caller's own come first.
func TestErrorCodesThatDoNotFit(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	first, second := strings.Repeat("a", 30), strings.Repeat("b", 30)
	one, two, three, four := errors.New("one"), errors.New("two"), errors.New("three"), errors.New("four")
	store := b.store(t, ledger.Config{Errors: map[string]error{second: two, first: one, "cccc5": three, "ddd4": four}})
	c := mustClaim(t, store, order)
	must(t, c.Fail(t.Context(), ledger.Permanent(errors.Join(event.ErrTooOld, four, three, two, one))))
	_, err := store.Claim(t.Context(), order)
	if !errors.Is(err, one) || !errors.Is(err, two) || errors.Is(err, three) || !errors.Is(err, four) || errors.Is(err, event.ErrTooOld) {
		t.Errorf("of five: %v", err)
	}
	got, want := item.Text(b.row(t, order.Key), "errorCode"), fmt.Sprintf("%d:%s,%s,ddd4", c.Fence, first, second)
	if got != want || len(got) != 80 {
		t.Errorf("stored as %s of %d bytes, want %s", got, len(got), want)
	}
}

// A reply that was lost is told by its code as well: the same text of another
// sentinel is another error. A code that a store does not know leaves the text.
func TestAnUnknownErrorCodeReplaysTheText(t *testing.T) {
	t.Parallel()
	own := map[string]error{"sold-out": errSoldOut}
	b, store := opened(t, ledger.Config{Errors: own})
	c := mustClaim(t, store, order)
	must(t, c.Fail(t.Context(), ledger.Permanent(errSoldOut)))
	delete(own, "sold-out")
	must(t, c.Fail(t.Context(), ledger.Permanent(errSoldOut))) // of the Config as it was given
	if err := c.Fail(t.Context(), ledger.Permanent(errors.New("sold out"))); !isPermanent(err) || !errors.Is(err, errSoldOut) {
		t.Errorf("the same text: %v", err)
	}
	_, err := b.store(t, ledger.Config{}).Claim(t.Context(), order)
	var permanent *ledger.PermanentError
	if !errors.As(err, &permanent) || err.Error() != "sold out" || permanent.Unwrap() != nil {
		t.Errorf("got %v", err)
	}
}

func TestErrorCodesThatAreNotTrusted(t *testing.T) {
	t.Parallel()
	b, store := opened(t, ledger.Config{})
	for code, want := range map[string]told{
		"7:event.ErrTooOld":           {Is: map[string]bool{"event.ErrTooOld": true}},
		"6:event.ErrTooOld":           {},
		"event.ErrTooOld":             {},
		"":                            {},
		"7:event.InputError":          {Bad: event.InputError{Reason: "a: b c"}},
		"7:event.InputError@0+1+1+1":  {Bad: event.InputError{Package: "a", Field: "b", Reason: "c"}},
		"7:event.InputError@0+1+1+2":  {Bad: event.InputError{Reason: "a: b c"}},
		"7:event.InputError@-1+1+1+1": {Bad: event.InputError{Reason: "a: b c"}},
		"7:event.InputError@9223372036854775807+1+1+1": {Bad: event.InputError{Reason: "a: b c"}},
	} {
		b.put(t, ddb.Item{
			"pk": item.S("k"), "claim": item.S("x"), "state": item.S("refused"), "lastError": item.S("a: b c"), "fence": item.N(7),
			"errorCode": item.S(code), "expiresAt": item.N(b.clock.Now().Add(2 * time.Hour).Unix()),
		})
		_, err := store.Claim(t.Context(), ledger.Request{Key: "k"})
		got := tell(err)
		if got.Is["event.ErrTooOld"] != want.Is["event.ErrTooOld"] || got.Bad != want.Bad || !got.Permanent || err.Error() != "a: b c" {
			t.Errorf("%q: %v, %#v", code, err, got)
		}
	}
}

// Every write but a permanent error's removes the code that an older version
// has left standing.
func TestErrorCodesAreRemoved(t *testing.T) {
	t.Parallel()
	b, store := opened(t, ledger.Config{Lease: time.Minute, Retention: 24 * time.Hour})
	leave := func(key string) {
		row := b.row(t, key)
		row["errorCode"] = item.S("1:event.ErrTooOld")
		b.put(t, row)
	}
	for name, write := range map[string]func(*ledger.Claim) error{
		"Complete": func(c *ledger.Claim) error { return c.Complete(t.Context(), 1) },
		"CompleteItem": func(c *ledger.Claim) error {
			done, err := c.CompleteItem(1)
			must(t, err)
			b.transact(t, done.Item)
			return nil
		},
		"Fail":                func(c *ledger.Claim) error { return c.Fail(t.Context(), errCut) },
		"Fail, not of a code": func(c *ledger.Claim) error { return c.Fail(t.Context(), ledger.Permanent(errCut)) },
		"Claim": func(c *ledger.Claim) error {
			must(t, c.Fail(t.Context(), errCut))
			leave(c.Key)
			mustClaim(t, store, ledger.Request{Key: c.Key})
			return nil
		},
		"Claim of an expired key": func(c *ledger.Claim) error {
			b.clock.Add(24 * time.Hour)
			mustClaim(t, store, ledger.Request{Key: c.Key})
			return nil
		},
	} {
		c := mustClaim(t, store, ledger.Request{Key: name})
		leave(name)
		must(t, write(c))
		if row := b.row(t, name); item.Has(row, "errorCode") {
			t.Errorf("%s: the code stands: %v", name, row)
		}
	}
}

func TestConfigErrors(t *testing.T) {
	t.Parallel()
	client := dynamotest.Connect("http://127.0.0.1:1")
	for code, want := range map[string]string{
		"counter.ErrFull": "", "A-z_0.9": "", strings.Repeat("x", 30): "",
		"": "1 to 30", strings.Repeat("x", 31): "1 to 30", "a,b": "1 to 30", "a:b": "1 to 30", "a@b": "1 to 30", "å": "1 to 30", "a b": "1 to 30",
		"event.ErrMine": "the library's own", "ledger.ErrMine": "the library's own", "event.InputError": "the library's own",
	} {
		_, err := ledger.New(client, "ledger", &ledger.Config{Errors: map[string]error{code: errSoldOut}})
		if want == "" {
			must(t, err)
			continue
		}
		recordtest.WantBad(t, err, "ledger", "Config.Errors", code)
		if err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", code, err)
		}
	}
	_, err := ledger.New(client, "ledger", &ledger.Config{Errors: map[string]error{"nil": nil}})
	recordtest.WantBad(t, err, "ledger", "Config.Errors", "nil")
}
