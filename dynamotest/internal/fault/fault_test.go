package fault_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/homeops/ddbpatterns/dynamotest/internal/api"
	"github.com/homeops/ddbpatterns/dynamotest/internal/attr"
	"github.com/homeops/ddbpatterns/dynamotest/internal/fault"
	"github.com/homeops/ddbpatterns/dynamotest/internal/keys"
	"github.com/homeops/ddbpatterns/dynamotest/internal/target"
)

// tables are "orders", whose key is customer and number, and "others", whose key is
// id. Orders have the global index by-day.
type tables struct{}

func (tables) KeyParts(table string) []keys.Part {
	return map[string][]keys.Part{
		"orders": {{Name: "customer", Kind: attr.S}, {Name: "number", Kind: attr.S}},
		"others": {{Name: "id", Kind: attr.S}},
	}[table]
}

func (tables) GlobalIndexes(table string) ([]string, bool) {
	return map[string][]string{"orders": {"by-day"}}[table], table == "orders" || table == "others"
}

func order(customer, number string) attr.Map {
	return attr.NewMap(attr.Field{Name: "customer", Value: attr.String(customer)}, attr.Field{Name: "number", Value: attr.String(number)})
}

// write and read return targets in orders.
func write(customer string) target.Target {
	return target.Target{Table: "orders", Key: order(customer, "1")}
}

func read(customer string) target.Target {
	about := write(customer)
	about.Read = true
	return about
}

func kind(k fault.Kind) fault.Effect { return fault.Effect{Kind: k} }

// armed is a set with faults, in a server of this process.
func armed(t *testing.T, faults ...fault.Fault) *fault.Set {
	t.Helper()
	set := fault.NewSet(tables{})
	for _, f := range faults {
		if err := set.Add(f); err != nil {
			t.Fatal(err)
		}
	}
	return set
}

// answers returns the effects that answer a number of writes of one order, one
// after the other.
func answers(set *fault.Set, requests int) string {
	var out []string
	for range requests {
		answer := "-"
		if r := set.Server("PutItem", []target.Target{write("ann")}); r.Answer != nil {
			answer = r.Answer.String()
		}
		out = append(out, answer)
	}
	return strings.Join(out, " ")
}

func TestWhichRequestsAreDisturbed(t *testing.T) {
	t.Parallel()
	const u = "Unavailable"
	for _, tt := range []struct {
		name  string
		fault fault.Fault
		want  string
	}{
		{"the first", fault.Fault{}, u + " - - -"},
		{"the second", fault.Fault{Nth: 2}, "- " + u + " - -"},
		{"two from the second on", fault.Fault{Nth: 2, Times: 2}, "- " + u + " " + u + " -"},
		{"all", fault.Fault{Times: -1}, u + " " + u + " " + u + " " + u},
		{"certain", fault.Fault{Chance: 1}, u + " " + u + " " + u + " " + u},
		{"next to impossible", fault.Fault{Chance: 1e-9, Seed: 1}, "- - - -"},
		{"of the table", fault.Fault{Table: "orders"}, u + " - - -"},
		{"of another table", fault.Fault{Table: "others"}, "- - - -"},
		{"of the item", fault.Fault{Key: order("ann", "1")}, u + " - - -"},
		{"of the partition", fault.Fault{Key: order("ann", "1").Pick("customer")}, u + " - - -"},
		{"of another item", fault.Fault{Key: order("ann", "2")}, "- - - -"},
		{"of another key", fault.Fault{Key: attr.NewMap(attr.Field{Name: "id", Value: attr.String("ann")})}, "- - - -"},
		{"of another operation", fault.Fault{Op: "DeleteItem"}, "- - - -"},
	} {
		tt.fault.Effect = kind(fault.Unavailable)
		set := armed(t, tt.fault)
		if got := answers(set, 4); got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.name, got, tt.want)
		}
		if idle := set.Heal(); (len(idle) == 1) != !strings.Contains(tt.want, u) {
			t.Errorf("%s: idle faults: %q", tt.name, idle)
		}
	}
}

