package first_test

import (
	"testing"
	"time"
	_ "time/tzdata"

	"github.com/homeops/ddbpatterns/counter"
	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/examples/first"
	"github.com/homeops/ddbpatterns/ledger"
	"github.com/homeops/ddbpatterns/schema"
	"github.com/homeops/ddbpatterns/tzclock"
)

func TestOrderPlaced(t *testing.T) {
	// In process; DYNAMODB_ENDPOINT takes another. The SDK's retries wait no seconds.
	db := dynamotest.Open(t, dynamotest.MaxBackoff(time.Millisecond))
	seen, err := ledger.New(db.Client(), db.Name("seen"), nil)
	if err != nil {
		t.Fatal(err)
	}
	limits, err := counter.New(db.Client(), db.Name("limits"), tzclock.Stockholm, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := schema.Create(t.Context(), db.Client(), seen.Table(), limits.Table()); err != nil {
		t.Fatal(err)
	}
	vouchers := first.Vouchers{Seen: seen, Limits: limits}
	order := first.Order{ID: "1001", Customer: "ann", PlacedAt: time.Now()}

	// Delivered: Take counts, but each of its replies is lost, and the webhook fails.
	db.Inject(dynamotest.Fault{Do: dynamotest.LoseReply, Table: db.Name("limits"), Times: -1})
	if got, err := vouchers.OrderPlaced(t.Context(), order); err == nil {
		t.Errorf("got %q, and no error", got)
	}
	db.Heal()
	for range 2 { // delivered again, and once more
		if got, err := vouchers.OrderPlaced(t.Context(), order); got != "VOUCHER-1001" || err != nil {
			t.Errorf("got %q, %v", got, err)
		}
	}
	count, err := limits.Get(t.Context(), "ann", tzclock.Stockholm.Date(order.PlacedAt))
	if err != nil || count.Used != 1 {
		t.Errorf("%d vouchers are counted, want 1; %v", count.Used, err)
	}
}
