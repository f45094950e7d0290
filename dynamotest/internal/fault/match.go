package fault

import (
	"fmt"
	"hash/fnv"
	"io"
	"math/rand/v2"
	"slices"
	"sync/atomic"

	"github.com/homeops/ddbpatterns/dynamotest/internal/api"
	"github.com/homeops/ddbpatterns/dynamotest/internal/attr"
	"github.com/homeops/ddbpatterns/dynamotest/internal/target"
)

// An armed fault waits for requests.
type armed struct {
	Fault
	tables         Tables            // nil on other backends
	met            map[uint64]uint64 // how many requests named the same thing, by its hash, for draws
	matched, fired int
	calling        atomic.Int32 // how often its function is running
	called         atomic.Bool  // whether its function was ever called
	passed         sightings
	keyHint        hint // from the keys of tables that passed
	indexHint      hint // from the indexes of tables that were written
}

// A call is a request as faults see it.
type call struct {
	op      string
	targets []target.Target
}

// match reports whether the fault concerns a call, and which of its targets.
func (f *armed) match(c call) (hit []bool, ok bool) {
	if f.Op != "" && f.Op != c.op || !f.canMeet(c.op) {
		return nil, false
	}
	ok = !f.needsTarget()
	hit = make([]bool, len(c.targets))
	for i, about := range c.targets {
		hit[i] = f.namesTable(about.Table) && f.onIndex(about) && contains(about.Key, f.Key) && f.appliesTo(c.op, about)
		ok = ok || hit[i]
	}
	return hit, ok
}

// canMeet reports whether an operation can meet the effect at all.
func (f *Fault) canMeet(op string) bool {
	switch {
	case f.Effect.Kind == Conflict:
		return is(op, api.Conflicts)
	case f.Effect.Kind == Unprocessed:
		return is(op, api.Batch)
	case f.Effect.ByIndex != "":
		return is(op, api.Writes) || is(op, api.Statements)
	}
	return true
}

// needsTarget reports whether a call must have a target that matches. Without one
// it may also be about nothing, as a ListTables is.
func (f *Fault) needsTarget() bool {
	return f.Table != "" || f.Index != "" || f.Key != nil ||
		f.Effect.Kind == Conflict || f.Effect.Kind == Unprocessed || f.Effect.ByIndex != ""
}

// namesTable reports whether the fault may be about a table.
func (f *Fault) namesTable(table string) bool { return f.Table == "" || f.Table == table }

// onIndex reports whether a target reads the fault's index, or is a write that
// the index holds back.
func (f *armed) onIndex(about target.Target) bool {
	if f.Effect.ByIndex == "" {
		return f.Index == "" || f.Index == about.Index
	}
	names, _ := f.tables.GlobalIndexes(about.Table)
	return !about.Read && slices.Contains(names, f.Effect.ByIndex)
}

// appliesTo reports whether the fault can affect a target: for example, a read
// outside of a transaction cannot have a conflict.
func (f *Fault) appliesTo(op string, about target.Target) bool {
	return f.Effect.Kind != Conflict || !about.Read || is(op, api.Transaction)
}

// contains reports whether a key has all attributes of another.
func contains(key, part attr.Map) bool {
	for _, want := range part {
		if v, ok := key.Get(want.Name); !ok || !v.Equal(want.Value) {
			return false
		}
	}
	return true
}

// due counts a request that matches, and reports whether the fault disturbs it.
func (f *armed) due(c call, hit []bool) bool {
	f.matched++
	spared := f.Chance > 0 && f.draw(c, hit) >= f.Chance
	return f.matched >= f.Nth && (f.Times < 0 || f.fired < f.Times) && !spared
}

// draw returns the chance of the n-th request about the same thing. It does not
// depend on other requests in the meantime.
func (f *armed) draw(c call, hit []bool) float64 {
	var items []string
	for i, about := range c.targets {
		if hit[i] {
			items = append(items, fmt.Sprintf("\x00%s\x00%s\x00%s", about.Table, about.Index, about.Key.AppendJSON(nil)))
		}
	}

	slices.Sort(items) // the SDK sends the tables of a batch in any order
	h := fnv.New64a()
	io.WriteString(h, f.Effect.Kind.String()+c.op) // two effects with one seed do not draw alike

	for _, item := range items {
		io.WriteString(h, item)
	}

	what := h.Sum64()
	f.met[what]++
	// Not Seed + met: the next seed would have the same draws, one request later.
	return rand.New(rand.NewPCG(f.Seed, what+f.met[what])).Float64()
}

// sees returns a call as the fault sees it. A server in this process knows which
// attributes make a key. For another backend only the fault's own Key says so.
func (f *armed) sees(c call, req api.Request) call {
	if f.tables == nil && f.Key != nil {
		c.targets = target.Elsewhere(req, names(f.Key)...)
	}
	return c
}

func names(key attr.Map) []string {
	var all []string
	for _, field := range key {
		all = append(all, field.Name)
	}
	return all
}
