package ema

import (
	"github.com/homeops/ddbpatterns/internal/check"
	"github.com/homeops/ddbpatterns/record"
)

// Attributes of a row, beside the average itself, whose name the [Record]
// decides, and type, version, recent and the others that package record keeps.
const (
	attrSK        = "sk"
	attrSamples   = "samples"
	attrUpdatedAt = "updatedAt"
)

func (s *Store) partition(subject string) string { return record.Key(s.cfg.Prefix, subject) }

// checkSubject refuses what makes no partition key.
func (s *Store) checkSubject(subject string) error {
	if err := check.ID(pkg, "Subject", subject); err != nil {
		return err
	}
	return check.PartitionKey(pkg, "Subject", s.partition(subject))
}

// checkRow refuses what makes no key.
func (s *Store) checkRow(subject, metric string) error {
	if err := s.checkSubject(subject); err != nil {
		return err
	}
	return check.SortKey(pkg, "Metric", metric)
}

// decode reads a row. Its key tells the subject, who is known to who asks.
func (s *Store) decode(row record.Item) (Average, error) {
	f := record.Read(row)
	return Average{
		Metric:    f.Text(attrSK),
		Value:     f.Float(s.cfg.Record.attribute()),
		Samples:   f.Int(attrSamples),
		UpdatedAt: f.Time(attrUpdatedAt),
	}, f.Err()
}
