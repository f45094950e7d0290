// Package checkout is an example to copy: it charges cards through a provider, below a
// daily limit of the customer and one of the merchant, over HTTP with an Idempotency-Key.
//
//	POST /charges                  takes both limits, charges, answers 201; 402 if refused
//	POST /charges/{id}/settlement  settles the charge to less, and gives the rest back
//	POST /charges/{id}/refund      gives all of it back
//
// # What happens once
//
// Each request runs at least once: see package httpkey. A request has no time of its own,
// so its event is that of its key, the same in each attempt. The limits count by that
// event, and the provider gets it as its own key. So if the server dies, or a reply is
// lost, wherever it is, the next attempt repeats all steps, and each takes effect once.
//
// If the provider does not answer, nobody knows whether it charged. The answer is 504,
// which is not stored, and the limits stay taken. The client sends the request again with
// the same key, and the provider answers what it did. Only a clear "declined" gives the
// limits back, in one transaction with the answer: no attempt finds half of that done.
// When the attempts are used up, look for the key with ledger.Operators, ask the provider,
// and call Reopen. If the last attempt died, Reopen is refused. Never call Forget then: the
// next attempt would have another event, and charge again. Run the service with a greater
// MaxAttempts, which goes on with the same event.
//
// # Erasure
//
// A person has an opaque id, which comes first in all keys; the merchant's rows have none
// of it. Erase and Requests are for Personal in examples/cookbook: first it refuses the
// person, waits for requests that are under way, and asks the provider about those that
// failed. Three kinds of traces remain: until they expire, erased rows of the ledger with
// the id and times; for a week, events in the merchant's limit, which name nobody; and what
// the provider has.
//
// # IAM actions
//
//   - The service: GetItem, UpdateItem on the table answers; UpdateItem on limits; GetItem,
//     PutItem on charges
//   - Erasure: Scan, GetItem, UpdateItem on answers; BatchWriteItem, Query on limits and charges
package checkout

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/counter"
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/ledger"
	"github.com/homeops/ddbpatterns/ledger/httpkey"
	"github.com/homeops/ddbpatterns/record"
	"github.com/homeops/ddbpatterns/schema"
	"github.com/homeops/ddbpatterns/tzclock"
)

// Provider moves the money. Calls with the same key are one: the provider repeats its
// answer. Its keys must live as long as clients send a request again: each attempt keeps
// the ledger's key for another Retention.
type Provider interface {
	Charge(ctx context.Context, key, card string, cents int64) (id string, err error)
	Settle(ctx context.Context, key, id string, cents int64) error
	Refund(ctx context.Context, key, id string) error
}

// ErrDeclined is the Provider's clear no. After any other error, nobody knows what it did.
var ErrDeclined = errors.New("checkout: declined")

// Limits are how much may be charged a day, in cents.
type Limits struct{ Customer, Merchant int64 }

// fresh is how old a request may be that has taken nothing yet: what it takes counts in the
// day in which the request first came, and not in the present one.
const fresh = time.Hour

// Clock and nonces of the stores; the zero value is the library's defaults.
type stores struct {
	ledger  ledger.Config
	counter counter.Config
}

// Service is the checkout.
type Service struct {
	Provider Provider
	Limits   Limits
	// Patience is how long the provider may take.
	Patience time.Duration

	db      *dynamodb.Client
	answers *ledger.Store
	used    *counter.Store
	charges *record.Rows[Charge]
	now     func() time.Time
}

// Charge is a charge that the provider made. It does not change: what it holds of the
// limits is in the limits, and what became of it is the provider's to say.
type Charge struct {
	Event    event.Event // of the request
	Merchant string
	Cents    int64
	Provider string // its id there
}

// New makes the stores. The day of a limit is that of the zone.
func New(db *dynamodb.Client, zone tzclock.Zone, p Provider, l Limits) (*Service, error) {
	// The client waits for a lease and the skew budget if a server dies: 15 s.
	cfg := stores{ledger: ledger.Config{Lease: 10 * time.Second, MaxSkew: 5 * time.Second}}
	return newService(db, zone, p, l, cfg)
}

func newService(db *dynamodb.Client, zone tzclock.Zone, p Provider, l Limits, cfg stores) (s *Service, err error) {
	s = &Service{Provider: p, Limits: l, Patience: 10 * time.Second, db: db, now: cfg.ledger.Now}
	if s.now == nil {
		s.now = time.Now
	}
	if s.answers, err = ledger.New(db, "answers", &cfg.ledger); err != nil {
		return nil, err
	}
	if s.used, err = counter.New(db, "limits", zone, &cfg.counter); err != nil {
		return nil, err
	}
	s.charges, err = record.New(db, "charges", record.Kind[Charge]{
		Package: "checkout", Type: "CHARGE", Attributes: []string{"merchant", "cents", "provider"}, Decode: decode,
	}, &record.Config{ConsistentReads: true})
	return s, err
}

