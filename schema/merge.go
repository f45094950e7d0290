package schema

import (
	"fmt"
	"slices"

	"github.com/homeops/ddbpatterns/event"
)

// Merge returns one definition for each table name, in the order in which the
// names first appear. Definitions with the same name must have the same key.
// The result has the union of their indexes and settings. The error is an
// [*event.InputError] if a merged definition is invalid, or if definitions of one
// name contradict each other: two keys, two keys for one index, two TTL
// attributes, or two KMS keys.
func Merge(tables ...Table) ([]Table, error) {
	var merged []Table
	for _, table := range tables {
		at := slices.IndexFunc(merged, func(t Table) bool { return t.Name == table.Name })
		if at < 0 {
			table.Indexes = slices.Clone(table.Indexes)
			merged = append(merged, table)
			continue
		}
		if err := merged[at].absorb(table); err != nil {
			return nil, err
		}
	}

	for _, table := range merged {
		if err := table.validate(); err != nil {
			return nil, err
		}
	}
	return merged, nil
}

func (t *Table) absorb(other Table) error {
	if t.Key != other.Key {
		return event.BadInput(pkg, "table "+t.Name, twoKeys(t.Key, other.Key))
	}

	for _, index := range other.Indexes {
		at := slices.IndexFunc(t.Indexes, func(i Index) bool { return i.Name == index.Name })
		switch {
		case at < 0:
			t.Indexes = append(t.Indexes, index)
		case t.Indexes[at] != index:
			return event.BadInput(pkg, "table "+t.Name+" index "+index.Name, twoKeys(t.Indexes[at].Key, index.Key))
		}
	}

	if err := mergeSetting(&t.TTL, other.TTL, t.Name, "TTL attribute"); err != nil {
		return err
	}
	if err := mergeSetting(&t.KMSKey, other.KMSKey, t.Name, "KMS key"); err != nil {
		return err
	}

	t.PointInTimeRecovery = t.PointInTimeRecovery || other.PointInTimeRecovery
	t.DeletionProtection = t.DeletionProtection || other.DeletionProtection
	t.Retain = t.Retain || other.Retain
	return nil
}

func twoKeys(one, two Key) string {
	return fmt.Sprintf("is defined with two different keys, %s and %s", one, two)
}

func mergeSetting(mine *string, other, table, what string) error {
	if *mine != "" && other != "" && *mine != other {
		return event.BadInput(pkg, "table "+table, fmt.Sprintf("is defined with two different settings of its %s, %s and %s", what, *mine, other))
	}
	if *mine == "" {
		*mine = other
	}
	return nil
}
