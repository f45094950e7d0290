package histories_test

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"

	"github.com/homeops/ddbpatterns/activity"
	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/message"
	"github.com/homeops/ddbpatterns/record"
	"github.com/homeops/ddbpatterns/schema"
)

// Random data and random filters of activity and message, against a model of
// what a comparison means.
func TestFilters(t *testing.T) {
	t.Parallel()
	for seed := *first; seed < *first+uint64(*count); seed++ {
		f := newFilters(t, rand.New(rand.NewPCG(seed, 0)))
		for range 10 {
			if complaint := f.ask(t.Context()); complaint != "" {
				t.Fatalf("%s\nafter %d histories; again:\n  scripts/histories -seed %d -n 1 filters", complaint, seed-*first+1, seed)
			}
		}
	}
}

// filters are rows of both packages, with the same data.
type filters struct {
	rnd  *rand.Rand
	acts *activity.Store
	msgs *message.Store
	data []map[string]any // by Seq, less 1
}

func newFilters(t *testing.T, rnd *rand.Rand) *filters {
	db := dynamotest.NewServer(nil).Client()
	f := &filters{rnd: rnd}
	var err error
	if f.acts, err = activity.New(db, "activities", nil); err != nil {
		t.Fatal(err)
	}
	if f.msgs, err = message.New(db, "messages", nil); err != nil {
		t.Fatal(err)
	}
	if err := schema.Create(t.Context(), db, f.acts.Table(), f.msgs.Table()); err != nil {
		t.Fatal(err)
	}
	for i := range 25 {
		data := map[string]any{}
		for range rnd.IntN(4) {
			data[f.name()] = f.value()
		}
		f.data = append(f.data, data)
		seq := int64(i + 1)
		_, err := f.acts.Record(t.Context(), activity.Activity{
			Scope: "chat", Actor: f.actor(i), Event: numbered(i), Name: "order", Kind: f.kind(i), Seq: seq, Data: data,
		})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.msgs.Save(t.Context(), message.Message{Scope: "chat", Seq: seq, Actor: f.actor(i), At: when(i), Data: data}); err != nil {
			t.Fatal(err)
		}
	}
	return f
}

func (f *filters) actor(i int) string { return strconv.Itoa(1 + i%2) }
func (f *filters) kind(i int) string  { return []string{"sale", "", "refund"}[i%3] }
func (f *filters) name() string {
	return pick(f.rnd, []string{"cents", "to.city", "to[0]", "#0", "data", "åäö"})
}

// value returns a text, a flag, or a number in one of many forms. Many are equal
// in different forms.
func (f *filters) value() any {
	return pick(f.rnd, []any{
		"", "10", "9", "Lund", "lund", "Lund ", "å", "\U0001f600", true, false,
		10, int8(10), uint64(10), 10.0, float32(10), json.Number("1e1"), attributevalue.Number("10.00"), attributevalue.Number("1E+1"),
		9, -9, 0, attributevalue.Number("-0"), 0.1, float32(0.1), attributevalue.Number("0.10"), -0.1, 1e-100, 1e100,
		attributevalue.Number("12345678901234567890123456789012345678"), attributevalue.Number("12345678901234567890123456789012345677"),
		int64(1) << 62, 1 << 53, 1<<53 + 1,
	})
}

// compare compares two values, and is false if they cannot be compared.
func compare(a, b any) (int, bool) {
	switch a := a.(type) {
	case string:
		b, ok := b.(string)
		return cmp.Compare(a, b), ok
	case bool:
		b, ok := b.(bool)
		return cmp.Compare(fmt.Sprint(a), fmt.Sprint(b)), ok
	}
	switch b.(type) {
	case string, bool:
		return 0, false
	}
	return rational(a).Cmp(rational(b)), true
}

func rational(v any) *big.Rat {
	r, ok := new(big.Rat).SetString(fmt.Sprint(v)) // of a float, the fewest digits that give it back
	if !ok {
		panic(fmt.Sprint(v))
	}
	return r
}