// A draw depends on what the request is about, and not on other requests.
func TestDraws(t *testing.T) {
	t.Parallel()
	run := func(between int) (refused []bool) {
		set := armed(t, fault.Fault{Effect: kind(fault.Unavailable), Chance: 0.5, Seed: 7})
		for range 40 {
			for range between {
				set.Server("PutItem", []target.Target{write("bo")})
			}
			refused = append(refused, set.Server("PutItem", []target.Target{write("ann")}).Answer != nil)
		}
		return refused
	}
	alone := run(0)
	if !slices.Contains(alone, true) || !slices.Contains(alone, false) {
		t.Errorf("drawn: %v", alone)
	}
	if diff := cmp.Diff(alone, run(3)); diff != "" {
		t.Errorf("others make a difference:\n%s", diff)
	}
}

func TestAReadMeetsNoConflict(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		op    string
		about target.Target
		want  bool
	}{
		{"ExecuteStatement", write("ann"), true},
		{"ExecuteStatement", read("ann"), false},
		{"TransactGetItems", read("ann"), true},
		{"GetItem", read("ann"), false},
	} {
		set := armed(t, fault.Fault{Effect: kind(fault.Conflict)})
		if got := set.Server(tt.op, []target.Target{tt.about}).Answer != nil; got != tt.want {
			t.Errorf("%s: %v", tt.op, got)
		}
	}
}

// The last of the entries that match are refused, each by one fault.
func TestEntriesAreRefused(t *testing.T) {
	t.Parallel()
	one := fault.Fault{Effect: fault.Effect{Kind: fault.Unprocessed, Last: 1}}
	batch := []target.Target{write("ann"), write("bo"), write("cy")}
	set := armed(t, one, fault.Fault{Effect: kind(fault.Throttle), Key: order("cy", "1")}, one)
	got := set.Server("BatchWriteItem", batch)
	var refused []string
	for _, effect := range got.Refuse {
		if effect == nil {
			refused = append(refused, "-")
			continue
		}
		refused = append(refused, effect.String())
	}
	if diff := cmp.Diff([]string{"-", "Unprocessed", "Unprocessed"}, refused); diff != "" || got.Answer != nil {
		t.Error(diff, got.Answer)
	}
	got.Refused(api.ValidationException) // the batch was invalid: nothing has fired
	if idle := set.Heal(); len(idle) != 3 {
		t.Errorf("idle faults: %q", idle)
	}
}

func TestOnTheWay(t *testing.T) {
	t.Parallel()
	loses := func(k fault.Kind) *fault.Effect { return &fault.Effect{Kind: k} }
	late := fault.Fault{Effect: fault.Effect{Kind: fault.DelayReply, Wait: time.Second}}
	early := fault.Fault{Effect: fault.Effect{Kind: fault.Delay, Wait: time.Minute}}
	req := target.Decode("PutItem", []byte(`{"TableName":"orders","Item":{"customer":{"S":"ann"},"number":{"S":"1"}}}`))
	for _, tt := range []struct {
		name   string
		faults []fault.Fault
		want   fault.Passage
		idle   int
	}{
		{"delays add up", []fault.Fault{late, early, late}, fault.Passage{Before: fault.Waiting{Delay: time.Minute}, After: fault.Waiting{Delay: 2 * time.Second}}, 0},
		{"a reply is late and lost", []fault.Fault{late, {Effect: kind(fault.LoseReply)}}, fault.Passage{Fate: loses(fault.LoseReply), After: fault.Waiting{Delay: time.Second}}, 0},
		{"a lost request has no reply", []fault.Fault{late, {Effect: kind(fault.LoseRequest)}}, fault.Passage{Fate: loses(fault.LoseRequest)}, 1},
		{"the first loses it", []fault.Fault{{Effect: kind(fault.LoseReply)}, {Effect: kind(fault.LoseRequest)}}, fault.Passage{Fate: loses(fault.LoseReply)}, 1},
		{"a server's fault", []fault.Fault{{Effect: kind(fault.Unavailable)}}, fault.Passage{}, 1},
	} {
		set := armed(t, tt.faults...)
		if diff := cmp.Diff(tt.want, set.Transport("PutItem", req)); diff != "" {
			t.Errorf("%s: %s", tt.name, diff)
		}
		if idle := set.Heal(); len(idle) != tt.idle {
			t.Errorf("%s: idle faults: %q", tt.name, idle)
		}
	}
}

