package ema

import (
	"context"

	"github.com/homeops/ddbpatterns/internal/ddb"
)

// Get returns the average, and false if no value of it was ever observed.
//
// Price: 1 request, 0.5 RCU. 1 RCU with Config.ConsistentReads; rows above 4
// KB as much again for each 4 KB.
func (s *Store) Get(ctx context.Context, subject, metric string) (Average, bool, error) {
	if err := s.checkRow(subject, metric); err != nil {
		return Average{}, false, err
	}
	return s.rows.Get(ctx, s.partition(subject), metric, s.of(subject))
}

// All returns every average of the subject, by metric; nil if there are none.
//
// Price: 1 request, 0.5 RCU. 0.5 RCU for each 4 KB of all rows together, of
// which a full one has some 0.65; twice that with Config.ConsistentReads; 1 request
// for each MB.
func (s *Store) All(ctx context.Context, subject string) ([]Average, error) {
	if err := s.checkSubject(subject); err != nil {
		return nil, err
	}
	return s.rows.All(ctx, s.partition(subject), s.of(subject))
}

// of reads rows of the subject.
func (s *Store) of(subject string) func(ddb.Item) (Average, error) {
	return func(row ddb.Item) (Average, error) { return s.decode(subject, row) }
}
