// Package keys has the keys of tables and indexes: their attributes, the bytes that
// order items, and the checks of keys.
package keys

import (
	"encoding/binary"
	"hash/fnv"
	"iter"

	"github.com/homeops/ddbpatterns/dynamotest/internal/api"
	"github.com/homeops/ddbpatterns/dynamotest/internal/attr"
)

// The longest keys, in bytes.
const (
	maxHashKey  = 2048
	maxRangeKey = 1024
)

// A Part is one attribute of a key.
type Part struct {
	Name string
	Kind attr.Kind
}

// A Schema is the key of a table or an index. A table's has one hash part
// and at most one range part; a global index may have four of each.
type Schema struct{ Hash, Range []Part }

// Parts returns all parts, the hash parts first.
func (k *Schema) Parts() []Part { return append(k.Hash[:len(k.Hash):len(k.Hash)], k.Range...) }

// All yields all parts, the hash parts first.
func (k *Schema) All() iter.Seq[Part] {
	return func(yield func(Part) bool) {
		for _, p := range k.Hash {
			if !yield(p) {
				return
			}
		}
		for _, p := range k.Range {
			if !yield(p) {
				return
			}
		}
	}
}

// Has reports whether an attribute is part of the key.
func (k *Schema) Has(name string) bool {
	for p := range k.All() {
		if p.Name == name {
			return true
		}
	}
	return false
}

// HashBytes is the number of hash bytes at the beginning of a key, made from
// its partition. As in DynamoDB, they put partitions into an order on which no
// caller can rely. They also divide a table into segments of equal size for a
// parallel scan.
const HashBytes = 4

// Partition returns the common beginning of the keys of one partition: the hash
// of the hash parts, and the parts.
func Partition(hash []attr.Value) []byte {
	key := make([]byte, HashBytes, usualKey)
	for _, v := range hash {
		key = attr.AppendKey(key, v)
	}
	putHash(key)
	return key
}

// usualKey is enough bytes for most keys.
const usualKey = 64

// putHash puts the hash of the rest at the beginning of a key.
func putHash(key []byte) {
	h := fnv.New32a()
	h.Write(key[HashBytes:])
	binary.BigEndian.PutUint32(key, mix(h.Sum32()))
}

// mix spreads the hashes of short keys that differ in their last byte only: FNV
// leaves them close together.
func mix(h uint32) uint32 {
	h ^= h >> 16
	h *= 0x85ebca6b
	h ^= h >> 13
	h *= 0xc2b2ae35
	return h ^ h>>16
}

// Values returns the values of the parts in m, or false if one is missing or
// has another type than the key's.
func Values(parts []Part, m attr.Map) ([]attr.Value, bool) {
	out := make([]attr.Value, len(parts))
	for i, p := range parts {
		v, ok := m.Get(p.Name)
		if !ok || v.Kind() != p.Kind {
			return nil, false
		}
		out[i] = v
	}
	return out, true
}

// Key returns the key of an item in a tree, or false if m lacks a part of it.
// It is short enough to be inlined, so that the key's memory is on the caller's
// stack.
func (k *Schema) Key(m attr.Map) (key []byte, ok bool) {
	return k.putKey(make([]byte, HashBytes, usualKey), m)
}

func (k *Schema) putKey(key []byte, m attr.Map) ([]byte, bool) {
	key, ok := appendParts(key, k.Hash, m)
	if !ok {
		return nil, false
	}
	putHash(key)
	return appendParts(key, k.Range, m)
}

func appendParts(key []byte, parts []Part, m attr.Map) ([]byte, bool) {
	for _, p := range parts {
		v, ok := m.Get(p.Name)
		if !ok || v.Kind() != p.Kind {
			return nil, false
		}
		key = attr.AppendKey(key, v)
	}
	return key, true
}

// Pick returns the key attributes of an item.
func (k *Schema) Pick(m attr.Map) attr.Map {
	out := make(attr.Map, 0, len(k.Hash)+len(k.Range))
	for _, f := range m {
		if k.Has(f.Name) {
			out = append(out, f)
		}
	}
	return out
}