// Tables returns the tables, for schema.Create.
func (s *Service) Tables() []schema.Table {
	return []schema.Table{s.answers.Table(), s.used.Table(), s.charges.Table()}
}

// Handler serves the checkout. person returns the opaque id of the customer who is logged
// in.
func (s *Service) Handler(person func(*http.Request) string) (http.Handler, error) {
	keys, err := httpkey.New(s.answers, person, nil)
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	for route, work := range map[string]func(context.Context, request) reply{
		"POST /charges":                 s.charge,
		"POST /charges/{id}/settlement": s.settle,
		"POST /charges/{id}/refund":     s.refund,
	} {
		mux.Handle(route, keys.Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			in := request{person: person(r), id: r.PathValue("id")}
			if json.NewDecoder(r.Body).Decode(&in) != nil || in.Cents < 0 {
				reply{http.StatusBadRequest, "malformed", ""}.send(w)
				return
			}
			work(r.Context(), in).send(w)
		})))
	}
	return mux, nil
}

// request is the body of all requests, and what comes with it.
type request struct {
	Card, Merchant string
	Cents          int64
	person, id     string
}

// reply is an answer.
type reply struct {
	code   int
	Status string `json:"status"`
	ID     string `json:"id,omitempty"`
}

func (r reply) send(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(r.code)
	_ = json.NewEncoder(w).Encode(r)
}

// again is the answer to trouble. It is not stored, so the client's next request goes on.
var again = reply{http.StatusServiceUnavailable, "send it again with the same key", ""}

// customer is the key of a person's limit.
func customer(person string) string { return record.Key(person, "CUSTOMER") }

// merchant is the key of a merchant's limit. It has three parts and a person's has two, so
// they differ even if the person's id is the word MERCHANT.
func merchant(id string) string { return record.Key("MERCHANT", "LIMIT", id) }

// charge takes the limits and charges the card.
func (s *Service) charge(ctx context.Context, in request) reply {
	if in.Card == "" || in.Merchant == "" || in.Cents == 0 {
		return reply{http.StatusBadRequest, "card, merchant and cents are needed", ""}
	}
	claim, _ := httpkey.FromContext(ctx)
	ev, err := claim.Event()
	if err != nil {
		return again
	}
	limits, old := s.Limits, s.now().Sub(ev.Time()) > fresh
	if old {
		limits = Limits{} // which grant nothing new; an attempt that took before has what it took
	}
	takes := []counter.TakeOf{
		{Store: s.used, Take: counter.Take{Key: customer(in.person), Event: ev, Weight: in.Cents, Cap: limits.Customer}},
		{Store: s.used, Take: counter.Take{Key: merchant(in.Merchant), Event: ev, Weight: in.Cents, Cap: limits.Merchant}},
	}
	grants, err := counter.TakeAll(ctx, takes...)
	_, bad := errors.AsType[*event.InputError](err)
	switch {
	case errors.Is(err, event.ErrTooOld): // an attempt of a week ago may have charged
		return reply{http.StatusGatewayTimeout, "unknown: ask us", ""} // not stored: the key stays among the failed
	case errors.Is(err, counter.ErrFull): // see counter.Config.MaxRecorded
		return reply{http.StatusPaymentRequired, "too many charges today", ""}
	case bad:
		return reply{http.StatusBadRequest, "malformed", ""}
	case err != nil:
		return again
	case slices.ContainsFunc(grants, counter.Grant.Refused) && old:
		return reply{http.StatusGone, "too old, and not charged: send it with another key", ""}
	case slices.ContainsFunc(grants, counter.Grant.Refused): // and nothing was taken
		return reply{http.StatusPaymentRequired, "the daily limit is reached", ""}
	}
	if !claim.LeaseUntil().After(s.now()) {
		return again // this machine stood still: another attempt may have answered
	}
	asking, cancel := context.WithTimeout(ctx, s.Patience)
	defer cancel()
	id, err := s.Provider.Charge(asking, ev.String(), in.Card, in.Cents)
	switch {
	case errors.Is(err, ErrDeclined):
		return s.decline(ctx, takes)
	case err != nil: // perhaps it charged
		return reply{http.StatusGatewayTimeout, "unknown: " + again.Status, ""}
	}
	if httpkey.Add(ctx, s.row(in.person, Charge{ev, in.Merchant, in.Cents, id})) != nil {
		return again
	}
	return reply{http.StatusCreated, "charged", ev.String()}
}

// decline gives back what was taken, in one transaction with the answer.
func (s *Service) decline(ctx context.Context, taken []counter.TakeOf) reply {
	for _, t := range taken {
		back, err := s.used.RefundItem(counter.Refund{Key: t.Take.Key, Event: t.Take.Event, Weight: t.Take.Weight})
		if err != nil || httpkey.Add(ctx, back.Item) != nil {
			return again
		}
	}
	return reply{http.StatusPaymentRequired, "declined", ""}
}

