package engine

import (
	"slices"

	"github.com/homeops/ddbpatterns/dynamotest/internal/attr"
	"github.com/homeops/ddbpatterns/dynamotest/internal/capacity"
	"github.com/homeops/ddbpatterns/dynamotest/internal/keys"
	"github.com/homeops/ddbpatterns/dynamotest/internal/throughput"
)

// A tally counts what a page takes from each partition.
type tally struct {
	hash    []attr.Value // of the partition that is read; nil if all are
	shares  []share
	demands []throughput.Demand
}

// A share is the part of a page from one partition.
type share struct {
	hash  []attr.Value
	bytes int
}

// count adds a record to the present share, or begins the next one. The records
// of a partition come together.
func (y *tally) count(key *keys.Schema, rec *record) {
	if y.hash != nil {
		return
	}
	hash, _ := keys.Values(key.Hash, rec.item)
	if n := len(y.shares); n == 0 || !slices.EqualFunc(y.shares[n-1].hash, hash, attr.Value.Equal) {
		y.shares = append(y.shares, share{hash: hash})
	}
	y.shares[len(y.shares)-1].bytes += rec.size
}

// close divides the demand of a page among the shares by bytes. A query that found
// nothing still costs its partition something. A scan that found nothing read no
// partition, but costs its table or index something.
func (y *tally) close(d throughput.Demand) {
	d.Hash = y.hash
	if y.hash != nil || len(y.shares) == 0 {
		y.demands = append(y.demands, d)
		return
	}

	read, bytes := d.Read, 0
	for _, s := range y.shares {
		bytes += s.bytes
	}

	for _, s := range y.shares {
		d.Hash, d.Units = s.hash, capacity.Units{Read: read * float64(s.bytes) / float64(bytes)}
		y.demands = append(y.demands, d)
	}
}
