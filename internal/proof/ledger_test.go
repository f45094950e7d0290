package proof_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/ledger"
)

const (
	lease       = time.Minute
	skew        = 10 * time.Second
	mostClaims  = 2
	graceOfRows = time.Hour
)

func keys(p process) *ledger.Operators {
	store := must(ledger.New(p.api, "ledger", &ledger.Config{Now: p.now, Rand: p.rand, Lease: lease, MaxSkew: skew, MaxAttempts: mostClaims}))
	return must(store.Operators(p.api))
}

// claimed is the answer to a call that ended a claim, or got none.
func claimed(err error, answer string) string {
	done, isDone := errors.AsType[*ledger.DoneError](err)
	_, busy := errors.AsType[*ledger.InProgressError](err)
	_, refused := errors.AsType[*ledger.PermanentError](err)
	switch {
	case err == nil:
		return answer
	case isDone:
		return "done " + string(done.Record.Result)
	case busy:
		return "busy"
	case refused:
		return "refused"
	}
	for _, final := range []error{ledger.ErrLeaseLost, ledger.ErrTooManyAttempts, ledger.ErrFingerprintMismatch, ledger.ErrChanged} {
		if errors.Is(err, final) {
			return final.Error()
		}
	}
	return ""
}

// twice makes a call of a holder again if the outcome is unknown, up to the two faults
// of a schedule and the attempts of a client.
func twice(do func() error) error {
	err := do()
	for range 2 {
		if claimed(err, "ok") != "" {
			break
		}
		err = do()
	}
	return err
}

// working claims the key, and ends the claim.
func working(name, payload string, end func(context.Context, *ledger.Claim) (string, error)) call {
	return call{name, func(ctx context.Context, p process) string {
		c, err := keys(p).Claim(ctx, ledger.Request{Key: "ORDER:1", Payload: []byte(payload)})
		return worked(ctx, p, c, err, end)
	}}
}

func worked(ctx context.Context, p process, c *ledger.Claim, err error, end func(context.Context, *ledger.Claim) (string, error)) string {
	if err != nil {
		return claimed(err, "")
	}
	p.note("holds %d", c.Fence)
	told := ""
	err = twice(func() (err error) { told, err = end(ctx, c); return err })
	return claimed(err, told)
}

func completes(name string) func(context.Context, *ledger.Claim) (string, error) {
	return func(ctx context.Context, c *ledger.Claim) (string, error) {
		return fmt.Sprintf("done %q", name), c.Complete(ctx, name)
	}
}

func complete(name, payload string) call { return working(name, payload, completes(name)) }

func ledgerStep(forgets bool) func(was, is rows, now time.Time) error {
	return steps(forgets, false, mostClaims)
}

// steps is the rule of a row. Operators forget and reopen; who resumes takes over without
// an attempt.
func steps(forgets, resumes bool, attempts int64) func(was, is rows, now time.Time) error {
	return func(was, is rows, now time.Time) error {
		old, r := was["ORDER:1"], is["ORDER:1"]
		if old == nil || lapsed(old, now) {
			return fresh(old, r)
		}
		state, then := str(old, "state"), str(r, "state")
		switch {
		case r == nil && !forgets:
			return errors.New("the row went")
		case r == nil && (num(old, "fence") > now.Add(clockOff-skew).UnixMilli() || state == "claimed" && now.Before(time.UnixMilli(num(old, "lease")).Add(skew-clockOff))):
			return errors.New("the row went while its claim held, or before the time in its fence was past")
		case then != "claimed" && r["lease"] != nil:
			return fmt.Errorf("what is %s has a lease", then)
		case r == nil, forgets && then == "done" && r["result"] == nil: // erased
			return nil
		case forgets && then == "failed" && num(r, "attempts") == 0: // reopened
			if state == "done" || state == "claimed" {
				return fmt.Errorf("what is %s was reopened", state)
			}
			return nil
		case state == "done" || state == "refused" || state == "":
			if then != state || str(r, "result") != str(old, "result") || str(r, "claim") != str(old, "claim") {
				return fmt.Errorf("the key was %s and is %s", state, then)
			}
			return nil
		case str(r, "fingerprint") != str(old, "fingerprint"), str(r, "seenAt") != str(old, "seenAt"):
			return errors.New("the fingerprint or the first time changed")
		case num(r, "attempts") > attempts:
			return errors.New("one attempt too many")
		case then == "claimed":
			return taking(old, r, now, resumes)
		case str(r, "claim") != str(old, "claim"), num(r, "fence") != num(old, "fence"):
			return fmt.Errorf("the claim of another became %s", then)
		case state == "failed" && then != "failed":
			return fmt.Errorf("what nobody holds became %s", then)
		}
		return nil
	}
}

