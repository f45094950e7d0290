package dynamotest

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/homeops/ddbpatterns/dynamotest/internal/api"
	"github.com/homeops/ddbpatterns/dynamotest/internal/target"
)

// capacityHeader carries the price of this server's reply, even of a refusal, in
// the form of ConsumedCapacity. A reply has the header if its request has it.
const capacityHeader = "X-Dynamotest-Capacity"

// now is the wall clock of the process; inside a synctest bubble it is the
// bubble's.
var now = time.Now

// Units are capacity units.
type Units struct{ RCU, WCU float64 }

func (u Units) add(v Units) Units { return Units{u.RCU + v.RCU, u.WCU + v.WCU} }

// Cost is what a span of calls cost.
type Cost struct {
	// Requests counts every attempt that was sent, retries included.
	Requests int
	// Depth is the number of dependent round trips: the length of the longest
	// chain of requests in which each request was sent after the previous
	// request was answered. Concurrent requests that happen not to overlap in
	// time count as a chain, as in process, where a request takes microseconds.
	// To count them correctly set [Config].Latency, best in a synctest bubble.
	Depth int
	Units
	// ByTable and ByIndex break the units down. The keys of ByIndex have the
	// form "table/index". The units of an index also count in ByTable, for the
	// index's table.
	ByTable map[string]Units
	ByIndex map[string]Units
	// ByOp counts requests by operation.
	ByOp map[string]int
	// RequestsByTable counts the priced requests by table. A request to two
	// tables counts for both.
	RequestsByTable map[string]int
	// Unpriced counts the requests for which the backend reported no price:
	// requests that a fault kept from taking effect, or that cost nothing, such as
	// CreateTable. On a backend that is not this server, Unpriced also counts
	// requests that the backend refused or did not answer, and requests whose caller
	// has set ReturnConsumedCapacity to NONE. DynamoDB Local reports no price for
	// PartiQL.
	Unpriced int
}

// Price is the total that a call is expected to cost. To check only a part of a
// [Cost], compare that part directly:
//
//	if got := cost.ByIndex["orders/by-day"]; got != (dynamotest.Units{WCU: 1}) {
//		t.Errorf("the index took %v", got)
//	}
type Price struct {
	Requests int
	RCU, WCU float64
}

// String writes "2 requests, 1 RCU, 1 WCU".
func (p Price) String() string {
	text := fmt.Sprintf("%d request", p.Requests)
	if p.Requests != 1 {
		text += "s"
	}
	if p.RCU != 0 {
		text += fmt.Sprintf(", %g RCU", p.RCU)
	}
	if p.WCU != 0 {
		text += fmt.Sprintf(", %g WCU", p.WCU)
	}
	return text
}

// Price returns the cost without its breakdown.
func (c Cost) Price() Price { return Price{c.Requests, c.RCU, c.WCU} }

// Want fails the test unless the cost equals the price. The message lists the
// requests by operation, and the units by table and index.
func (c Cost) Want(t testing.TB, want Price) {
	t.Helper()
	if c.Price() != want {
		t.Errorf("cost: want %v, got %v", want, c)
	}
}

// String writes the cost and its breakdown, a line for each operation, table
// and index.
func (c Cost) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%v, %d deep", c.Price(), c.Depth)
	if c.Unpriced > 0 {
		fmt.Fprintf(&b, ", %d unpriced", c.Unpriced)
	}

	for _, op := range slices.Sorted(maps.Keys(c.ByOp)) {
		fmt.Fprintf(&b, "\n  %s ×%d", op, c.ByOp[op])
	}

	for _, table := range slices.Sorted(maps.Keys(c.ByTable)) {
		fmt.Fprintf(&b, "\n  table %s: %g RCU, %g WCU", table, c.ByTable[table].RCU, c.ByTable[table].WCU)
	}

	for _, index := range slices.Sorted(maps.Keys(c.ByIndex)) {
		fmt.Fprintf(&b, "\n  index %s: %g RCU, %g WCU", index, c.ByIndex[index].RCU, c.ByIndex[index].WCU)
	}
	return b.String()
}

// Meter adds up the cost of the requests of a context: see [WithMeter].
type Meter struct {
	outer *Meter // the meter of the parent context

	mu    sync.Mutex // guards the fields below
	cost  Cost
	spans []span
}

type span struct{ from, to time.Time }

type meterKey struct{}

// Meter runs f and returns the cost of all requests that passed the Tap while f
// ran, from any goroutine. [WithMeter] counts only the requests of one context.
func (t *Tap) Meter(f func()) Cost {
	m := newMeter(nil)
	t.mu.Lock()
	t.meters = append(t.meters, m)
	t.mu.Unlock()
	defer func() {
		t.mu.Lock()
		t.meters = slices.DeleteFunc(t.meters, func(other *Meter) bool { return other == m })
		t.mu.Unlock()
	}()
	f()
	return m.Cost()
}

// WithMeter returns a context and its Meter. The Meter adds up the cost of all
// requests that are sent with this context through any Tap. Meters nest: a
// request with an inner context counts in the outer Meter as well.
func WithMeter(ctx context.Context) (context.Context, *Meter) {
	outer, _ := ctx.Value(meterKey{}).(*Meter)
	m := newMeter(outer)
	return context.WithValue(ctx, meterKey{}, m), m
}

func newMeter(outer *Meter) *Meter {
	return &Meter{outer: outer, cost: Cost{ByTable: map[string]Units{}, ByIndex: map[string]Units{}, ByOp: map[string]int{}, RequestsByTable: map[string]int{}}}
}

