package post_test

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/homeops/ddbpatterns/examples/quill/fact"
	"github.com/homeops/ddbpatterns/examples/quill/outbox"
	"github.com/homeops/ddbpatterns/examples/quill/post"
	"github.com/homeops/ddbpatterns/examples/quill/powerbi/powerbitest"
)

// disclosed is a fact with the key that discloses the columns at so many minutes after
// noon.
func disclosed(key string, minute int, columns fact.Row) outbox.Stored {
	return outbox.Stored{Fact: fact.Fact{
		Key: key, Table: fact.Communications, At: noon.Add(time.Duration(minute) * time.Minute),
		Dimension: &fact.Dimension{Key: "C", Table: fact.Contacts, Row: columns},
	}}
}

func at(minute int, ms int) string {
	return fact.Time(noon.Add(time.Duration(minute)*time.Minute + time.Duration(ms)*time.Millisecond))
}

func TestLearn(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		batches [][]outbox.Stored
		want    []fact.Row
	}{
		{
			"changes of one batch in the order in which they happened",
			[][]outbox.Stored{{
				disclosed("a", 2, fact.Row{"stage": "won"}), disclosed("b", 1, fact.Row{"stage": "open", "email": "x"}), {Fact: call(1)}, {Fact: fact.Fact{Key: "none"}},
			}},
			[]fact.Row{
				{"key": "C", "validFrom": at(1, 0), "stage": "open", "email": "x"},
				{"key": "C", "validFrom": at(2, 0), "stage": "won", "email": "x"},
			},
		},
		{
			"nothing new makes no row, an older change neither",
			[][]outbox.Stored{
				{disclosed("a", 2, fact.Row{"stage": "won"})},
				{disclosed("a", 2, fact.Row{"stage": "won"})},
				{disclosed("b", 3, fact.Row{"stage": "won"})},
				{disclosed("c", 1, fact.Row{"stage": "open"})},
			},
			[]fact.Row{{"key": "C", "validFrom": at(2, 0), "stage": "won"}},
		},
		{
			"a column that was named again at a later time is that old only",
			[][]outbox.Stored{
				{disclosed("a", 1, fact.Row{"stage": "won"})},
				{disclosed("b", 3, fact.Row{"stage": "won"})},
				{disclosed("c", 2, fact.Row{"stage": "open"})},
			},
			[]fact.Row{{"key": "C", "validFrom": at(1, 0), "stage": "won"}},
		},
		{
			"an older change of another column stands in the last row",
			[][]outbox.Stored{
				{disclosed("a", 3, fact.Row{"stage": "won"})},
				{disclosed("b", 2, fact.Row{"email": "x"})},
				{disclosed("c", 1, fact.Row{"phone": "1"})},
			},
			[]fact.Row{
				{"key": "C", "validFrom": at(3, 0), "stage": "won"},
				{"key": "C", "validFrom": at(3, 1), "stage": "won", "email": "x"},
				{"key": "C", "validFrom": at(3, 2), "stage": "won", "email": "x", "phone": "1"},
			},
		},
		{
			"of two at one time the lesser key; columns of one time are one row",
			[][]outbox.Stored{
				{disclosed("b", 1, fact.Row{"stage": "b", "email": "x"}), disclosed("a", 1, fact.Row{"stage": "a"})},
				{disclosed("0", 1, fact.Row{"stage": "0"})},
			},
			[]fact.Row{{"key": "C", "validFrom": at(1, 0), "stage": "a", "email": "x"}},
		},
		{
			"what was emptied is news",
			[][]outbox.Stored{{disclosed("a", 1, fact.Row{"stage": ""})}, {disclosed("b", 2, fact.Row{"stage": "x"})}, {disclosed("c", 3, fact.Row{"stage": ""})}},
			[]fact.Row{
				{"key": "C", "validFrom": at(1, 0), "stage": ""},
				{"key": "C", "validFrom": at(2, 0), "stage": "x"},
				{"key": "C", "validFrom": at(3, 0), "stage": ""},
			},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			known := map[string]outbox.Known{}
			var rows []fact.Row
			for _, batch := range c.batches {
				for _, l := range post.Learn(known, batch) {
					known[l.Known.Key] = l.Known
					if l.Known.Key == "C" {
						rows = append(rows, l.Rows...)
					}
				}
				for _, l := range post.Learn(known, batch) {
					if len(l.Rows) > 0 || l.News {
						t.Errorf("the same batch once more is news: %+v", l)
					}
				}
			}
			if d := gocmp.Diff(c.want, rows); d != "" {
				t.Error(d)
			}
		})
	}
}

