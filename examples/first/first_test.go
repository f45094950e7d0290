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
	db := dynamotest.Open(t) // in process; DYNAMODB_ENDPOINT takes another
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
	for _, lost := range []string{"", "UpdateItem"} { // delivered, and again with a lost reply
		if lost != "" {
			db.Inject(dynamotest.Fault{Do: dynamotest.LoseReply, Op: lost})
		}
		if got, err := vouchers.OrderPlaced(t.Context(), order); got != "VOUCHER-1001" || err != nil {
			t.Errorf("got %q, %v", got, err)
		}
	}
}
