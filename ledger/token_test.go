package ledger_test

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"strings"
	"testing"
	"time"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/golden"
	"github.com/homeops/ddbpatterns/internal/item"
	"github.com/homeops/ddbpatterns/internal/recordtest"
	"github.com/homeops/ddbpatterns/ledger"
)

// mustResume takes a claim over.
func mustResume(t *testing.T, store *ledger.Store, token string) *ledger.Claim {
	t.Helper()
	c, err := store.Resume(t.Context(), token)
	must(t, err)
	return c
}

// Another process goes on with the claim, by its own terms and a higher fence,
// and the first has lost it.
func TestResume(t *testing.T) {
	t.Parallel()
	for lost, effect := range losses {
		b := newBench(t)
		here, there := b.store(t, ledger.Config{}), b.store(t, ledger.Config{Lease: time.Second, Retention: time.Hour, MaxAttempts: 1})
		req := order
		req.Lease, req.Retention = time.Hour, 30*24*time.Hour
		first := mustClaim(t, here, req)
		b.clock.Add(59 * time.Minute)
		token := first.Token()
		b.db.Inject(dynamotest.Fault{Do: effect, Op: "UpdateItem", Nth: 1})
		second := mustResume(t, there, token)
		if second.Key != order.Key || second.Fence != first.Fence+1 || second.Attempt != 1 || !second.LeaseUntil().Equal(b.clock.Now().Add(time.Hour)) {
			t.Errorf("lost %s: %+v", lost, second)
		}
		row := b.row(t, order.Key)
		if got, want := number(t, row, "expiresAt"), b.clock.Now().Add(req.Retention+time.Hour).Unix(); got != want {
			t.Errorf("expires %d s from when it must", got-want)
		}
		if attempts := number(t, row, "attempts"); attempts != 1 {
			t.Errorf("%d attempts", attempts)
		}
		wantErr(t, "Renew by the first", first.Renew(t.Context()), ledger.ErrLeaseLost)
		wantErr(t, "Complete by the first", first.Complete(t.Context(), "first"), ledger.ErrLeaseLost)
		wantErr(t, "Release by the first", first.Release(t.Context()), ledger.ErrLeaseLost)
		_, err := there.Resume(t.Context(), token)
		wantErr(t, "the token once more", err, ledger.ErrLeaseLost)
		b.clock.Add(time.Minute)
		must(t, second.Renew(t.Context()))
		wantBusy(t, here, order, time.Hour+10*time.Second)
		must(t, second.Complete(t.Context(), "second"))
		wantDone(t, here, order, `"second"`)
		_, err = there.Resume(t.Context(), token)
		wantErr(t, "the token after the completion", err, ledger.ErrLeaseLost)
		if _, err = there.Resume(t.Context(), second.Token()); !isDone(err) {
			t.Errorf("a token of what is completed: %v", err)
		}
	}
}

func TestResumedRow(t *testing.T) {
	t.Parallel()
	b, store := goldenBench(t)
	mustResume(t, store, mustClaim(t, store, order).Token())
	golden.Want(t, b.client, b.table, "testdata/resumed.json", "pk")
}

func TestResumeFromHandToHand(t *testing.T) {
	t.Parallel()
	b, store := opened(t, ledger.Config{})
	longest := ledger.Request{Key: "\x00:" + strings.Repeat("日", 682)} // and any text
	first := mustClaim(t, store, longest)
	c := first
	for range 5 {
		b.clock.Add(2 * time.Minute)
		c = mustResume(t, store, c.Token())
	}
	if c.Key != longest.Key || c.Fence != first.Fence+5 || c.Attempt != 1 {
		t.Errorf("fence %d after %d, attempt %d", c.Fence, first.Fence, c.Attempt)
	}
	must(t, c.Release(t.Context()))
	if next := mustClaim(t, store, longest); next.Attempt != 1 || next.Fence <= c.Fence {
		t.Errorf("attempt %d, fence %d", next.Attempt, next.Fence)
	}
}