// Changes come in any order and in any batches. The last row of each contact is
// right: it has the latest change of each column.
func TestDimensionsInAnyOrder(t *testing.T) {
	t.Parallel()
	for seed := range uint64(12) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			rnd := rand.New(rand.NewPCG(seed, 2))
			e := open(t, powerbitest.Config{})
			var facts []fact.Fact
			for n := range 30 {
				f := call(n)
				f.At = noon.Add(time.Duration(n) * time.Second)
				f.Dimension = &fact.Dimension{Key: fmt.Sprint("C", rnd.IntN(2)), Table: fact.Contacts, Row: fact.Row{}}
				for _, column := range []string{"stage", "email", "phone"}[:1+rnd.IntN(3)] {
					f.Dimension.Row[column] = fmt.Sprint(rnd.IntN(3))
				}
				facts = append(facts, f)
			}
			want := truth(facts)
			rnd.Shuffle(len(facts), func(i, j int) { facts[i], facts[j] = facts[j], facts[i] })
			p := e.poster()
			for left := facts; len(left) > 0; {
				n := 1 + rnd.IntN(min(8, len(left)))
				e.put(left[:n]...)
				left = left[n:]
				e.drain(p)
			}
			e.wantOnce(facts...)
			for key, row := range e.latest(fact.Contacts) {
				for column, value := range want[key] {
					if row[column] != value {
						t.Errorf("%s: %s is %v, want %v", key, column, row[column], value)
					}
				}
			}
		})
	}
}

func truth(facts []fact.Fact) map[string]fact.Row {
	facts = slices.SortedFunc(slices.Values(facts), func(a, b fact.Fact) int { return cmp.Or(a.At.Compare(b.At)) })
	rows := map[string]fact.Row{}
	for _, f := range facts {
		if rows[f.Dimension.Key] == nil {
			rows[f.Dimension.Key] = fact.Row{}
		}
		for column, value := range f.Dimension.Row {
			rows[f.Dimension.Key][column] = value
		}
	}
	return rows
}

// A process ends after it posted rows and before it wrote what they say. The next
// process also knows an older change, so its rows are different, and later.
func TestRowsAfterACrashContradictNothing(t *testing.T) {
	t.Parallel()
	e := open(t, powerbitest.Config{})
	facts := []fact.Fact{call(1), call(2)}
	facts[0].Dimension = &fact.Dimension{Key: "C", Table: fact.Contacts, Row: fact.Row{"stage": "won"}}
	facts[0].At = noon.Add(time.Hour)
	facts[1].Dimension = &fact.Dimension{Key: "C", Table: fact.Contacts, Row: fact.Row{"email": "x"}}
	e.put(facts[0])
	ctx, end := context.WithCancel(t.Context())
	err := e.posterOf(&hooked{Sink: e.client(), post: func(next func() error) error {
		if err := next(); err != nil {
			t.Error(err)
		}
		end()
		return ctx.Err()
	}}).Drain(ctx)
	if err == nil {
		t.Error("it did not notice its end")
	}
	e.put(facts[1])
	e.drain(e.poster())
	e.wantOnce(facts...)
	if row := e.latest(fact.Contacts)["C"]; row["stage"] != "won" || row["email"] != "x" {
		t.Errorf("the last row is %v", row)
	}
	if got := e.sums().RowsReposted; got != 1 {
		t.Errorf("%d rows again, want 1", got)
	}
}
