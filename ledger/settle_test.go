package ledger_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/internal/recordtest"
	"github.com/homeops/ddbpatterns/ledger"
)

func TestCompleteIsRepeatable(t *testing.T) {
	t.Parallel()
	_, store := opened(t, ledger.Config{})
	c := mustClaim(t, store, order)
	must(t, c.Complete(t.Context(), "one"))
	must(t, c.Complete(t.Context(), "one"))
	var done *ledger.DoneError
	if err := c.Complete(t.Context(), "two"); !errors.As(err, &done) || string(done.Record.Result) != `"one"` {
		t.Errorf("another result: %v", err)
	}
	if err := c.Fail(t.Context(), errors.New("too late")); !errors.As(err, &done) {
		t.Errorf("Fail when done: %v", err)
	}
	if err := c.Renew(t.Context()); !errors.As(err, &done) {
		t.Errorf("Renew when done: %v", err)
	}
	wantDone(t, store, order, `"one"`)
}

func TestFailIsRepeatable(t *testing.T) {
	t.Parallel()
	_, store := opened(t, ledger.Config{})
	c := mustClaim(t, store, order)
	recordtest.WantBad(t, c.Fail(t.Context(), nil), "ledger", "cause")
	must(t, c.Fail(t.Context(), errCut))
	must(t, c.Fail(t.Context(), errCut))
	wantErr(t, "Fail for another reason", c.Fail(t.Context(), errors.New("else")), ledger.ErrLeaseLost)
	wantErr(t, "Fail for good", c.Fail(t.Context(), ledger.Permanent(errCut)), ledger.ErrLeaseLost)
	wantErr(t, "Complete after Fail", c.Complete(t.Context(), 1), ledger.ErrLeaseLost)
	wantErr(t, "Renew after Fail", c.Renew(t.Context()), ledger.ErrLeaseLost)
	mustClaim(t, store, order)
	wantErr(t, "Fail after the next claim", c.Fail(t.Context(), errCut), ledger.ErrLeaseLost)
}

// The largest result beside the largest of everything else is not an item over
// 400 KB.
func TestLargestRow(t *testing.T) {
	t.Parallel()
	_, store := opened(t, ledger.Config{MaxResult: 384 << 10})
	key, err := ledger.Key(strings.Repeat("x", 2048))
	must(t, err)
	c := mustClaim(t, store, ledger.Request{Key: key})
	must(t, c.Fail(t.Context(), errors.New(strings.Repeat("e", 1<<20))))
	c = mustClaim(t, store, ledger.Request{Key: key})
	must(t, c.Complete(t.Context(), strings.Repeat("r", 384<<10-2)))
}

// The bound holds for every kind of error, and what is stored in another form is
// known again after a lost reply.
func TestLastErrorIsCutBetweenRunes(t *testing.T) {
	t.Parallel()
	_, store := opened(t, ledger.Config{})
	for name, tc := range map[string]struct{ text, want string }{
		"empty":         {"", ""},
		"exact":         {strings.Repeat("x", 512), strings.Repeat("x", 512)},
		"one over":      {strings.Repeat("x", 513), strings.Repeat("x", 512)},
		"inside a rune": {"x" + strings.Repeat("å", 256), "x" + strings.Repeat("å", 255)},
		"not UTF-8":     {"a\xffb", "a\uFFFDb"},
	} {
		plain := errors.New(tc.text)
		for i, why := range []error{plain, ledger.Permanent(plain), &ledger.PermanentError{Message: tc.text}} {
			req := ledger.Request{Key: fmt.Sprint(name, i)}
			c := mustClaim(t, store, req)
			must(t, c.Fail(t.Context(), why))
			must(t, c.Fail(t.Context(), why))
			if r := mustGet(t, store, req.Key); r.LastError != tc.want || (r.State == ledger.Refused) != (i > 0) {
				t.Errorf("%s: %s, %q, want %q", req.Key, r.State, r.LastError, tc.want)
			}
		}
	}
}

// A row deleted by hand and claimed again within the millisecond has the same
// fence; the nonce tells its holder.
func TestAClaimWhoseRowIsAnothersIsLost(t *testing.T) {
	t.Parallel()
	b, store := opened(t, ledger.Config{})
	c := mustClaim(t, store, order)
	b.remove(t, order.Key)
	lost := func() {
		t.Helper()
		wantErr(t, "Complete", c.Complete(t.Context(), 1), ledger.ErrLeaseLost)
		wantErr(t, "Fail", c.Fail(t.Context(), errors.New("x")), ledger.ErrLeaseLost)
		wantErr(t, "Renew", c.Renew(t.Context()), ledger.ErrLeaseLost)
	}
	if lost(); b.row(t, order.Key) != nil {
		t.Error("a row came back")
	}
	if other := mustClaim(t, store, order); other.Fence != c.Fence {
		t.Fatalf("fences %d and %d: the test proves nothing", c.Fence, other.Fence)
	}
	lost()
}

// deaf makes a call whose every reply is lost.
func (b *bench) deaf(t *testing.T, call func() error) {
	t.Helper()
	b.db.Inject(dynamotest.Fault{Do: dynamotest.LoseReply, Op: "UpdateItem", Times: -1})
	if call() == nil {
		t.Error("the call heard a reply")
	}
	b.db.Heal()
}
