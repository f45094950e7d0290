// Package payout is an example to copy: it pays merchants out through a bank, at most
// three in any minute and an amount a day, and keeps what the bank reports of each payout.
//
//	POST /payouts  201 the bank took it; 402 declined or above the day; 429; 410 too old; 504 unknown
//	POST /reports  the bank's webhook: keeps a status; the day gets back what was returned
//
// Both run again after a crash, a lost reply or a timeout, and then each step takes effect
// once. docs/payouts.md and docs/status.md walk through it.
//
// # IAM actions
//
//   - The service: GetItem, UpdateItem on the tables answers and payouts; UpdateItem on minutes and days
package payout

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/homeops/ddbpatterns/counter"
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/ledger"
	"github.com/homeops/ddbpatterns/ledger/httpkey"
	"github.com/homeops/ddbpatterns/limit"
	"github.com/homeops/ddbpatterns/record"
	"github.com/homeops/ddbpatterns/schema"
	"github.com/homeops/ddbpatterns/tzclock"
	"github.com/homeops/ddbpatterns/verdict"
)

// Bank moves the money. Calls with the same key are one: the bank repeats its answer. Its
// reports bring back the key and the merchant: send it both.
type Bank interface {
	Pay(ctx context.Context, key string, p Payout) error
}

const (
	// fresh is the greatest age of a request for which the bank was not asked yet. Its payout
	// counts in the day in which the request first came, and not in the present one.
	fresh = time.Hour
	// keyLife is how long the bank knows a key, less an hour. After it, the bank would pay
	// again.
	keyLife = 23 * time.Hour
	// maxCents is the most that a counter can take at once.
	maxCents = 1_000_000_000_000
	// mostBody is the most of a report that is read, and given to Dead: DynamoDB takes rows
	// of 400 KB.
	mostBody = 256 << 10
)

// ErrDeclined is the Bank's clear no. After any other error, nobody knows what it did.
var ErrDeclined = errors.New("payout: declined")

// Payout is what a merchant asks for. It is stored before the bank is asked, and does not
// change: where it stands is its [Status].
type Payout struct {
	Merchant string // an opaque id
	Account  string
	Cents    int64
}

// Service pays out.
type Service struct {
	Bank Bank
	// Merchant returns the merchant who is logged in.
	Merchant func(*http.Request) string
	// PerDay is how much a merchant may be paid a day, in cents.
	PerDay int64
	// Dead keeps a report that no further delivery can help, for people to look at.
	Dead func(ctx context.Context, body []byte, why error) error

	answers  *ledger.Store
	minute   *limit.Store
	day      *counter.Store
	payouts  *record.Rows[Payout]
	statuses Statuses
	now      func() time.Time
}

// perMinute lets three payouts through in any minute, two of them at once, beside those
// that were declined. (Three at once would be a Burst of 3 and a Per of 61 seconds.) A
// payout that the bank was asked for before may come on top.
var perMinute = []limit.Limit{{Name: "payouts", N: 1, Per: time.Minute, Burst: 2, Weight: 1}}

// Configs are those of the stores; the zero value is the library's defaults.
type Configs struct {
	Ledger  ledger.Config
	Limit   limit.Config
	Counter counter.Config
	Record  record.Config
}

// New makes the stores of a service whose fields the caller sets. The day is that of the zone.
func New(db *dynamodb.Client, zone tzclock.Zone, cfg Configs) (*Service, error) {
	s := &Service{now: cfg.Ledger.Now}
	if s.now == nil {
		s.now = time.Now
	}
	cfg.Record.ConsistentReads = true // Get must see what the attempt before has stored
	var errs [5]error
	s.answers, errs[0] = ledger.New(db, "answers", &cfg.Ledger)
	s.minute, errs[1] = limit.New(db, "minutes", &cfg.Limit)
	s.day, errs[2] = counter.New(db, "days", zone, &cfg.Counter)
	s.payouts, errs[3] = record.New(db, "payouts", record.Kind[Payout]{
		Package: "payout", Type: "PAYOUT", Attributes: []string{"merchant", "account", "cents"},
		Decode: func(row record.Item) (Payout, error) {
			f := record.Read(row)
			return Payout{f.Text("merchant"), f.Text("account"), f.Int("cents")}, f.Err()
		},
	}, &cfg.Record)
	s.statuses, errs[4] = NewStatuses(db, "payouts", &cfg.Record)
	return s, errors.Join(errs[:]...)
}

// Tables returns the tables, for schema.Create.
func (s *Service) Tables() []schema.Table {
	return []schema.Table{s.answers.Table(), s.minute.Table(), s.day.Table(), s.payouts.Table(), s.statuses.Table()}
}

// Handler serves the payouts and the bank's webhook. Check the webhook's signature before it.
func (s *Service) Handler() (http.Handler, error) {
	keys, err := httpkey.New(s.answers, s.Merchant, nil)
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.Handle("POST /payouts", keys.Handler(http.HandlerFunc(s.pay)))
	mux.HandleFunc("POST /reports", s.report)
	return mux, nil
}

