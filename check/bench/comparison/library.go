package comparison

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/homeops/ddbpatterns/counter"
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/ledger"
	"github.com/homeops/ddbpatterns/tzclock"
)

// Library is the store on this library.
type Library struct {
	Seen   *ledger.Store
	Limits *counter.Store
}

// NewLibrary names the attributes of the limits as the other forms do, who share
// the tables with it here.
func NewLibrary(db *dynamodb.Client, seenTable, limitsTable string, zone tzclock.Zone) (Library, error) {
	seen, err := ledger.New(db, seenTable, nil)
	if err != nil {
		return Library{}, err
	}
	names := &counter.Config{Names: map[string]string{"chatId": "customer", "date": "day", "count": "used", "ttl": "expiresAt"}}
	limits, err := counter.New(db, limitsTable, zone, names)
	return Library{seen, limits}, err
}

func (l Library) Do(ctx context.Context, order string, work func(context.Context) (string, error)) (string, error) {
	key, err := ledger.Key("SHOP", order)
	if err != nil {
		return "", err
	}
	done, err := ledger.Do(ctx, l.Seen, ledger.Request{Key: key}, func(ctx context.Context, _ *ledger.Claim) (string, error) {
		return work(ctx)
	})
	return done.Value, err
}

func (l Library) Take(ctx context.Context, o Order, limit int64) (Grant, error) {
	ev, err := event.New(o.At, "shop", o.ID)
	if err != nil {
		return Grant{}, err
	}
	grant, err := l.Limits.Take(ctx, counter.Take{Key: o.Customer, Event: ev, Weight: 1, Cap: limit})
	return Grant{OK: grant.OK, First: grant.First(), Used: grant.Used}, err
}

func (l Library) Refund(ctx context.Context, o Order) error {
	ev, err := event.New(o.At, "shop", o.ID)
	if err != nil {
		return err
	}
	_, err = l.Limits.Refund(ctx, counter.Refund{Key: o.Customer, Event: ev, Weight: 1, Tombstone: true})
	return err
}
