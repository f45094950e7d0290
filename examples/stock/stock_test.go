package stock_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/examples/stock"
)

func TestALostReplyTakesOnePiece(t *testing.T) {
	db := dynamotest.New(t, nil) // a DynamoDB of this test's own
	if err := stock.Create(t.Context(), db.Client(), map[string]int{"lamp": 2}); err != nil {
		t.Fatal(err)
	}

	// The update takes effect, its reply is lost, and the SDK sends it again.
	db.Inject(dynamotest.Fault{Do: dynamotest.LoseReply, Op: "UpdateItem"})
	cost := db.Meter(func() {
		if err := stock.Reserve(t.Context(), db.Client(), "lamp", "order-1"); err != nil {
			t.Error(err)
		}
	})
	cost.Want(t, dynamotest.Price{Requests: 2, WCU: 2}) // a refusal costs as much as the write

	if left, err := stock.Pieces(t.Context(), db.Client(), "lamp"); left != 1 || err != nil {
		t.Errorf("%d pieces are left, want 1; %v", left, err)
	}
}

// In a synctest bubble time passes when everything waits, so delays, deadlines
// and the pauses of the SDK's retries take no real time.
func TestADeadlineTakesOnePiece(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db := dynamotest.New(t, nil)
		if err := stock.Create(t.Context(), db.Client(), map[string]int{"lamp": 2}); err != nil {
			t.Fatal(err)
		}

		// The reply comes after a minute, and the caller has given up by then.
		db.Inject(dynamotest.Fault{Do: dynamotest.DelayReply(time.Minute), Op: "UpdateItem"})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := stock.Reserve(ctx, db.Client(), "lamp", "order-1"); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
		if err := stock.Reserve(t.Context(), db.Client(), "lamp", "order-1"); err != nil {
			t.Error(err)
		}
		if left, err := stock.Pieces(t.Context(), db.Client(), "lamp"); left != 1 || err != nil {
			t.Errorf("%d pieces are left, want 1; %v", left, err)
		}
	})
}

// Seed once, and fork for each test: the size of the seed does not matter.
func TestEachOrderTakesTheLastPiece(t *testing.T) {
	seeded := dynamotest.NewServer(nil)
	if err := stock.Create(t.Context(), seeded.Client(), map[string]int{"lamp": 1}); err != nil {
		t.Fatal(err)
	}
	for _, order := range []string{"order-1", "order-2"} {
		t.Run(order, func(t *testing.T) {
			t.Parallel()
			db := dynamotest.Use(t, seeded.Fork()) // takes microseconds
			if err := stock.Reserve(t.Context(), db.Client(), "lamp", order); err != nil {
				t.Error(err)
			}
			if left, err := stock.Pieces(t.Context(), db.Client(), "lamp"); left != 0 || err != nil {
				t.Errorf("%d pieces are left, want 0; %v", left, err)
			}
		})
	}
}

func TestSoldOut(t *testing.T) {
	db := dynamotest.New(t, nil)
	if err := stock.Create(t.Context(), db.Client(), map[string]int{"lamp": 1}); err != nil {
		t.Fatal(err)
	}
	if err := stock.Reserve(t.Context(), db.Client(), "lamp", "order-1"); err != nil {
		t.Fatal(err)
	}
	if err := stock.Reserve(t.Context(), db.Client(), "lamp", "order-2"); !errors.Is(err, stock.ErrSoldOut) {
		t.Errorf("got %v", err)
	}
	if left, err := stock.Pieces(t.Context(), db.Client(), "lamp"); left != 0 || err != nil {
		t.Errorf("%d pieces are left, want 0; %v", left, err)
	}
}
