// Package keys is about the keys of tables and indexes: their attributes, the bytes
// that items are ordered by, and what makes a key invalid.
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

// Parts returns all parts, those of the hash first.
func (k *Schema) Parts() []Part { return append(k.Hash[:len(k.Hash):len(k.Hash)], k.Range...) }

// All yields all parts, those of the hash first.
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

// HashBytes is how many bytes of its partition's hash a key begins with. They
// put partitions into an order that no caller can rely on, as DynamoDB does,
// and cut a table into segments of equal size for a parallel scan.
const HashBytes = 4

// Partition returns what the keys of one partition begin with: the hash of the
// hash parts and the parts.
func Partition(hash []attr.Value) []byte {
	key := make([]byte, HashBytes, usualKey)
	for _, v := range hash {
		key = attr.AppendKey(key, v)
	}
	putHash(key)
	return key
}

// usualKey is room for the bytes of most keys.
const usualKey = 64

// putHash puts the hash of what follows at the beginning of a key.
func putHash(key []byte) {
	h := fnv.New32a()
	h.Write(key[HashBytes:])
	binary.BigEndian.PutUint32(key, mix(h.Sum32()))
}

// mix spreads what FNV leaves close together: short keys that differ in their
// last byte only.
func mix(h uint32) uint32 {
	h ^= h >> 16
	h *= 0x85ebca6b
	h ^= h >> 13
	h *= 0xc2b2ae35
	return h ^ h>>16
}

// Values returns what m has for the parts, unless one is missing or of another
// type than the key's.
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

// Key returns the key under which an item stands in a tree, unless m lacks a
// part of it. It is short enough that the room is the caller's, on the stack.
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
// with prefix, which must hold a byte other than 0xFF: every key does, at the
// end of its first part.
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

// CheckKey checks a key that a request names an item by.
func (k *Schema) CheckKey(key attr.Map) *api.Error {
	if len(key) != len(k.Hash)+len(k.Range) {
		return errKeySchema
	}
	return k.CheckEntry(key)
}

// CheckEntry checks the key attributes of an item that a batch is to put, of which
// is said what would be said of a key.
func (k *Schema) CheckEntry(item attr.Map) *api.Error {
	for p := range k.All() {
		if v, ok := item.Get(p.Name); !ok || v.Kind() != p.Kind {
			return errKeySchema
		}
	}
	return k.checkValues(item)
}

// CheckItem checks the key attributes of an item that is to be put.
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

// checkValues checks that key attributes are neither empty nor too long. An empty
// one refuses a transaction before it is opened.
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

// checkParts checks that no part is empty, and returns the size of all.
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

// CheckBytes checks how long the two parts of a key are.
func CheckBytes(hash, rng int) *api.Error {
	if hash > maxHashKey {
		return api.InvalidParameter("Size of hashkey has exceeded the maximum size limit of%d bytes", maxHashKey)
	}
	if rng > maxRangeKey {
		return api.InvalidParameter("Aggregated size of all range keys has exceeded the size limit of %d bytes", maxRangeKey)
	}
	return nil
}

// Bytes returns the size of what m has for the parts.
func Bytes(parts []Part, m attr.Map) int {
	size := 0
	for _, p := range parts {
		v, _ := m.Get(p.Name)
		size += v.Size()
	}
	return size
}

// KindName is what error texts call a type of string or binary.
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

// Describe writes the key as a table's description has it.
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
