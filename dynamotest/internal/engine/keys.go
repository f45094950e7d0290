package engine

import (
	"encoding/binary"
	"hash/fnv"

	"github.com/homeops/ddbpatterns/dynamotest/internal/api"
	"github.com/homeops/ddbpatterns/dynamotest/internal/attr"
)

// The longest keys, in bytes.
const (
	maxHashKey  = 2048
	maxRangeKey = 1024
)

// A keyPart is one attribute of a key.
type keyPart struct {
	name string
	kind attr.Kind
}

// A keySchema is the key of a table or an index. A table's has one hash part
// and at most one range part; a global index may have four of each.
type keySchema struct{ hash, rng []keyPart }

func (k *keySchema) parts() []keyPart { return append(k.hash[:len(k.hash):len(k.hash)], k.rng...) }

func (k *keySchema) has(name string) bool {
	for _, p := range k.hash {
		if p.name == name {
			return true
		}
	}
	for _, p := range k.rng {
		if p.name == name {
			return true
		}
	}
	return false
}

// hashBytes is how many bytes of its partition's hash a key begins with. They
// put partitions into an order that no caller can rely on, as DynamoDB does,
// and cut a table into segments of equal size for a parallel scan.
const hashBytes = 4

// partition returns what the keys of one partition begin with: the hash of the
// hash parts and the parts.
func partition(hash []attr.Value) []byte {
	key := make([]byte, hashBytes, 64)
	for _, v := range hash {
		key = attr.AppendKey(key, v)
	}
	h := fnv.New32a()
	h.Write(key[hashBytes:])
	binary.BigEndian.PutUint32(key, mix(h.Sum32()))
	return key
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

// values returns what m has for the parts, unless one is missing or of another
// type than the key's.
func values(parts []keyPart, m attr.Map) ([]attr.Value, bool) {
	out := make([]attr.Value, len(parts))
	for i, p := range parts {
		v, ok := m.Get(p.name)
		if !ok || v.Kind() != p.kind {
			return nil, false
		}
		out[i] = v
	}
	return out, true
}

// key returns the key under which an item stands in a tree, unless m lacks a
// part of it.
func (k *keySchema) key(m attr.Map) (key []byte, ok bool) {
	hash, ok := values(k.hash, m)
	if !ok {
		return nil, false
	}
	key = partition(hash)
	for _, p := range k.rng {
		v, ok := m.Get(p.name)
		if !ok || v.Kind() != p.kind {
			return nil, false
		}
		key = attr.AppendKey(key, v)
	}
	return key, true
}

// pick returns the key attributes of an item.
func (k *keySchema) pick(m attr.Map) attr.Map {
	out := make(attr.Map, 0, len(k.hash)+len(k.rng))
	for _, f := range m {
		if k.has(f.Name) {
			out = append(out, f)
		}
	}
	return out
}

// after returns the least string that is greater than every string that begins
// with prefix, which must hold a byte other than 0xFF: every key does, at the
// end of its first part.
func after(prefix []byte) string {
	end := append([]byte(nil), prefix...)
	i := len(end) - 1
	for i > 0 && end[i] == 0xFF {
		i--
	}
	end[i]++
	return string(end[:i+1])
}

var errKeySchema = api.Invalid("The provided key element does not match the schema")

// checkKey checks a key that a request names an item by.
func (k *keySchema) checkKey(key attr.Map) *api.Error {
	parts := k.parts()
	if len(key) != len(parts) {
		return errKeySchema
	}
	for _, p := range parts {
		if v, ok := key.Get(p.name); !ok || v.Kind() != p.kind {
			return errKeySchema
		}
	}
	return k.checkValues(key)
}

// checkItem checks the key attributes of an item that is to be put.
func (k *keySchema) checkItem(item attr.Map) *api.Error {
	for _, p := range k.parts() {
		v, ok := item.Get(p.name)
		if !ok {
			return api.InvalidParameter("Missing the key %s in the item", p.name)
		}
		if v.Kind() != p.kind {
			return api.InvalidParameter("Type mismatch for key %s expected: %s actual: %s", p.name, p.kind, v.Kind())
		}
	}
	return k.checkValues(item)
}

// checkValues checks that key attributes are neither empty nor too long.
func (k *keySchema) checkValues(m attr.Map) *api.Error {
	for _, p := range k.parts() {
		if v, _ := m.Get(p.name); p.kind != attr.N && v.Str() == "" {
			return api.Invalid("One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an empty %s value. Key: %s", kindName(p.kind), p.name)
		}
	}
	return checkKeyBytes(keyBytes(k.hash, m), keyBytes(k.rng, m))
}

// checkKeyBytes checks how long the two parts of a key are.
func checkKeyBytes(hash, rng int) *api.Error {
	if hash > maxHashKey {
		return api.InvalidParameter("Size of hashkey has exceeded the maximum size limit of%d bytes", maxHashKey)
	}
	if rng > maxRangeKey {
		return api.InvalidParameter("Aggregated size of all range keys has exceeded the size limit of %d bytes", maxRangeKey)
	}
	return nil
}

func keyBytes(parts []keyPart, m attr.Map) int {
	size := 0
	for _, p := range parts {
		v, _ := m.Get(p.name)
		size += v.Size()
	}
	return size
}

func kindName(k attr.Kind) string {
	if k == attr.B {
		return "binary"
	}
	return "string"
}
