package jsonx

const (
	nameSlots   = 128 // a power of two
	longestName = 64
)

// names keeps strings that are likely to come again, so that a million items
// share the bytes of their attributes' names. A name replaces the name in its
// slot, so the table does not grow.
type names [nameSlots]string

func (n *names) intern(b []byte) string {
	if len(b) == 0 {
		return ""
	}
	if len(b) > longestName {
		return string(b)
	}

	hash := uint32(2166136261) // FNV-1a
	for _, c := range b {
		hash = (hash ^ uint32(c)) * 16777619
	}

	slot := &n[(hash^hash>>16)%nameSlots]
	if *slot != string(b) {
		*slot = string(b)
	}

	return *slot
}