// taking judges a row that is claimed.
func taking(old, r row, now time.Time, resumes bool) error {
	same := num(r, "fence") == num(old, "fence")
	held := str(old, "state") == "claimed"
	switch {
	case same && (!held || str(r, "claim") != str(old, "claim") || num(r, "lease") < num(old, "lease")):
		return errors.New("the same fence for another claim, or a shorter lease")
	case same:
		return nil
	case num(r, "fence") < num(old, "fence"):
		return errors.New("the fence fell")
	case str(r, "claim") == str(old, "claim"):
		return errors.New("a claim arrived twice")
	case resumes && held && num(r, "attempts") == num(old, "attempts"):
		return nil
	case num(r, "attempts") != num(old, "attempts")+1:
		return errors.New("the attempt does not count")
	case held && now.Before(time.UnixMilli(num(old, "lease")).Add(skew-clockOff)):
		return errors.New("a claim that holds was taken over")
	}
	return nil
}

// lapsed reports whether the row has expired.
func lapsed(r row, now time.Time) bool {
	expires := time.Unix(num(r, "expiresAt"), 0)
	if r["claim"] != nil {
		expires = expires.Add(-graceOfRows)
	}
	return r["expiresAt"] != nil && !now.Add(clockOff).Before(expires)
}

// fresh judges what may follow a row that does not count: itself, or a new one.
func fresh(old, r row) error {
	switch {
	case r == nil || old != nil && str(old, "claim") == str(r, "claim"):
		return nil
	case r["claim"] == nil:
		return errors.New("a row that was gone came back")
	}
	if r["result"] != nil || str(r, "state") == "claimed" && num(r, "attempts") != 1 || num(r, "fence") < num(old, "fence") && str(r, "state") == "claimed" {
		return errors.New("a new row has something of the old one, or a lower fence")
	}
	return nil
}

// ledgerTold finds in the row what a caller was told: a result, that a claim has ended,
// or until when it is renewed at least.
func ledgerTold(forgets bool) func(c call, told string, now rows) error {
	return func(_ call, told string, now rows) error {
		result, done := strings.CutPrefix(told, "done ")
		r := now["ORDER:1"]
		var fence, until int64
		failed, _ := fmt.Sscanf(told, "failed %d", &fence)
		renewed, _ := fmt.Sscanf(told, "renewed %d %d", &fence, &until)
		holds := str(r, "state") == "claimed" && num(r, "fence") == fence
		switch {
		case done && !forgets && r != nil && str(r, "result") != result,
			failed == 1 && holds && !forgets, // a claim that comes late to a row that is gone holds until its old lease ends
			renewed == 2 && holds && num(r, "lease") < until,
			told == "refused" && !forgets && str(r, "state") != "refused":
			return fmt.Errorf("told %q, and the row is %s with the fence %d, the lease %d and the result %s", told, str(r, "state"), num(r, "fence"), num(r, "lease"), str(r, "result"))
		}
		return nil
	}
}