// Cost returns the cost of the requests so far.
func (m *Meter) Cost() Cost {
	m.mu.Lock()
	defer m.mu.Unlock()
	cost := m.cost
	cost.ByTable, cost.ByIndex, cost.ByOp = maps.Clone(cost.ByTable), maps.Clone(cost.ByIndex), maps.Clone(cost.ByOp)
	cost.RequestsByTable = maps.Clone(cost.RequestsByTable)
	cost.Depth = depth(m.spans)
	return cost
}

// depth takes the span that ends first, then the first to end of those that
// start after it, and so on: no chain is longer.
func depth(spans []span) int {
	ordered := slices.SortedFunc(slices.Values(spans), func(a, b span) int { return a.to.Compare(b.to) })
	chain, end := 0, time.Time{}
	for _, s := range ordered {
		if chain == 0 || !s.from.Before(end) {
			chain, end = chain+1, s.to
		}
	}
	return chain
}

// metered is a request that is being sent.
type metered struct {
	meters  []*Meter
	op      string
	reads   bool // its units are read units
	started time.Time
}

// priced returns the request with the header that asks this server for the price.
// The header is not signed, because other servers ignore it.
func priced(r *http.Request) *http.Request {
	own := r.WithContext(r.Context())
	own.Header = maps.Clone(r.Header)
	own.Header[capacityHeader] = []string{"1"}
	return own
}

// lost records a request without a reply.
func (r *metered) lost() { r.tell(nil) }

func (r *metered) tell(tables []consumed) {
	s := span{from: r.started, to: now()}
	for _, m := range r.meters {
		m.add(r, s, tables)
	}
}

func (m *Meter) add(r *metered, s span, tables []consumed) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.cost.Requests++
	m.cost.ByOp[r.op]++
	m.spans = append(m.spans, s)
	if len(tables) == 0 {
		m.cost.Unpriced++
	}

	counted := map[string]bool{}
	for _, table := range tables {
		units := table.units(r.reads)
		if !counted[table.TableName] { // other backends name a table once for each statement
			counted[table.TableName] = true
			m.cost.RequestsByTable[table.TableName]++
		}
		m.cost.Units = m.cost.add(units)
		m.cost.ByTable[table.TableName] = m.cost.ByTable[table.TableName].add(units)
		for name, index := range table.indexes() {
			path := table.TableName + "/" + name
			m.cost.ByIndex[path] = m.cost.ByIndex[path].add(index.units(r.reads))
		}
	}
}

// consumed is the ConsumedCapacity of a reply.
type consumed struct {
	TableName string
	consumedUnits
	GlobalSecondaryIndexes map[string]consumedUnits
	LocalSecondaryIndexes  map[string]consumedUnits
}

type consumedUnits struct {
	CapacityUnits      float64
	ReadCapacityUnits  *float64
	WriteCapacityUnits *float64
}

func (c consumed) indexes() map[string]consumedUnits {
	all := maps.Clone(c.GlobalSecondaryIndexes)
	if all == nil {
		return c.LocalSecondaryIndexes
	}
	maps.Copy(all, c.LocalSecondaryIndexes)
	return all
}

// units returns read and write units separately if the reply has both, as for a
// transaction; otherwise all units are of the request's kind.
func (c consumedUnits) units(reads bool) Units {
	switch {
	case c.ReadCapacityUnits != nil || c.WriteCapacityUnits != nil:
		return Units{RCU: value(c.ReadCapacityUnits), WCU: value(c.WriteCapacityUnits)}
	case reads:
		return Units{RCU: c.CapacityUnits}
	}
	return Units{WCU: c.CapacityUnits}
}

// readsOnly reports whether a request consumes read units. DynamoDB does not
// perform reads and writes in one request, so one statement decides for all.
func readsOnly(op string, req api.Request) bool {
	if row := api.OperationNamed(op); !row.Has(api.Statements) {
		return row.Has(api.Reads)
	}
	targets := target.Elsewhere(req)
	return slices.ContainsFunc(targets, func(t target.Target) bool { return t.Read })
}

func value(x *float64) float64 {
	if x == nil {
		return 0
	}
	return *x
}

// record reads the reply's capacity, puts its body back, and informs the
// meters.
func (r *metered) record(reply *http.Response) error {
	body, err := io.ReadAll(reply.Body)
	if err := cmp.Or(err, reply.Body.Close()); err != nil {
		r.lost() // it was sent, and its reply broke off
		return err
	}
	reply.Body = io.NopCloser(bytes.NewReader(body))
	r.tell(consumedBy(reply.Header.Get(capacityHeader), body))
	return nil
}

// consumedBy prefers the header of this server, because it has a price for
// refusals, too.
func consumedBy(header string, body []byte) []consumed {
	var tables []consumed
	if header != "" && json.Unmarshal([]byte(header), &tables) == nil {
		return tables
	}

	var reply struct{ ConsumedCapacity json.RawMessage }
	if json.Unmarshal(body, &reply) != nil || reply.ConsumedCapacity == nil {
		return nil
	}
	if json.Unmarshal(reply.ConsumedCapacity, &tables) == nil { // batches and transactions
		return tables
	}

	var table consumed
	if json.Unmarshal(reply.ConsumedCapacity, &table) != nil || table.TableName == "" {
		return nil // vector searches are paid by the byte
	}

	return []consumed{table}
}
