package first_test

import (
	"testing"
	"time"
	_ "time/tzdata"

	"github.com/homeops/ddbpatterns/counter"
	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/examples/first"
)

func TestLostRepliesCountOneCharge(t *testing.T) {
	// In process, or on DYNAMODB_ENDPOINT. The SDK waits a millisecond between its retries.
	db := dynamotest.Open(t, dynamotest.MaxBackoff(time.Millisecond))
	cards, err := first.New(t.Context(), db.Client(), db.Name("seen"), db.Name("spent"))
	if err != nil {
		t.Fatal(err)
	}
	charge := first.Charge{ID: "ch_1", Card: "card_ann", Cents: 120_00, At: time.Now()}

	// The first delivery counts the charge, but every reply is lost: the webhook fails.
	db.Inject(dynamotest.Fault{Do: dynamotest.LoseReply, Op: "UpdateItem", Table: db.Name("spent"), Times: -1})
	if got, err := cards.Approve(t.Context(), charge); err == nil {
		t.Errorf("got %q and no error", got)
	}
	db.Heal()
	for range 2 { // delivered again, and once more
		if got, err := cards.Approve(t.Context(), charge); got != first.Approved || err != nil {
			t.Errorf("got %q, %v", got, err)
		}
	}
	spent, err := cards.Spent.Get(t.Context(), charge.Card, charge.At)
	if err != nil || spent.Used != charge.Cents {
		t.Errorf("%d cents are counted, want %d; %v", spent.Used, charge.Cents, err)
	}
}

// Whatever the answer is, later deliveries get that of the first.
func TestEveryDeliveryGetsTheSameAnswer(t *testing.T) {
	t.Parallel()
	db := dynamotest.Open(t)
	cards, err := first.New(t.Context(), db.Client(), db.Name("seen"), db.Name("spent"))
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	for _, tc := range []struct {
		charge first.Charge
		want   first.Answer
	}{
		{first.Charge{ID: "1", Card: "ann", Cents: 300_00, At: now}, first.Approved},
		{first.Charge{ID: "2", Card: "ann", Cents: 200_01, At: now}, first.OverLimit},
		{first.Charge{ID: "3", Card: "ann", Cents: 200_00, At: now}, first.Approved},
		{first.Charge{ID: "4", Card: "ann", Cents: 1, At: now}, first.OverLimit},
		{first.Charge{ID: "5", Card: "bo", Cents: 1, At: now}, first.Approved},
		{first.Charge{ID: "6", Card: "ann", Cents: 1, At: now.AddDate(0, 0, -9)}, first.TooOld},
		{first.Charge{ID: "7", Cents: 1, At: now}, first.Invalid},
		{first.Charge{ID: "8", Card: "ann", Cents: 1, At: now.AddDate(0, 0, 2)}, first.Invalid},
		{first.Charge{ID: "9", Card: "ann", Cents: 1}, first.Invalid},
		{first.Charge{Card: "ann", Cents: 1, At: now}, first.Invalid},
		{first.Charge{ID: "10", Card: "bo", At: now}, first.Invalid},
		{first.Charge{ID: "11", Card: "bo", Cents: -1, At: now}, first.Invalid},
	} {
		for delivery := range 7 { // more than the ledger's attempts
			got, err := cards.Approve(t.Context(), tc.charge)
			if got != tc.want || err != nil {
				t.Errorf("charge %q, delivery %d: got %q, %v, want %q", tc.charge.ID, delivery+1, got, err, tc.want)
			}
		}
	}
}

// A charge that was declined stays declined when there is room again: its sender has
// acted on the first answer.
func TestADeclinedChargeStaysDeclined(t *testing.T) {
	t.Parallel()
	db := dynamotest.Open(t)
	cards, err := first.New(t.Context(), db.Client(), db.Name("seen"), db.Name("spent"))
	if err != nil {
		t.Fatal(err)
	}
	whole := first.Charge{ID: "1", Card: "ann", Cents: first.Limit, At: time.Now()}
	small := first.Charge{ID: "2", Card: "ann", Cents: 1, At: whole.At}
	check := func(charge first.Charge, want first.Answer) {
		t.Helper()
		if got, err := cards.Approve(t.Context(), charge); got != want || err != nil {
			t.Errorf("charge %s: got %q, %v, want %q", charge.ID, got, err, want)
		}
	}
	check(whole, first.Approved)
	check(small, first.OverLimit)

	ev, err := event.New(whole.At, "charge", whole.ID)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := cards.Spent.Refund(t.Context(), counter.Refund{Key: "ann", Event: ev, Weight: whole.Cents}); err != nil {
		t.Fatal(err)
	}
	check(small, first.OverLimit)
	check(first.Charge{ID: "3", Card: "ann", Cents: 1, At: whole.At}, first.Approved)

	// A refund that comes first leaves a tombstone: its charge is not over the limit.
	if ev, err = event.New(whole.At, "charge", "4"); err != nil {
		t.Fatal(err)
	}
	if _, err := cards.Spent.Refund(t.Context(), counter.Refund{Key: "ann", Event: ev, Weight: 1, Tombstone: true}); err != nil {
		t.Fatal(err)
	}
	check(first.Charge{ID: "4", Card: "ann", Cents: 1, At: whole.At}, first.Refunded)
}
