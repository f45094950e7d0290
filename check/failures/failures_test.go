package failures_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/homeops/ddbpatterns/counter"
	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/ledger"
)

// A worker crashes when it has claimed an order. The next delivery, when the lease
// and the skew budget are over, charges it; the one after that gets the same receipt.
func TestCrash(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRun(t, time.TimeOnly, provider, worker1, worker2, database)
		first, second := r.worker(worker1, crash), r.worker(worker2, r.charge(worker2))
		r.deliver(worker1, first, "order 1001")
		r.until(70 * time.Second)
		r.deliver(worker2, second, "order 1001, again")
		r.until(5 * time.Minute)
		r.deliver(worker2, second, "order 1001, again")
		r.check("crash", "Deliver, crash, redeliver, replay", "Worker 1 claims an order and crashes."+
			" The order is delivered again: worker 2 claims it, charges the card and stores the receipt."+
			" The third delivery is answered with the stored receipt.")
	})
}

// Every write takes effect and loses its reply, and at last so does the worker's answer.
func TestLostReply(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRun(t, time.TimeOnly, provider, worker, database)
		w := r.worker(worker, r.charge(worker))
		r.db.Inject(dynamotest.Fault{Do: dynamotest.LoseReply, Op: "UpdateItem", Nth: 1})
		r.db.Inject(dynamotest.Fault{Do: dynamotest.LoseReply, Op: "UpdateItem", Nth: 3})
		r.Request(provider, worker, "order 1001")
		answer, err := w.Deliver(t.Context(), "1001")
		if err != nil {
			t.Fatal(err)
		}
		r.Lost(worker, provider, "200 "+answer.Receipt)
		r.until(30 * time.Second)
		r.deliver(worker, w, "order 1001, again")
		r.check("lost-reply", "Each reply is lost once", "The replies to the claim and to its completion are lost."+
			" The SDK sends each again, and the ledger finds in the refusal that it was its own."+
			" The worker's answer is lost too: the order is delivered again and answered with the stored receipt.")
	})
}

// A worker is suspended for longer than its lease. Another does its work, and what
// the first sends when it wakes up is refused.
func TestLapsedLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRun(t, time.TimeOnly, provider, worker1, worker2, database)
		second := r.worker(worker2, r.chargeTable(worker2))
		r.Request(provider, worker1, "order 1001")
		claim, err := r.ledger(worker1, 0).Claim(t.Context(), ledger.Request{Key: "ORDER:1001"})
		if err != nil {
			t.Fatal(err)
		}
		r.Note(worker1, "is suspended")
		r.until(20 * time.Second)
		r.deliver(worker2, second, "order 1001, again")
		r.until(70 * time.Second)
		r.deliver(worker2, second, "order 1001, again")
		r.until(80 * time.Second)
		r.Note(worker1, "wakes up")
		if _, err := r.chargeTable(worker1)(t.Context(), "1001", claim.Fence); err == nil {
			t.Error("the order was charged under the lower fence")
		}
		if err := claim.Complete(t.Context(), "ch-1001"); !errors.Is(err, ledger.ErrLeaseLost) {
			t.Errorf("Complete = %v", err)
		}
		r.Note(worker1, "ErrLeaseLost")
		r.check("lapsed-lease", "A lease lapses under its worker", "Worker 1 claims an order and is suspended."+
			" While the lease holds worker 2 is told to wait. Then it claims the order under a higher fence and charges it."+
			" Worker 1 wakes up: its charge and its completion are refused.")
	})
}

// An order of one day that is delivered again on the next counts on its own day,
// once; a week later nobody can know any more, and it is refused.
func TestMidnight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRun(t, "02 Jan 15:04", provider, worker, database)
		limits := r.limits(worker)
		take := func(label, order string, at time.Time) string {
			r.Request(provider, worker, label)
			placed, err := event.New(at, "shop", order)
			if err != nil {
				t.Fatal(err)
			}
			grant, err := limits.Take(t.Context(), counter.Take{Key: "ann", Event: placed, Weight: 1, Cap: 3})
			switch {
			case errors.Is(err, event.ErrTooOld):
				return "too old"
			case err != nil:
				t.Fatal(err)
			}
			return fmt.Sprintf("%d of %d", grant.Used, grant.Cap)
		}
		r.until(12*time.Hour - 10*time.Second)
		late := r.now()
		r.Lost(worker, provider, take("order 1001", "1001", late))
		r.until(12*time.Hour + 5*time.Minute)
		r.Reply(worker, provider, take("order 1001, again", "1001", late))
		r.until(12*time.Hour + 6*time.Minute)
		r.Reply(worker, provider, take("order 1002", "1002", r.now()))
		r.until(12*time.Hour + 7*24*time.Hour)
		r.Reply(worker, provider, take("order 1001, again", "1001", late))
		r.check("midnight", "A redelivery after midnight", "An order of 23:59 is counted, and the answer is lost."+
			" Delivered again after midnight it finds itself in the row of its own day."+
			" An order of the new day counts in a row of its own. A week later the first order is too old, and nothing is sent.")
	})
}