// After returns the least string that is greater than every string that begins
// with prefix. The prefix must have a byte other than 0xFF. Every key has one,
// at the end of its first part.
func After(prefix []byte) string {
	end := append(make([]byte, 0, usualKey), prefix...)
	i := len(end) - 1
	for i > 0 && end[i] == 0xFF {
		i--
	}
	end[i]++
	return string(end[:i+1])
}

var errKeySchema = api.Invalid("The provided key element does not match the schema")

// CheckKey checks a key by which a request names an item.
func (k *Schema) CheckKey(key attr.Map) *api.Error {
	if len(key) != len(k.Hash)+len(k.Range) {
		return errKeySchema
	}
	return k.CheckEntry(key)
}

// CheckEntry checks the key attributes of an item that a batch puts. The errors
// are those of a key.
func (k *Schema) CheckEntry(item attr.Map) *api.Error {
	for p := range k.All() {
		if v, ok := item.Get(p.Name); !ok || v.Kind() != p.Kind {
			return errKeySchema
		}
	}
	return k.checkValues(item)
}

// CheckItem checks the key attributes of an item to put.
func (k *Schema) CheckItem(item attr.Map) *api.Error {
	for p := range k.All() {
		v, ok := item.Get(p.Name)
		if !ok {
			return api.InvalidParameter("Missing the key %s in the item", p.Name)
		}
		if v.Kind() != p.Kind {
			return api.InvalidParameter("Type mismatch for key %s expected: %s actual: %s", p.Name, p.Kind, v.Kind())
		}
	}
	return k.checkValues(item)
}

// checkValues checks that key attributes are neither empty nor too long. For an
// empty one, a transaction is refused as a whole.
func (k *Schema) checkValues(m attr.Map) *api.Error {
	hash, err := checkParts(k.Hash, m)
	if err != nil {
		return err
	}
	rng, err := checkParts(k.Range, m)
	if err != nil {
		return err
	}
	return CheckBytes(hash, rng)
}

// checkParts checks that no part is empty, and returns the size of all parts.
func checkParts(parts []Part, m attr.Map) (bytes int, err *api.Error) {
	for _, p := range parts {
		v, _ := m.Get(p.Name)
		if p.Kind != attr.N && v.Str() == "" {
			return 0, api.OfWhole(api.Invalid("One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an empty %s value. Key: %s", KindName(p.Kind), p.Name))
		}
		bytes += v.Size()
	}
	return bytes, nil
}

// CheckBytes checks the lengths of the two parts of a key.
func CheckBytes(hash, rng int) *api.Error {
	if hash > maxHashKey {
		return api.InvalidParameter("Size of hashkey has exceeded the maximum size limit of%d bytes", maxHashKey)
	}
	if rng > maxRangeKey {
		return api.InvalidParameter("Aggregated size of all range keys has exceeded the size limit of %d bytes", maxRangeKey)
	}
	return nil
}

// Bytes returns the size of the values of the parts in m.
func Bytes(parts []Part, m attr.Map) int {
	size := 0
	for _, p := range parts {
		v, _ := m.Get(p.Name)
		size += v.Size()
	}
	return size
}

// KindName returns the name of string or binary in error texts.
func KindName(k attr.Kind) string {
	if k == attr.B {
		return "binary"
	}
	return "string"
}

// Names returns the names of the parts.
func Names(parts []Part) []string {
	names := make([]string, len(parts))
	for i, p := range parts {
		names[i] = p.Name
	}
	return names
}

// Describe writes the key in the form of a table's description.
func (k *Schema) Describe(w *api.Writer) {
	w.Array("KeySchema", func() {
		for _, p := range k.Hash {
			describePart(w, p.Name, api.Hash)
		}
		for _, p := range k.Range {
			describePart(w, p.Name, api.Range)
		}
	})
}

func describePart(w *api.Writer, name, kind string) {
	w.Element(func() {
		w.Text("AttributeName", name)
		w.Text("KeyType", kind)
	})
}
