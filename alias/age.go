package alias

import "container/list"

// byAge holds values by key, and knows which was set longest ago: evicting that
// one takes constant time.
type byAge[V any] struct {
	values map[string]*list.Element // of order
	order  *list.List               // of aged[V], the oldest first
}

type aged[V any] struct {
	key   string
	value V
}

func newByAge[V any]() byAge[V] {
	return byAge[V]{values: map[string]*list.Element{}, order: list.New()}
}

// get returns the zero value for an unknown key.
func (m byAge[V]) get(key string) (value V) {
	if e, ok := m.values[key]; ok {
		value = e.Value.(aged[V]).value
	}
	return value
}

// set makes the value the youngest. If there are then more than most, it evicts
// the oldest and returns it.
func (m byAge[V]) set(key string, value V, most int) (evicted V, any bool) {
	if e, ok := m.values[key]; ok {
		m.order.Remove(e)
	}
	m.values[key] = m.order.PushBack(aged[V]{key, value})
	if len(m.values) <= most {
		return evicted, false
	}
	oldest := m.order.Remove(m.order.Front()).(aged[V])
	delete(m.values, oldest.key)
	return oldest.value, true
}