// ledgerNotes judges the order of the fences, and who was first.
func ledgerNotes(forgets bool) func(from starting, notes []string, answers map[string]string) error {
	return func(from starting, notes []string, answers map[string]string) error {
		last, certain := int64(0), true
		for _, note := range notes {
			_, what, _ := strings.Cut(note, ": ")
			certain = certain && what != reborn && what != unknown
			var fence int64
			if n, _ := fmt.Sscanf(what, "holds %d", &fence); n == 1 {
				if fence <= last && !forgets {
					return fmt.Errorf("the fence %d was given after %d", fence, last)
				}
				last = fence
			}
		}
		first := 0
		for _, told := range answers {
			if told == event.Created.String() {
				first++
			}
		}
		_, marks := answers["Mark1"]
		_, both := answers["Mark2"]
		if told, alone := answers["Reopen"], answers["Forget"]; alone != "" && certain && told == ledger.ErrChanged.Error() {
			return errors.New("Reopen was told that another changed the row, and nobody did")
		}
		unseen := from.name == "absent" || from.name == "expired" || from.name == "expired, of an older system"
		if marks && both && (first > 1 || certain && unseen && len(answers) == 2 && first != 1) {
			return fmt.Errorf("%d were told that they are the first", first)
		}
		return nil
	}
}

// mark marks the key as seen.
func mark(name string) call {
	return call{name, func(ctx context.Context, p process) string {
		out, err := keys(p).MarkSeen(ctx, "ORDER:1")
		return answer(out, err)
	}}
}

