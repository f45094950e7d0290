package ema

import (
	"github.com/homeops/ddbpatterns/internal/check"
	"github.com/homeops/ddbpatterns/record"
)

// Attributes of a row. Package record keeps type, version, recent and others.
const (
	attrSK        = "sk"
	attrAverage   = "ema"
	attrSamples   = "samples"
	attrUpdatedAt = "updatedAt"
)

// attributes are what Config.Names can name.
var attributes = []string{"pk", attrSK, "type", attrAverage, attrSamples, attrUpdatedAt, "version", "recent"}

func (s *Store) partition(subject string) string { return record.Key(s.cfg.Prefix, subject) }

// checkSubject refuses a subject that cannot be part of a partition key.
func (s *Store) checkSubject(subject string) error {
	if err := check.ID(pkg, "Subject", subject); err != nil {
		return err
	}
	return check.PartitionKey(pkg, "Subject", s.partition(subject))
}

// checkRow refuses what cannot be part of a key.
func (s *Store) checkRow(subject, metric string) error {
	if err := s.checkSubject(subject); err != nil {
		return err
	}
	return check.SortKey(pkg, "Metric", metric)
}

// decode reads a row. The subject is not read from its key: the caller knows
// it.
func decode(row record.Item) (Average, error) {
	f := record.Read(row)
	a := Average{Metric: f.Text(attrSK), Value: f.Float(attrAverage), Samples: f.Int(attrSamples)}
	f.Time(attrUpdatedAt) // what is damaged shows before a write replaces it
	return a, f.Err()
}
