package demo

import (
	"crypto/sha256"
	"encoding/binary"
)

// digest identifies a set of keys in any order, by their number and the sum of
// their hashes. It does not grow with the set.
type digest struct {
	n    int
	sums [2]uint64
}

func (d *digest) add(key string) {
	hash := sha256.Sum256([]byte(key))
	d.n++
	d.sums[0] += binary.BigEndian.Uint64(hash[:8])
	d.sums[1] += binary.BigEndian.Uint64(hash[8:16])
}