// If no table is known, the faults' own Keys define the key of an item.
func TestElsewhere(t *testing.T) {
	t.Parallel()
	put := func(customer, at string) api.Request {
		return target.Decode("PutItem", []byte(`{"TableName":"orders","Item":{"at":{"S":"`+at+`"},"customer":{"S":"`+customer+`"},"number":{"S":"1"}}}`))
	}
	run := func(now string) (lost []bool) {
		set := fault.NewSet(nil)
		if err := set.Add(fault.Fault{Effect: kind(fault.LoseReply), Key: order("ann", "1"), Chance: 0.5}); err != nil {
			t.Fatal(err)
		}
		for range 20 {
			lost = append(lost, set.Transport("PutItem", put("ann", now)).Fate != nil)
			if set.Transport("PutItem", put("bo", now)).Fate != nil {
				t.Error("another item is lost")
			}
		}
		return lost
	}
	first := run("noon")
	if diff := cmp.Diff(first, run("midnight")); diff != "" || !slices.Contains(first, true) {
		t.Errorf("what is no part of the key is part of the draw: %v\n%s", first, diff)
	}
}

// The draws of a seed are not those of the next one, one request later, and two effects with
// one seed draw by themselves. Each disturbs its share of the requests.
func TestDrawsOfSeeds(t *testing.T) {
	t.Parallel()
	const requests = 2000
	run := func(k fault.Kind, seed uint64) (fired []bool) {
		set := armed(t, fault.Fault{Effect: kind(k), Chance: 0.3, Seed: seed})
		for range requests {
			fired = append(fired, set.Server("PutItem", []target.Target{write("ann")}).Answer != nil)
		}
		return fired
	}
	alike := func(a, b []bool) (n int) {
		for i := range min(len(a), len(b)) {
			if a[i] == b[i] {
				n++
			}
		}
		return n
	}
	one := run(fault.Unavailable, 7)
	for name, other := range map[string][]bool{
		"the next seed": run(fault.Unavailable, 8), "the next seed, a request later": append(one[:1:1], run(fault.Unavailable, 8)...),
		"the seed before, a request later": append(one[:1:1], run(fault.Unavailable, 6)...), "another effect": run(fault.InternalError, 7),
	} {
		if n := alike(one, other); n < requests*50/100 || n > requests*66/100 { // 58 % by chance
			t.Errorf("%s: %d of %d draws are alike", name, n, requests)
		}
	}
	for seed := range uint64(100) {
		n := alike(run(fault.Unavailable, seed), make([]bool, requests))
		if n < requests*65/100 || n > requests*75/100 {
			t.Errorf("seed %d: %d of %d are spared, want some 70 %%", seed, n, requests)
		}
	}
}

// The SDK sends the tables of a batch in any order.
func TestDrawsOfABatchInAnyOrder(t *testing.T) {
	t.Parallel()
	batch := []target.Target{write("ann"), write("bo"), write("cy")}
	run := func(turn func([]target.Target)) (refused []bool) {
		set := armed(t, fault.Fault{Effect: kind(fault.Unavailable), Chance: 0.5, Seed: 7})
		for range 40 {
			turn(batch)
			refused = append(refused, set.Server("BatchWriteItem", slices.Clone(batch)).Answer != nil)
		}
		return refused
	}
	if diff := cmp.Diff(run(func([]target.Target) {}), run(slices.Reverse[[]target.Target])); diff != "" {
		t.Errorf("the order makes a difference:\n%s", diff)
	}
}

