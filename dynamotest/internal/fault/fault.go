package fault

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/homeops/ddbpatterns/dynamotest/internal/api"
	"github.com/homeops/ddbpatterns/dynamotest/internal/attr"
	"github.com/homeops/ddbpatterns/dynamotest/internal/keys"
)

// Tables are the tables of a server in this process, as far as faults need
// them.
type Tables interface {
	// KeyParts returns the attributes of a table's key, the hash part first, or nil
	// if the table does not exist.
	KeyParts(table string) []keys.Part
	// GlobalIndexes returns the names of a table's global indexes, and reports
	// whether the table exists.
	GlobalIndexes(table string) (names []string, ok bool)
}

// A Fault is an effect and a description of the requests that it concerns.
// Empty fields match everything.
type Fault struct {
	Effect Effect

	Op, Table, Index string
	Key              attr.Map

	Nth, Times int
	Chance     float64
	Seed       uint64
}

// String describes the requests that the fault matches.
func (f *Fault) String() string {
	text := f.Effect.Kind.String()
	if f.Effect.Code != "" {
		text += " as " + f.Effect.Code
	}

	if f.Effect.ByIndex != "" {
		text += " by index " + f.Effect.ByIndex
	}

	text += fmt.Sprintf(" on request %d", cmp.Or(f.Nth, 1))
	for _, part := range []struct{ name, value string }{{"Op", f.Op}, {"Table", f.Table}, {"Index", f.Index}} {
		if part.value != "" {
			text += " of " + part.name + " " + part.value
		}
	}

	for _, field := range f.Key {
		text += " with " + field.Name
	}

	if f.Chance > 0 {
		text += fmt.Sprintf(" by a chance of %g", f.Chance)
	}
	return text
}

// is reports whether the named operation has the traits.
func is(op string, traits api.Trait) bool { return api.OperationNamed(op).Has(traits) }

// check refuses a fault that no request could meet, and fills in the defaults.
func (f *Fault) check(inProcess bool) error {
	if f.Effect.Kind == 0 {
		return fmt.Errorf("dynamotest: fault: it has no Do")
	}

	f.Table = api.TableNameOf(f.Table)
	if wrong := cmp.Or(f.Effect.wrong(), f.wrongCount(), f.wrongOp(inProcess), f.wrongTarget(), f.wrongIndex(), f.wrongThrottle()); wrong != "" {
		return fmt.Errorf("dynamotest: fault %v: %s", f.Effect.Kind, wrong)
	}
	if f.Effect.OfServer() && !inProcess {
		return fmt.Errorf("dynamotest: fault %v needs a server in this process: this backend answers for itself", f.Effect.Kind)
	}

	if f.Nth == 0 {
		f.Nth = 1
	}

	if f.Times == 0 {
		f.Times = 1
		if f.Chance > 0 {
			f.Times = -1
		}
	}
	return nil
}

func (f *Fault) wrongCount() string {
	switch {
	case !(f.Chance >= 0 && f.Chance <= 1):
		return fmt.Sprintf("Chance %g is not a probability", f.Chance)
	case f.Nth < 0 || f.Times < -1:
		return "Nth and Times must not be negative, except for Times -1"
	}
	return ""
}

// wrongOp returns why no request could be of the operation. The operations of
// another backend are not known here.
func (f *Fault) wrongOp(inProcess bool) string {
	switch {
	case f.Op == "":
		return ""
	case (inProcess || f.Effect.OfServer()) && api.OperationNamed(f.Op) == nil:
		return fmt.Sprintf("there is no operation %q", f.Op)
	case f.Effect.Kind == Conflict && !is(f.Op, api.Conflicts):
		return f.Op + " meets no Conflict"
	case f.Effect.Kind == Unprocessed && !is(f.Op, api.Batch):
		return f.Op + " is not a batch"
	case f.Table != "" && is(f.Op, api.NamesNoTable):
		return f.Op + " names no table, so no Table finds it"
	}
	return ""
}

// wrongTarget returns why no request could be about what the fault names.
func (f *Fault) wrongTarget() string {
	switch {
	case f.Key != nil && f.Op != "" && !api.OperationNamed(f.Op).NamesItems():
		return f.Op + " names no items, so no Key finds it"
	case strings.HasPrefix(f.Table, "arn:"):
		return fmt.Sprintf("Table %q is an ARN, but not that of a table", f.Table)
	case strings.Contains(f.Table, "/"):
		return fmt.Sprintf("Table %q: a table has no slash; Index names an index", f.Table)
	}
	return ""
}

// wrongIndex returns why no request could read the index.
func (f *Fault) wrongIndex() string {
	switch {
	case strings.ContainsAny(f.Index+f.Effect.ByIndex, "/:"):
		return fmt.Sprintf("Index %q: give its own name, and its table's in Table", cmp.Or(f.Index, f.Effect.ByIndex))
	case f.Index == "":
		return ""
	case f.Effect.ByIndex != "":
		return "Index finds reads and ByIndex throttles writes: no request is both"
	case f.Key != nil:
		return "a request to an index names no items, so no Key finds it"
	case f.Effect.Kind == Conflict || f.Effect.Kind == Unprocessed:
		return "transactions and batches read no Index"
	case f.Op != "" && !is(f.Op, api.ReadsIndex):
		return f.Op + " reads no index, so no Index finds it"
	}
	return ""
}

// wrongThrottle returns why no request of the operation could be throttled as
// the fault asks.
func (f *Fault) wrongThrottle() string {
	switch {
	case f.Op == "":
		return ""
	case f.Effect.ByIndex != "" && !is(f.Op, api.Writes) && !is(f.Op, api.Statements):
		return f.Op + " writes no items, so no index holds it back"
	case f.Effect.Code != "" && !is(f.Op, api.Consumes):
		return f.Op + " consumes no capacity: Throttle has no code there"
	}
	return ""
}