// pay is an ordinary handler. It runs again after an answer that httpkey does not store: a
// 429, a 503 or a 504.
func (s *Service) pay(w http.ResponseWriter, r *http.Request) {
	var p Payout
	if json.NewDecoder(r.Body).Decode(&p) != nil || p.Account == "" || len(p.Account) > 100 || p.Cents < 1 || p.Cents > maxCents {
		http.Error(w, "account and cents are needed", http.StatusBadRequest)
		return
	}
	p.Merchant = s.Merchant(r)
	claim, _ := httpkey.FromContext(r.Context())
	ev, err := claim.Event() // the same in each attempt
	if err != nil {
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	w.WriteHeader(s.try(r.Context(), ev, p, w.Header()))
}

// try is one attempt. The limits are for a payout that the bank was not asked for before:
// after that, others may have used them up, and the money may have moved.
func (s *Service) try(ctx context.Context, ev event.Event, p Payout, h http.Header) int {
	_, asked, err := s.payouts.Get(ctx, record.Key(p.Merchant, "PAYOUTS"), ev.String())
	age := s.now().Sub(ev.Time())
	switch {
	case err != nil:
		return http.StatusServiceUnavailable
	case asked && age > keyLife: // somebody must ask the bank what became of it
		return http.StatusGatewayTimeout // not stored: the key stays among the failed
	case !asked && age > fresh:
		return http.StatusGone
	case !asked:
		if refused := s.limit(ctx, ev, p, h); refused != 0 {
			return refused
		}
		_, err = s.payouts.Set(ctx, record.Set{
			Partition: record.Key(p.Merchant, "PAYOUTS"), Sort: ev.String(), Event: ev, Values: record.Item{
				"merchant": record.Text(p.Merchant), "account": record.Text(p.Account), "cents": record.Int(p.Cents),
			},
		})
	}
	if err != nil {
		return http.StatusServiceUnavailable
	}
	if claim, _ := httpkey.FromContext(ctx); !claim.LeaseUntil().After(s.now()) {
		return http.StatusServiceUnavailable // this machine stood still: another attempt may have answered
	}
	err = s.Bank.Pay(ctx, ev.String(), p)
	switch {
	case errors.Is(err, ErrDeclined):
		if s.endDay(ctx, ev, p) != nil || s.endTurn(ctx, ev, p) != nil {
			return http.StatusServiceUnavailable
		}
		return http.StatusPaymentRequired
	case err != nil: // perhaps it paid
		return http.StatusGatewayTimeout
	}
	return http.StatusCreated
}

// limit takes a turn of the minute and the amount of the day. It returns 0 if it could. A
// payout that the day refuses uses no turn.
func (s *Service) limit(ctx context.Context, ev event.Event, p Payout, h http.Header) int {
	turn, err := s.minute.Take(ctx, limit.Take{Key: p.Merchant, Event: ev, Limits: perMinute})
	switch {
	case err != nil:
		return http.StatusServiceUnavailable
	case !turn.OK && turn.Outcome == event.Duplicate:
		return http.StatusPaymentRequired // the day refused it, and the answer was lost
	case !turn.OK:
		turn.SetHeader(h)
		return http.StatusTooManyRequests
	}
	day, err := s.day.Take(ctx, counter.Take{Key: p.Merchant, Event: ev, Weight: p.Cents, Cap: s.PerDay})
	switch {
	case err == nil && !day.Refused():
		return 0
	case err != nil && !errors.Is(err, counter.ErrFull): // see counter.Config.MaxRecorded
		return http.StatusServiceUnavailable
	case s.endTurn(ctx, ev, p) != nil:
		return http.StatusServiceUnavailable
	}
	return http.StatusPaymentRequired
}

// endDay gives the day back what a payout holds of it, once. A day of more than a week ago,
// or of a merchant who was erased, needs nothing.
func (s *Service) endDay(ctx context.Context, ev event.Event, p Payout) error {
	_, err := s.day.Refund(ctx, counter.Refund{Key: p.Merchant, Event: ev, Weight: p.Cents})
	if errors.Is(err, event.ErrTooOld) || errors.Is(err, counter.ErrNotFound) {
		return nil
	}
	return err
}

// endTurn gives the minute back the turn of a payout, once. Settle needs no Grant, but a
// Take of the same event and limits. A turn that was forgotten comes back with time.
func (s *Service) endTurn(ctx context.Context, ev event.Event, p Payout) error {
	taken := limit.Take{Key: p.Merchant, Event: ev, Limits: perMinute}
	_, err := s.minute.Settle(ctx, taken, map[string]int64{"payouts": 0})
	if errors.Is(err, limit.ErrForgotten) {
		return nil
	}
	return err
}

// report answers 200 to the bank when the report need not be delivered again.
func (s *Service) report(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, mostBody))
	_, large := errors.AsType[*http.MaxBytesError](err)
	var told Report
	switch {
	case large:
		err = ledger.Permanent(err) // its beginning is kept for people
	case err == nil:
		if err = ledger.Permanent(json.Unmarshal(body, &told)); err == nil {
			err = s.keep(r.Context(), told)
		}
	}
	v := verdict.Of(err)
	if v.Kind == verdict.Poison && s.Dead(r.Context(), body, err) != nil {
		v.Kind = verdict.Retry
	}
	if v.Kind == verdict.Retry {
		w.WriteHeader(http.StatusServiceUnavailable)
	}
}

// keep keeps what the bank reports. It may come before the answer to the payout's request.
func (s *Service) keep(ctx context.Context, told Report) error {
	p, asked, err := s.payouts.Get(ctx, record.Key(told.Merchant, "PAYOUTS"), told.Payout)
	if err != nil {
		return err
	}
	ev, err := event.Parse(told.Payout)
	if err != nil || !asked {
		return ledger.Permanent(errors.New("payout: Payout is not one of ours, or was erased"))
	}
	if told.Status.Name == "returned" { // also if a later report has come: money came back
		if err := s.endDay(ctx, ev, p); err != nil {
			return err
		}
	}
	_, err = s.statuses.Set(ctx, told)
	return err
}