// settle settles the charge to the final amount, and the limits with it.
func (s *Service) settle(ctx context.Context, in request) reply {
	c, key, no := s.find(ctx, in)
	switch {
	case no.code != 0:
		return no
	case in.Cents == 0 || in.Cents > c.Cents:
		return reply{http.StatusUnprocessableEntity, "cents must be from 1 to what was charged", ""}
	}
	asking, cancel := context.WithTimeout(ctx, s.Patience)
	defer cancel()
	if no := done(s.Provider.Settle(asking, key, c.Provider, in.Cents)); no.code != 0 {
		return no
	}
	for _, limit := range []string{customer(in.person), merchant(c.Merchant)} {
		_, err := s.used.Adjust(ctx, counter.Adjust{Key: limit, Event: c.Event, From: c.Cents, To: in.Cents})
		if lost(err) {
			return again
		}
	}
	return reply{http.StatusOK, "settled", in.id}
}

// refund gives all of the charge back, and of the limits what it holds.
func (s *Service) refund(ctx context.Context, in request) reply {
	c, key, no := s.find(ctx, in)
	if no.code != 0 {
		return no
	}
	asking, cancel := context.WithTimeout(ctx, s.Patience)
	defer cancel()
	if no := done(s.Provider.Refund(asking, key, c.Provider)); no.code != 0 {
		return no
	}
	for _, limit := range []string{customer(in.person), merchant(c.Merchant)} {
		back := counter.Refund{Key: limit, Event: c.Event, Weight: c.Cents}
		_, err := s.used.Refund(ctx, back)
		if settled, ok := errors.AsType[*counter.WeightError](err); ok {
			back.Weight = settled.Recorded
			_, err = s.used.Refund(ctx, back)
		}
		if lost(err) {
			return again
		}
	}
	return reply{http.StatusOK, "refunded", in.id}
}

// find returns the person's charge, and the provider's key of this request.
func (s *Service) find(ctx context.Context, in request) (Charge, string, reply) {
	claim, _ := httpkey.FromContext(ctx)
	ev, err := claim.Event()
	if err != nil {
		return Charge{}, "", again
	}
	c, ok, err := s.charges.Get(ctx, record.Key(in.person, "CHARGES"), in.id)
	switch {
	case err != nil:
		return c, "", again
	case !ok:
		return c, "", reply{http.StatusNotFound, "no such charge", ""}
	}
	return c, ev.String(), reply{}
}

// done is the answer if the provider did not do it.
func done(err error) reply {
	switch {
	case errors.Is(err, ErrDeclined):
		return reply{http.StatusConflict, "declined", ""}
	case err != nil:
		return reply{http.StatusGatewayTimeout, "unknown: " + again.Status, ""}
	}
	return reply{}
}

// lost reports whether a limit may not have the change. A limit of more than a week ago, or
// of a person who was erased, no longer needs it, and one that was settled keeps that.
func lost(err error) bool {
	_, settled := errors.AsType[*counter.WeightError](err)
	return err != nil && !settled && !errors.Is(err, event.ErrTooOld) && !errors.Is(err, counter.ErrNotFound)
}

// row is the charge as a write of the answer's transaction.
func (s *Service) row(person string, c Charge) types.TransactWriteItem {
	return types.TransactWriteItem{Put: &types.Put{
		TableName: aws.String("charges"), Item: record.Item{
			"pk": record.Text(record.Key(person, "CHARGES")), "sk": record.Text(c.Event.String()), "type": record.Text("CHARGE"),
			"merchant": record.Text(c.Merchant), "cents": record.Int(c.Cents), "provider": record.Text(c.Provider),
		},
	}}
}

func decode(row record.Item) (Charge, error) {
	f := record.Read(row)
	c := Charge{Merchant: f.Text("merchant"), Cents: f.Int("cents"), Provider: f.Text("provider")}
	var err error
	c.Event, err = event.Parse(f.Text("sk"))
	return c, errors.Join(f.Err(), err)
}

// Requests returns the ledger of the requests, whose keys begin with the person's id.
func (s *Service) Requests() (*ledger.Operators, error) { return s.answers.Operators(s.db) }

// Erase deletes a person's charges and limit. Call it until it returns 0, when the requests
// have ended: Personal in examples/cookbook does so, and erases the requests.
func (s *Service) Erase(ctx context.Context, person string) (erased int, err error) {
	if _, err := ledger.Key(person); err != nil {
		return 0, err
	}
	charges, err := s.charges.Erase(ctx, record.Key(person, "CHARGES"))
	if err != nil {
		return charges, err
	}
	limits, err := s.used.Erase(ctx, customer(person))
	return charges + limits, err
}
