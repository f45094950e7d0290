// Package comparison writes the same small thing in three ways, with the SDK
// alone, with guregu/dynamo and with this library: the store of a webhook that
// gives vouchers away. A test disturbs all of them alike, and docs/comparison.md
// shows what each does.
package comparison

import (
	"context"
	"errors"
	"time"
)

// A Store is what the webhook needs of DynamoDB.
type Store interface {
	// Do does the work of an order and keeps its answer, which later deliveries
	// get. An error of the work is not kept: the next delivery tries again.
	Do(ctx context.Context, order string, work func(context.Context) (string, error)) (answer string, err error)
	// Take takes one of the customer's vouchers of the order's day.
	Take(ctx context.Context, o Order, limit int64) (Grant, error)
	// Refund gives back what the order took, once.
	Refund(ctx context.Context, o Order) error
}

// Order is what the shop's webhook sends.
type Order struct {
	ID, Customer string
	At           time.Time
}

// Grant answers a Take.
type Grant struct {
	OK    bool  // the order holds a voucher, from this call or an earlier one
	First bool  // from this call
	Used  int64 // of the day's vouchers
}

// Limit is how many vouchers a customer gets a day.
const Limit = 3

// How long a claim and an answer are kept by the forms without the library. These
// are the library's defaults, too.
const (
	lease     = time.Minute
	retention = 14 * 24 * time.Hour
	dayKept   = 7 * 24 * time.Hour
)

// Errors of the forms without the library.
var (
	ErrInProgress = errors.New("another delivery is at work on the order")
	ErrNotTaken   = errors.New("the order has taken nothing")
)

// Placed is the webhook. The shop delivers an order again until it gets an
// answer.
func Placed(ctx context.Context, s Store, o Order, issue func(context.Context) error) (string, error) {
	return s.Do(ctx, o.ID, func(ctx context.Context) (string, error) {
		grant, err := s.Take(ctx, o, Limit)
		if err != nil {
			return "", err
		}
		if !grant.OK {
			return "no voucher is left today", nil
		}
		return "VOUCHER-" + o.ID, issue(ctx)
	})
}