// A draw follows from the items that the request names. It does not depend on which
// part of their keys the fault names, or on other faults.
func TestDrawsElsewhere(t *testing.T) {
	t.Parallel()
	ofAnn := attr.NewMap(attr.Field{Name: "customer", Value: attr.String("ann")})
	number := attr.NewMap(attr.Field{Name: "number", Value: attr.String("9")})
	run := func(key attr.Map, op, first, second string, others ...fault.Fault) (lost []bool) {
		set := fault.NewSet(nil)
		for _, f := range append([]fault.Fault{{Effect: kind(fault.LoseReply), Key: key, Chance: 0.5, Seed: 7}}, others...) {
			if err := set.Add(f); err != nil {
				t.Fatal(err)
			}
		}
		for range 40 {
			lost = append(lost, set.Transport(op, target.Decode(op, []byte(first))).Fate != nil)
			if second != "" {
				set.Transport(op, target.Decode(op, []byte(second)))
			}
		}
		return lost
	}
	get := func(number string) string {
		return `{"TableName":"orders","Key":{"customer":{"S":"ann"},"number":{"S":"` + number + `"}}}`
	}
	if diff := cmp.Diff(run(ofAnn, "GetItem", get("1"), ""), run(ofAnn, "GetItem", get("1"), get("2"))); diff != "" {
		t.Errorf("another item of the partition makes a difference:\n%s", diff)
	}
	const update = `{"Statement":"UPDATE orders SET v = 1 WHERE customer = 'ann' AND number = '1'"}`
	other := fault.Fault{Effect: fault.Effect{Kind: fault.Delay, Wait: time.Second}, Key: number}
	if diff := cmp.Diff(run(nil, "ExecuteStatement", update, ""), run(nil, "ExecuteStatement", update, "", other)); diff != "" {
		t.Errorf("another fault makes a difference:\n%s", diff)
	}
}

// An index holds back writes of items only: a request about the table as a whole
// passes.
func TestAnIndexHoldsNoTableBack(t *testing.T) {
	t.Parallel()
	held := fault.Fault{Effect: fault.Effect{Kind: fault.Throttle, ByIndex: "by-day"}}
	for _, op := range api.Operations(0) {
		about := target.Target{Table: "orders", Read: api.OperationNamed(op).Has(api.Reads)}
		writes := api.OperationNamed(op).Has(api.Writes) || api.OperationNamed(op).Has(api.Statements)
		got := armed(t, held).Server(op, []target.Target{about})
		if (got.Answer != nil || got.Refuse != nil) != writes {
			t.Errorf("%s: held back is %v, want %v", op, !writes, writes)
		}
	}
}

// A hint is given only if no table that passed fits the fault.
func TestHints(t *testing.T) {
	t.Parallel()
	id := attr.NewMap(attr.Field{Name: "id", Value: attr.String("x")})
	const lacks = "the key of orders is customer, number, without id"
	for _, tt := range []struct {
		targets []target.Target
		want    bool
	}{
		{[]target.Target{write("ann")}, true},
		{[]target.Target{write("ann"), {Table: "others", Key: attr.NewMap(attr.Field{Name: "id", Value: attr.String("y")})}}, false},
	} {
		set := armed(t, fault.Fault{Effect: kind(fault.Unavailable), Key: id})
		set.Server("TransactWriteItems", tt.targets)
		if idle := set.Heal(); len(idle) != 1 || strings.Contains(idle[0], lacks) != tt.want {
			t.Errorf("%v: %q", tt.targets, idle)
		}
	}
}

func TestFaultsThatNoRequestMeets(t *testing.T) {
	t.Parallel()
	for want, f := range map[string]fault.Fault{
		"Chance 2 is not":    {Effect: kind(fault.LoseReply), Chance: 2},
		"Chance -1 is not":   {Effect: kind(fault.LoseReply), Chance: -1},
		`operation "PutItm"`: {Effect: kind(fault.LoseReply), Op: "PutItm"},
		`operation "GetItm"`: {Effect: kind(fault.Unavailable), Op: "GetItm"},
	} {
		if err := fault.NewSet(tables{}).Add(f); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want … %s …", err, want)
		}
	}
	elsewhere := fault.NewSet(nil)
	if err := elsewhere.Add(fault.Fault{Effect: kind(fault.LoseReply), Op: "OfTomorrow"}); err != nil {
		t.Errorf("what another backend has is not known: %v", err)
	}
	if err := elsewhere.Add(fault.Fault{Effect: kind(fault.Throttle)}); err == nil || !strings.Contains(err.Error(), "needs a server in this process") {
		t.Errorf("%v", err)
	}
}
