package ema

import (
	"context"

	"github.com/homeops/ddbpatterns/internal/check"
)

// Get returns the average and true, or false if the average does not exist.
//
// Price: 1 request, 0.5 RCU. 1 RCU with Config.ConsistentReads; each further 4
// KB of the row costs the same again.
func (s *Store) Get(ctx context.Context, subject, metric string) (Average, bool, error) {
	if err := check.Positional(s.checkRow(subject, metric)); err != nil {
		return Average{}, false, err
	}
	average, ok, err := s.rows.Get(ctx, s.partition(subject), metric)
	if ok {
		average.Subject = subject
	}
	return average, ok, err
}

// All returns every average of the subject, in the order of their metrics. It
// returns nil if the subject has no averages.
//
// Price: 1 request, 0.5 RCU. All rows together cost 0.5 RCU for each 4 KB, or 1 RCU
// with Config.ConsistentReads, and take 1 request for each MB.
func (s *Store) All(ctx context.Context, subject string) ([]Average, error) {
	if err := check.Positional(s.checkSubject(subject)); err != nil {
		return nil, err
	}
	averages, err := s.rows.All(ctx, s.partition(subject))
	for i := range averages {
		averages[i].Subject = subject
	}
	return averages, err
}

// Erase deletes every average of the subject, and returns their number. After an
// error some averages may be deleted already: call Erase again to delete the rest.
// An average that is written while Erase runs may stay: call Erase until it returns
// 0.
//
// Other callers may call Observe while Erase runs: what Observe writes afterwards
// contains nothing of an erased average. If an erased event is delivered again, it
// counts again, so call Erase when no redelivery can come.
//
// Price: 2 requests, 1 RCU, 1 WCU. Finding the rows costs 1 RCU for each 4 KB of
// all rows together, and 1 request for each MB. Deleting them costs 1 WCU for
// each KB of each row, and 1 request for each 25 rows. If no row is found, the
// call costs 1 request and 1 RCU.
func (s *Store) Erase(ctx context.Context, subject string) (int, error) {
	if err := check.Positional(s.checkSubject(subject)); err != nil {
		return 0, err
	}
	return s.rows.Erase(ctx, s.partition(subject))
}