func TestResumeOfWhatHasEnded(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		end  func(*testing.T, *bench, *ledger.Claim)
		want func(error) bool
	}{
		"completed": {func(t *testing.T, _ *bench, c *ledger.Claim) { must(t, c.Complete(t.Context(), 1)) }, isDone},
		"refused":   {func(t *testing.T, _ *bench, c *ledger.Claim) { must(t, c.Fail(t.Context(), ledger.Permanent(errCut))) }, isPermanent},
		"failed":    {func(t *testing.T, _ *bench, c *ledger.Claim) { must(t, c.Fail(t.Context(), errCut)) }, isLost},
		"deleted":   {func(t *testing.T, b *bench, c *ledger.Claim) { b.remove(t, c.Key) }, isLost},
		"unreadable": {func(t *testing.T, b *bench, c *ledger.Claim) {
			row := b.row(t, c.Key)
			row["state"] = item.S("paused")
			b.put(t, row)
		}, isTrouble},
	} {
		b, store := opened(t, ledger.Config{})
		c := mustClaim(t, store, order)
		tc.end(t, b, c)
		if got, err := store.Resume(t.Context(), c.Token()); got != nil || !tc.want(err) {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
}

func isLost(err error) bool { return errors.Is(err, ledger.ErrLeaseLost) }

// sealed is a token of any bytes whose checksum is right.
func sealed(raw string) string {
	return base64.RawURLEncoding.EncodeToString(binary.BigEndian.AppendUint32([]byte(raw), crc32.ChecksumIEEE([]byte(raw))))
}

func TestTextThatIsNotAToken(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	good := mustClaim(t, b.store(t, ledger.Config{}), order).Token()
	store, err := ledger.New(recordtest.Silent(t), "ledger", nil)
	must(t, err)
	varints := func(values ...int64) string {
		raw := []byte{1}
		for _, v := range values {
			raw = binary.AppendVarint(raw, v)
		}
		return string(raw)
	}
	day, minute := int64(24*time.Hour), int64(time.Minute)
	for name, text := range map[string]string{
		"empty":               "",
		"a changed term":      good[:8] + "x" + good[9:],
		"a changed key":       good[:len(good)-9] + "-" + good[len(good)-8:],
		"of a later version":  sealed("\x02" + varints(1, minute, day)[1:] + "\x01nk"),
		"too long":            strings.Repeat("A", 5000),
		"no nonce":            sealed(varints(1, minute, day)),
		"no key":              sealed(varints(1, minute, day) + "\x01n"),
		"a key beyond bounds": sealed(varints(1, minute, day) + "\x01n" + strings.Repeat("k", 2049)),
		"no lease":            sealed(varints(1, 0, day) + "\x01nk"),
		"an endless lease":    sealed(varints(1, day, day) + "\x01nk"),
	} {
		c, err := store.Resume(t.Context(), text)
		if recordtest.WantBad(t, err, "ledger", "token", name); c != nil {
			t.Errorf("%s: a claim came back with the error", name)
		}
	}
}

// Law: no text makes Resume do anything but answer or refuse, and a token that is
// not one sends nothing.
func FuzzToken(f *testing.F) {
	f.Add("")
	f.Add(sealed("\x01\x02\x80\xe0\xba\x84\xbf\x03\x80\x80\xfe\xdd\xad\x9c\x11\x01nk"))
	store, err := ledger.New(recordtest.Down(errCut), "ledger", nil)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string) {
		c, err := store.Resume(t.Context(), text)
		var bad *event.InputError
		if c != nil || !errors.Is(err, errCut) && !errors.As(err, &bad) {
			t.Errorf("Resume(%q) = %v, %v", text, c, err)
		}
	})
}

// The context ends as the claim is taken over: nobody has it in hand, so it is
// given up, and the attempt counts. Where it was not taken the token still serves.
func TestAResumeThatItsCallerLeft(t *testing.T) {
	t.Parallel()
	for name, leave := range map[string]func(*bench, func()){
		"taken":                    func(b *bench, quit func()) { b.leaves(1, false, quit) },
		"under way":                func(b *bench, quit func()) { b.leaves(1, true, quit) },
		"answered just as it ends": func(b *bench, quit func()) { b.between(quit) },
	} {
		b, store := opened(t, ledger.Config{})
		first := mustClaim(t, store, order)
		ctx, cancel := context.WithCancelCause(t.Context())
		leave(b, func() { cancel(errDeploy) })
		ctx, meter := dynamotest.WithMeter(ctx)
		for range 2 { // the second under a context that has ended
			c, err := store.Resume(ctx, first.Token())
			if wantErr(t, name, err, context.Canceled); c != nil || meter.Cost().Requests != 2 {
				t.Errorf("%s: %v, %v", name, c, meter.Cost())
			}
		}
		if name == "under way" {
			mustResume(t, store, first.Token())
			continue
		}
		r := mustGet(t, store, order.Key)
		if r.State != ledger.Failed || r.Attempts != 1 || r.LastError != errDeploy.Error() || !r.Lease.IsZero() {
			t.Errorf("%s: %+v", name, r)
		}
	}
}
