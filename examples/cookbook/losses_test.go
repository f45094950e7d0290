package cookbook_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/ledger"
)

// eachLoss runs the test with each of a delivery's requests lost in turn, or its reply:
// once, after which the SDK sends it again, and together with all requests that follow,
// which is what a crash at that place leaves behind.
func eachLoss(t *testing.T, requests int, test func(t *testing.T, lose func(*dynamotest.DB), crash bool)) {
	t.Helper()
	for nth := 1; nth <= requests; nth++ {
		for name, do := range map[string]dynamotest.Effect{"request": dynamotest.LoseRequest, "reply": dynamotest.LoseReply} {
			for crash, lost := range map[bool]string{false: "is lost", true: "is lost, and no request follows"} {
				t.Run(fmt.Sprintf("%s %d %s", name, nth, lost), func(t *testing.T) {
					t.Parallel()
					synctest.Test(t, func(t *testing.T) {
						test(t, func(db *dynamotest.DB) {
							db.Inject(dynamotest.Fault{Do: do, Nth: nth})
							if crash {
								db.Inject(dynamotest.Fault{Do: dynamotest.LoseRequest, Nth: nth + 1, Times: -1})
							}
						}, crash)
					})
				})
			}
		}
	}
}

// afterTheLease is longer than a lease and the skew budget.
const afterTheLease = 2 * time.Minute

// newLedger creates a ledger.
func newLedger(t *testing.T, db *dynamotest.DB, table string) *ledger.Store {
	t.Helper()
	store, err := ledger.New(db.Client(), table, nil)
	if err != nil {
		t.Fatal(err)
	}
	db.Create(store.Table())
	return store
}
