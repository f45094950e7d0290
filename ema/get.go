package ema

import (
	"context"

	"github.com/homeops/ddbpatterns/internal/check"
)

// Get returns the average, and false if no value of it was ever observed.
//
// Price: 1 request, 0.5 RCU. 1 RCU with Config.ConsistentReads; rows above 4
// KB as much again for each 4 KB.
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

// All returns every average of the subject, by metric; nil if there are none.
//
// Price: 1 request, 0.5 RCU. 0.5 RCU for each 4 KB of all rows together, of
// which a full one has some 0.65; twice that with Config.ConsistentReads; 1 request
// for each MB.
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

// Erase deletes every average of the subject, those of the store's record alone,
// and returns how many. After an error what was deleted is gone: call again, and
// it goes on with the rest. An average that is written while it runs may stay:
// erase until it answers 0.
//
// It is safe beside live writers: nothing of an erased average is in what Observe
// writes after it. Erased events are forgotten, so that a redelivery of one counts
// anew: erase when none can come.
//
// Price: 2 requests, 1 RCU, 1 WCU. 1 RCU for each 4 KB of all rows together and 1
// WCU for each row and KB; 1 request for each MB to find them and 1 for each 25
// rows. Where there are none, 1 request and 1 RCU.
func (s *Store) Erase(ctx context.Context, subject string) (int, error) {
	if err := check.Positional(s.checkSubject(subject)); err != nil {
		return 0, err
	}
	return s.rows.Erase(ctx, s.partition(subject))
}
