package first_test

import (
	"testing"
	"time"
	_ "time/tzdata"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/examples/first"
	"github.com/homeops/ddbpatterns/tzclock"
)

func TestOrderPlaced(t *testing.T) {
	// In process; DYNAMODB_ENDPOINT takes another. The SDK's retries wait no seconds.
	db := dynamotest.Open(t, dynamotest.MaxBackoff(time.Millisecond))
	vouchers, err := first.New(t.Context(), db.Client(), db.Name("seen"), db.Name("limits"))
	if err != nil {
		t.Fatal(err)
	}
	order := first.Order{ID: "1001", Customer: "ann", PlacedAt: time.Now()}

	// Delivered: Take counts, but each of its replies is lost, and the webhook fails.
	db.Inject(dynamotest.Fault{Do: dynamotest.LoseReply, Table: db.Name("limits"), Times: -1})
	if got, err := vouchers.OrderPlaced(t.Context(), order); err == nil {
		t.Errorf("got %v, and no error", got)
	}
	db.Heal()
	for range 2 { // delivered again, and once more
		if got, err := vouchers.OrderPlaced(t.Context(), order); got.Voucher != "VOUCHER-1001" || err != nil {
			t.Errorf("got %v, %v", got, err)
		}
	}
	count, err := vouchers.Limits.Get(t.Context(), "ann", tzclock.Stockholm.Date(order.PlacedAt))
	if err != nil || count.Used != 1 {
		t.Errorf("%d vouchers are counted, want 1; %v", count.Used, err)
	}
}

// Whatever the answer is, later deliveries get that of the first.
func TestEveryDeliveryGetsTheSameAnswer(t *testing.T) {
	t.Parallel()
	db := dynamotest.Open(t)
	vouchers, err := first.New(t.Context(), db.Client(), db.Name("seen"), db.Name("limits"))
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	for _, tc := range []struct {
		order first.Order
		want  first.Answer
	}{
		{first.Order{ID: "1", Customer: "ann", PlacedAt: now}, first.Answer{Voucher: "VOUCHER-1"}},
		{first.Order{ID: "2", Customer: "ann", PlacedAt: now}, first.Answer{Voucher: "VOUCHER-2"}},
		{first.Order{ID: "3", Customer: "ann", PlacedAt: now}, first.Answer{Voucher: "VOUCHER-3"}},
		{first.Order{ID: "4", Customer: "ann", PlacedAt: now}, first.Answer{Why: first.UsedUp}},
		{first.Order{ID: "5", Customer: "ann", PlacedAt: now.AddDate(0, 0, -9)}, first.Answer{Why: first.TooOld}},
		{first.Order{ID: "6", PlacedAt: now}, first.Answer{Why: first.Invalid}},
		{first.Order{ID: "7", Customer: "ann", PlacedAt: now.AddDate(0, 0, 2)}, first.Answer{Why: first.Invalid}},
		{first.Order{ID: "8", Customer: "ann"}, first.Answer{Why: first.Invalid}},
		{first.Order{Customer: "ann", PlacedAt: now}, first.Answer{Why: first.Invalid}},
	} {
		for delivery := range 7 { // more than the ledger's attempts
			got, err := vouchers.OrderPlaced(t.Context(), tc.order)
			if got != tc.want || err != nil {
				t.Errorf("order %q, delivery %d: got %+v, %v, want %+v", tc.order.ID, delivery+1, got, err, tc.want)
			}
		}
	}
}
