package demo

import (
	"github.com/homeops/ddbpatterns/examples/quill/fact"
	"github.com/homeops/ddbpatterns/examples/quill/outbox"
)

// Judged returns what does not add up in the report of a replay in which these
// facts came, were stored and were posted.
func Judged(r Report, came, stored, posted []string) []string {
	for _, set := range []struct {
		to   *digest
		keys []string
	}{{&r.facts, came}, {&r.Stored.facts, stored}, {&r.Stored.posted, posted}} {
		for _, key := range set.keys {
			set.to.add(key)
		}
	}
	r.judge()
	return r.Wrong
}

// CheckRefusals, CheckDimensions and CheckRow are parts of the check.
func (r *Report) CheckRefusals() { r.refusals() }

func (r *Report) CheckDimensions(rows int) { r.dimensions(rows) }

func (r *Report) CheckRow(stored outbox.Stored, got fact.Row) { r.row(stored, got) }