// meets reports whether the data meets the comparison.
func meets(data map[string]any, c record.Compare) bool {
	stored, ok := data[c.Name]
	if !ok {
		return false
	}
	order, ok := compare(stored, c.Value)
	if !ok {
		return false
	}
	switch c.Op {
	case "<":
		return order < 0
	case "<=":
		return order <= 0
	case ">":
		return order > 0
	case ">=":
		return order >= 0
	}
	return order == 0
}

// ask asks for the rows that meet a random filter, in walks, in pages and as a
// count, and says what is wrong with the answers.
func (f *filters) ask(ctx context.Context) string {
	var data []record.Compare
	for range f.rnd.IntN(3) {
		c := record.Compare{Name: f.name(), Op: pick(f.rnd, []string{"", "=", "<", "<=", ">", ">="}), Value: f.value()}
		if _, flag := c.Value.(bool); flag {
			c.Op = "" // a flag has no order
		}
		data = append(data, c)
	}
	match := activity.Match{Data: data}
	if f.rnd.IntN(3) == 0 {
		match.Actor = f.actor(f.rnd.IntN(2))
	}
	said := message.Match{Actor: match.Actor}
	for _, c := range data {
		said.Data = append(said.Data, record.Compare(c))
	}
	if f.rnd.IntN(4) == 0 {
		match.Kind = pick(f.rnd, []string{"sale", "refund"})
	}
	var recorded, saved []int64
	for i, have := range f.data {
		fits := !slices.ContainsFunc(data, func(c record.Compare) bool { return !meets(have, c) })
		if !fits || match.Actor != "" && match.Actor != f.actor(i) {
			continue
		}
		saved = append(saved, int64(i+1))
		if match.Kind == "" || match.Kind == f.kind(i) {
			recorded = append(recorded, int64(i+1))
		}
	}
	bound, limit := f.rnd.IntN(8), f.rnd.IntN(6) // of a part: rows that it reads, and that it has
	for name, answer := range map[string]struct {
		want []int64
		got  func() ([]int64, error)
	}{
		"activity.InScope": {recorded, func() ([]int64, error) { return f.walk(ctx, activity.Range{Match: match}) }},
		"activity.InScope, in parts": {recorded, func() ([]int64, error) {
			return f.walk(ctx, activity.Range{Match: match, ReadAtMost: bound, Limit: limit})
		}},
		"message.InScope": {saved, func() ([]int64, error) { return f.said(ctx, message.Range{Match: said}) }},
		"message.InScope, in parts": {saved, func() ([]int64, error) {
			return f.said(ctx, message.Range{Match: said, ReadAtMost: bound, Limit: limit})
		}},
	} {
		if got, err := answer.got(); err != nil || !slices.Equal(got, answer.want) {
			return fmt.Sprintf("%s of %+v: %v, %v, want %v\nof %v", name, match, got, err, answer.want, f.data)
		}
	}
	if n, err := f.acts.Count(ctx, activity.Filter{Scope: "chat", Match: match}); n != len(recorded) || err != nil {
		return fmt.Sprintf("activity.Count of %+v: %d, %v, want %d", match, n, err, len(recorded))
	}
	return ""
}

func (f *filters) walk(ctx context.Context, r activity.Range) (all []int64, _ error) {
	r.Next = &r.Cursor
	for more := true; more; more = r.Cursor != "" {
		for a, err := range f.acts.InScope(ctx, "chat", r) {
			if err != nil {
				return all, err
			}
			all = append(all, a.Seq)
		}
	}
	return all, nil
}

func (f *filters) said(ctx context.Context, r message.Range) (all []int64, _ error) {
	r.Next = &r.Cursor
	for more := true; more; more = r.Cursor != "" {
		for m, err := range f.msgs.InScope(ctx, "chat", r) {
			if err != nil {
				return all, err
			}
			all = append(all, m.Seq)
		}
	}
	return all, nil
}
