package comparison

import (
	"context"
	"crypto/rand"
	"errors"
	"slices"
	"time"

	"github.com/guregu/dynamo/v2"
)

// Guregu is the store on guregu/dynamo.
type Guregu struct {
	Seen, Limits dynamo.Table
	Zone         *time.Location
}

type seenRow struct {
	Order     string    `dynamo:"pk,hash"`
	Status    string    `dynamo:"status"`
	Owner     string    `dynamo:"owner"`
	Lease     int64     `dynamo:"lease"` // in ms
	Answer    string    `dynamo:"answer,omitempty"`
	ExpiresAt time.Time `dynamo:"expiresAt,unixtime"`
}

type dayRow struct {
	Customer string   `dynamo:"customer,hash"`
	Day      string   `dynamo:"day,range"`
	Used     int64    `dynamo:"used"`
	Taken    []string `dynamo:"taken,set"`
	Refunded []string `dynamo:"refunded,set"`
}

func (g Guregu) Do(ctx context.Context, order string, work func(context.Context) (string, error)) (string, error) {
	owner := rand.Text()
	answer, done, err := g.claim(ctx, order, owner)
	if done || err != nil {
		return answer, err
	}
	if answer, err = work(ctx); err != nil {
		return "", errors.Join(err, g.Seen.Delete("pk", order).If("'owner' = ?", owner).Run(ctx))
	}
	return answer, g.Seen.Update("pk", order).
		Set("status", "done").Set("answer", answer).Set("expiresAt", time.Now().Add(retention).Unix()).
		If("'owner' = ?", owner).Run(ctx)
}

// claim makes the row of an order, unless it is done or another delivery holds it.
func (g Guregu) claim(ctx context.Context, order, owner string) (answer string, done bool, err error) {
	now := time.Now()
	row := seenRow{Order: order, Status: "working", Owner: owner, Lease: now.Add(lease).UnixMilli(), ExpiresAt: now.Add(retention)}
	err = g.Seen.Put(row).
		If("attribute_not_exists(pk) OR expiresAt < ? OR ('status' = ? AND lease < ?)", now.Unix(), "working", now.UnixMilli()).
		Run(ctx)
	if !dynamo.IsCondCheckFailed(err) {
		return "", false, err
	}
	var stands seenRow
	err = g.Seen.Get("pk", order).Consistent(true).One(ctx, &stands)
	if err != nil && !errors.Is(err, dynamo.ErrNotFound) {
		return "", false, err
	}
	if stands.Status != "done" {
		return "", false, ErrInProgress
	}
	return stands.Answer, true, nil
}

func (g Guregu) Take(ctx context.Context, o Order, limit int64) (Grant, error) {
	day, expiresAt := g.day(o)
	var row dayRow
	err := g.Limits.Update("customer", o.Customer).Range("day", day).
		Add("used", 1).AddStringsToSet("taken", o.ID).Set("expiresAt", expiresAt).
		If("(attribute_not_exists(used) OR used < ?) AND NOT contains(taken, ?)", limit, o.ID).
		Value(ctx, &row)
	if !dynamo.IsCondCheckFailed(err) {
		return Grant{OK: err == nil, First: err == nil, Used: row.Used}, err
	}
	if row, err = g.row(ctx, o.Customer, day); err != nil {
		return Grant{}, err
	}
	return Grant{OK: slices.Contains(row.Taken, o.ID) && !slices.Contains(row.Refunded, o.ID), Used: row.Used}, nil
}

func (g Guregu) Refund(ctx context.Context, o Order) error {
	day, expiresAt := g.day(o)
	err := g.Limits.Update("customer", o.Customer).Range("day", day).
		Add("used", -1).AddStringsToSet("refunded", o.ID).Set("expiresAt", expiresAt).
		If("contains(taken, ?) AND NOT contains(refunded, ?)", o.ID, o.ID).
		Run(ctx)
	if !dynamo.IsCondCheckFailed(err) {
		return err
	}
	row, err := g.row(ctx, o.Customer, day)
	switch {
	case err != nil:
		return err
	case slices.Contains(row.Refunded, o.ID):
		return nil // given back before
	}
	return ErrNotTaken
}

func (g Guregu) row(ctx context.Context, customer, day string) (dayRow, error) {
	var row dayRow
	err := g.Limits.Get("customer", customer).Range("day", dynamo.Equal, day).Consistent(true).One(ctx, &row)
	if errors.Is(err, dynamo.ErrNotFound) {
		err = nil
	}
	return row, err
}

// day returns the order's own day, and when its row can go.
func (g Guregu) day(o Order) (day string, expiresAt int64) {
	at := o.At.In(g.Zone)
	end := time.Date(at.Year(), at.Month(), at.Day()+1, 0, 0, 0, 0, g.Zone)
	return at.Format(time.DateOnly), end.Add(dayKept).Unix()
}
