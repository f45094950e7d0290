package engine

import (
	"sort"
	"time"

	"github.com/homeops/ddbpatterns/dynamotest/internal/api"
)

// A past is what late readers see of a table: eventually consistent reads of it
// and of its indexes. Versions are copy-on-write clones, made while there is a
// lag only.
type past struct {
	versions []version // the oldest first
	held     map[string]data
}

// A version is what a table and its indexes held until a time.
type version struct {
	until time.Time
	views map[string]data // by index; "" is the table itself
}

// views returns what the table and its indexes hold now.
func (t *table) views() map[string]data {
	out := make(map[string]data, len(t.indexes)+1)
	out[""] = t.items.clone()
	for _, x := range t.indexes {
		out[x.name] = x.items.clone()
	}
	return out
}

// keepPast remembers what the table holds before it is changed, and forgets what
// nobody can see any more. Changes of one moment are one version.
func (e *Engine) keepPast(t *table) {
	lag := max(e.opt.IndexLag, e.opt.ReadLag)
	if lag <= 0 {
		return
	}
	now := e.now()
	old := sort.Search(len(t.past.versions), func(i int) bool { return t.past.versions[i].until.After(now.Add(-lag)) })
	t.past.versions = t.past.versions[old:]
	if n := len(t.past.versions); n == 0 || t.past.versions[n-1].until.Before(now) {
		t.past.versions = append(t.past.versions, version{until: now, views: t.views()})
	}
}

// view returns what an eventually consistent read sees of a table or, by its
// name, of an index.
func (e *Engine) view(t *table, index *index) *data {
	name, lag, current := "", e.opt.ReadLag, &t.items
	if index != nil {
		name, current = index.name, &index.items
		if !index.local {
			lag = e.opt.IndexLag
		}
	}
	held := name
	if index != nil && index.local {
		held = "" // a local index is part of its table
	}
	if _, ok := t.past.held[held]; ok {
		if d, ok := t.past.held[name]; ok {
			return &d
		}
	}
	if lag <= 0 {
		return current
	}
	seen := e.now().Add(-lag)
	i := sort.Search(len(t.past.versions), func(i int) bool { return t.past.versions[i].until.After(seen) })
	if i < len(t.past.versions) {
		if d, ok := t.past.versions[i].views[name]; ok {
			return &d
		}
	}
	return current
}

// Hold freezes what is seen of a global index or, when its name is empty, what
// eventually consistent reads see of the table and its local indexes.
func (e *Engine) Hold(tableName, indexName string) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	t, err := e.wholeTable(tableName)
	if err != nil {
		return err
	}
	if indexName != "" {
		if x := t.index(indexName); x == nil || x.local {
			return api.Invalid("The table does not have the specified index: %s", indexName)
		}
	}
	held := make(map[string]data, len(t.past.held)+1)
	for name, d := range t.past.held {
		held[name] = d
	}
	for name, d := range t.views() {
		if x := t.index(name); name == indexName || indexName == "" && x != nil && x.local {
			held[name] = d
		}
	}
	t.past.held = held
	return nil
}

// Release ends a Hold.
func (e *Engine) Release(tableName, indexName string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	t := e.tables[api.TableNameOf(tableName)]
	if t == nil {
		return
	}
	held := map[string]data{}
	for name, d := range t.past.held {
		if x := t.index(name); name != indexName && (indexName != "" || x == nil || !x.local) {
			held[name] = d
		}
	}
	t.past.held = held
}