// A worker whose clock is ahead by less than the budget takes nothing from one that
// holds its lease; and an event of a sender whose clock is ahead is refused.
func TestClockSkew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRun(t, time.TimeOnly, provider, worker1, worker2, database)
		const ahead = 9 * time.Second
		r.Request(provider, worker1, "order 1001")
		claim, err := r.ledger(worker1, 0).Claim(t.Context(), ledger.Request{Key: "ORDER:1001"})
		if err != nil {
			t.Fatal(err)
		}
		r.until(55 * time.Second)
		second := r.worker(worker2, crash)
		second.Seen = r.ledger(worker2, ahead)
		r.Note(worker2, "its clock: "+r.now().Add(ahead).Format(time.TimeOnly))
		r.deliver(worker2, second, "order 1001, again")
		r.until(58 * time.Second)
		receipt, _ := r.charge(worker1)(t.Context(), "1001", claim.Fence)
		if err := claim.Complete(t.Context(), receipt); err != nil {
			t.Error(err)
		}
		r.Reply(worker1, provider, "200 "+receipt)
		r.until(2 * time.Minute)
		tomorrow, err := event.New(r.now().Add(2*time.Hour), "shop", "1002")
		if err != nil {
			t.Fatal(err)
		}
		r.Request(provider, worker2, "order 1002, placed "+tomorrow.Time().In(r.start.Location()).Format(time.TimeOnly))
		_, err = r.limits(worker2).Take(t.Context(), counter.Take{Key: "ann", Event: tomorrow, Weight: 1, Cap: 3})
		if bad, ok := errors.AsType[*event.InputError](err); !ok || bad.Field != "Event" {
			t.Errorf("Take = %v", err)
		}
		r.Reply(worker2, provider, "400, Event is ahead")
		r.check("clock-skew", "Clocks that differ", "Worker 1 holds an order whose lease has lapsed by the clock of worker 2,"+
			" which is nine seconds ahead. The skew budget is ten: worker 2 is told to wait, and worker 1 completes."+
			" An order dated two hours ahead is refused, and nothing is sent.")
	})
}

// A row that has expired and is not deleted yet counts as none: the key begins anew.
func TestExpiredRow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRun(t, "02 Jan 15:04", provider, worker, database)
		w := r.worker(worker, r.charge(worker))
		r.deliver(worker, w, "order 1001")
		r.until(14*24*time.Hour + 2*time.Hour)
		r.deliver(worker, w, "order 1001, again")
		r.Note(database, fmt.Sprintf("TTL runs, and deletes %d rows", r.db.Server().ExpireTTL()))
		r.check("expired-row", "An expired row that still stands", "An order is charged."+
			" After the 14 days of retention it comes again, and its row has not been deleted yet:"+
			" the claim is refused, the worker sees that the row has expired, and claims it anew."+
			" TTL then finds nothing to delete.")
	})
}

// until waits for a time after the start.
func (r *run) until(after time.Duration) { time.Sleep(time.Until(r.began.Add(after))) }

// docs/failures.md has each drawing and each condition. It comes after the others, which write the drawings with -update.
func TestPage(t *testing.T) {
	const file = "../../docs/failures.md"
	page := read(t, file)
	texts, err := filepath.Glob("../../docs/failures/*.txt")
	if err != nil || len(texts) != 6 {
		t.Fatalf("%d drawings, %v", len(texts), err)
	}
	for _, text := range texts {
		name := strings.TrimSuffix(filepath.Base(text), ".txt")
		head, drawn := "<!-- drawn as "+name+" -->\n```text\n", read(t, text)
		if *update {
			block := regexp.MustCompile(regexp.QuoteMeta(head) + "(?s:.*?)```")
			page = block.ReplaceAllLiteralString(page, head+drawn+"```")
		}
		if !strings.Contains(page, head+drawn+"```") || !strings.Contains(page, "](failures/"+name+".svg)") {
			t.Errorf("the page has not what %s is drawn as: go test -C check ./failures -update", name)
		}
	}
	for expression, words := range conditions {
		if row := regexp.MustCompile(`(?m)^\| ` + words + " \\| [^|]+ \\| `" + regexp.QuoteMeta(expression) + "` \\|$"); !row.MatchString(page) {
			t.Errorf("the page does not explain %q: %s", words, expression)
		}
	}
	if *update {
		if err := os.WriteFile(file, []byte(page), 0o644); err != nil {
			t.Error(err)
		}
	}
}

func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