func TestLedger(t *testing.T) {
	token := ""
	hold := working("Hold", "a", func(_ context.Context, c *ledger.Claim) (string, error) { token = c.Token(); return "holds", nil })
	fail := working("Fail", "a", func(ctx context.Context, c *ledger.Claim) (string, error) {
		return fmt.Sprint("failed ", c.Fence), c.Fail(ctx, errors.New("why"))
	})
	release := working("Release", "a", func(ctx context.Context, c *ledger.Claim) (string, error) {
		return fmt.Sprint("failed ", c.Fence), c.Release(ctx)
	})
	refuse := working("Refuse", "a", func(ctx context.Context, c *ledger.Claim) (string, error) {
		return "refused", c.Fail(ctx, ledger.Permanent(errors.New("never")))
	})
	waits := locks("Waits", 60*time.Millisecond)
	renew := call{"Renew", func(ctx context.Context, p process) string {
		c, err := keys(p).Claim(ctx, ledger.Request{Key: "ORDER:1", Payload: []byte("a")})
		return worked(ctx, p, c, err, func(ctx context.Context, c *ledger.Claim) (string, error) {
			return fmt.Sprint("renewed ", c.Fence, " ", p.now().Add(lease).UnixMilli()), c.Renew(ctx)
		})
	}}
	renewals := working("Renewals", "a", func(ctx context.Context, c *ledger.Claim) (string, error) {
		_, _ = c.Renew(ctx), c.Renew(ctx)
		return completes("Renewals")(ctx, c)
	})
	wavers := working("Wavers", "a", func(ctx context.Context, c *ledger.Claim) (string, error) {
		_ = c.Fail(ctx, errors.New("why"))
		return completes("Wavers")(ctx, c)
	})
	resume := call{"Resume", func(ctx context.Context, p process) string {
		c, err := keys(p).Resume(ctx, token)
		return worked(ctx, p, c, err, completes("Resume"))
	}}
	get := call{"Get", func(ctx context.Context, p process) string {
		r, ok, err := keys(p).Get(ctx, "ORDER:1")
		switch {
		case err != nil:
			return ""
		case ok && r.State == ledger.Done:
			return "done " + string(r.Result)
		}
		return "not done"
	}}
	one, two := complete("Complete1", "a"), complete("Complete2", "a")
	starts := []starting{
		{name: "absent"},
		{name: "held", state: "claimed", seeds: []seed{ago(30*time.Second, hold)}},
		{name: "lapsed", state: "claimed", seeds: []seed{ago(lease+skew, hold)}},
		{name: "failed", state: "failed", seeds: before(fail)},
		{name: "refused", state: "refused", seeds: before(refuse)},
		{name: "done", state: "done", seeds: before(complete("Complete0", "a"))},
		{name: "expired", gone: `done "Complete0"`, state: "done", seeds: []seed{ago(14*24*time.Hour, complete("Complete0", "a"))}},
	}
	s := &suite{
		table: keys(nobody).Table(), moments: []time.Duration{lease, lease + skew}, leaps: true, starts: starts,
		step: ledgerStep(false), told: ledgerTold(false), noted: ledgerNotes(false),
		calls: [][]call{
			{one, two},
			{one, fail},
			{fail, release},
			{one, renew},
			{renewals},
			{wavers, get},
			{mark("Mark1"), mark("Mark2")},
			{mark("Mark1"), one},
			{one, complete("Other", "b")},
			{get, one},
			{one, two, fail},
			{mark("Mark1"), mark("Mark2"), one},
		},
	}
	t.Run("all", s.prove)
	old := *s
	old.starts = []starting{
		{name: "of an older system", rows: []row{olderKey(start.Add(time.Hour))}},
		{name: "expired, of an older system", gone: "done ", rows: []row{olderKey(start)}},
	}
	old.calls = [][]call{{one, two}, {mark("Mark1"), mark("Mark2")}, {mark("Mark1"), one}}
	t.Run("old", old.prove)
	acting := *s
	acting.starts, acting.step = []starting{starts[0], starts[2], starts[3]}, transacted
	acting.calls = [][]call{
		{does("Do1"), does("Do2")}, {does("Do1"), transacts("Tx1")}, {transacts("Tx1"), transacts("Tx2")}, {one, transacts("Tx1")}, {fail, transacts("Tx1")}, {transacts("Tx1"), transacts("Tx2"), one},
	}
	t.Run("acting", acting.prove)
	reopened := *s
	reopened.starts, reopened.step = starts[3:6], ledgerStep(true)
	reopened.calls = [][]call{{reopen, one}, {reopen, fail}, {reopen, reopen.again()}, {reopen, forget}}
	reopened.told, reopened.noted = ledgerTold(true), ledgerNotes(true)
	t.Run("reopened", reopened.prove)
	older := *s
	older.starts, older.calls = []starting{{name: "without an expiry", rows: []row{{"pk": text("ORDER:1"), "seenAt": text("2026-03-10T11:00:00.000Z")}}}}, [][]call{{backfills, one}, {backfills, mark("Mark1")}, {backfills, forget}}
	older.step, older.told, older.noted = ledgerStep(true), nil, nil
	t.Run("backfilled", older.prove)
	held := *s
	held.starts, held.calls = starts[1:3], [][]call{{resume, one}, {resume, {"Again", resume.do}}, {resume, renew}}
	held.step = steps(false, true, mostClaims)
	t.Run("resumed", held.prove)
	locked := *s
	locked.starts, locked.step = starts[:4], written
	locked.calls = [][]call{{locks("Lock1", 0), locks("Lock2", 0)}, {locks("Renews", 0), hold}, {checks, hold}, {locks("Lock1", 0), waits}, {locks("Lock1", 0), fail}, {locks("Lock1", 0), locks("Lock2", 0), release}}
	t.Run("locked", locked.prove)
	often := locked // no number of attempts ends a lock
	thrice := call{"Thrice", func(ctx context.Context, p process) string {
		_, err := p.api.UpdateItem(ctx, &dynamodb.UpdateItemInput{
			TableName: aws.String("ledger"), Key: row{"pk": text("ORDER:1")},
			UpdateExpression: aws.String("SET attempts = :three"), ExpressionAttributeValues: row{":three": number(3)},
		})
		return finished(err)
	}}
	often.starts = []starting{{name: "locked thrice", state: "failed", seeds: before(fail, thrice)}}
	often.calls = often.calls[:1]
	often.told = func(c call, told string, now rows) error {
		if told == ledger.ErrTooManyAttempts.Error() {
			return fmt.Errorf("%s was told %s", c.name, told)
		}
		return ledgerTold(false)(c, told, now)
	}
	t.Run("often", often.prove)
	forgotten := *s
	forgotten.starts = starts[:6]
	forgotten.step, forgotten.told, forgotten.noted = ledgerStep(true), ledgerTold(true), ledgerNotes(true)
	forgotten.calls = [][]call{{forget, one}, {forget, fail}, {forget, one, two}, {erase, one}, {erase, mark("Mark1")}}
	t.Run("forgotten", forgotten.prove)
}

// olderKey is a row of another program.
func olderKey(expires time.Time) row {
	return row{"pk": text("ORDER:1"), "expiresAt": number(expires.Unix())}
}
