package intake

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/examples/quill/fact"
	"github.com/homeops/ddbpatterns/examples/quill/outbox"
	"github.com/homeops/ddbpatterns/record"
)

// Undecided transactions are kept up to this number, of events up to this size in
// bytes: 16 MB in all.
const (
	mostUndecided = 1024
	longUndecided = 16 << 10
)

// transaction marks a delivery, and writes its fact unless put is nil.
type transaction struct {
	in      dynamodb.TransactWriteItemsInput
	mark    *record.Action[event.Outcome]
	put     *record.Action[outbox.Put]
	counted atomic.Bool // somebody has heard that it took effect
}

// created is the outcome of a transaction that took effect: of the copies of an event
// that hear of it only the first is new.
func (t *transaction) created() event.Outcome {
	if t.counted.Swap(true) {
		return event.Duplicate
	}
	return event.Created
}

// undecided are the transactions that are under way, or were given up without knowing
// whether they took effect, by delivery. If the event comes again, the same
// transaction is sent again: its nonces tell an own lost reply from another delivery.
// Without that the event would be a duplicate of itself, and its fact would never be
// counted as new.
type undecided struct {
	mu    sync.Mutex
	kept  map[string]*transaction
	order []string // of kept, the oldest first
}

// share returns the transaction that is kept for the delivery, and keeps this one
// otherwise. One that writes a fact and one that only marks are not shared.
func (u *undecided) share(delivery string, t *transaction) *transaction {
	u.mu.Lock()
	defer u.mu.Unlock()
	if kept := u.kept[delivery]; kept != nil {
		if (kept.put == nil) == (t.put == nil) {
			return kept
		}
		return t
	}
	if u.kept == nil {
		u.kept = map[string]*transaction{}
	}
	if len(u.order) == mostUndecided {
		delete(u.kept, u.order[0])
		u.order = u.order[1:]
	}
	u.kept[delivery], u.order = t, append(u.order, delivery)
	return t
}

// end forgets the transaction, unless it is undecided and small.
func (u *undecided) end(e fact.Event, t *transaction, decided bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.kept[e.Delivery] == t && (decided || len(e.Raw) > longUndecided) {
		delete(u.kept, e.Delivery)
		u.order = slices.DeleteFunc(u.order, func(key string) bool { return key == e.Delivery })
	}
}
