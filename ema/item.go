package ema

import (
	"github.com/homeops/ddbpatterns/internal/check"
	"github.com/homeops/ddbpatterns/internal/ddb"
	"github.com/homeops/ddbpatterns/internal/item"
	"github.com/homeops/ddbpatterns/internal/key"
)

// Attributes of a row, beside the average itself, whose name the [Record]
// decides, and type, version, recent and the others that package rmw keeps.
const (
	attrPK        = "pk"
	attrSK        = "sk"
	attrSamples   = "samples"
	attrUpdatedAt = "updatedAt"
)

func (s *Store) partition(subject string) string { return key.Join(s.cfg.Prefix, subject) }

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

// decode reads a row of the subject.
func (s *Store) decode(subject string, row ddb.Item) (Average, error) {
	a := Average{Subject: subject, Metric: item.Text(row, attrSK)}
	var err error
	if a.Value, err = item.Float(row, s.cfg.Record.attribute()); err != nil {
		return Average{}, err
	}
	if a.Samples, err = item.Int(row, attrSamples); err != nil {
		return Average{}, err
	}
	a.UpdatedAt, err = item.ParseTime(row, attrUpdatedAt)
	return a, err
}
