package post_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/homeops/ddbpatterns/examples/quill/fact"
	"github.com/homeops/ddbpatterns/examples/quill/post"
	"github.com/homeops/ddbpatterns/examples/quill/powerbi/powerbitest"
	"github.com/homeops/ddbpatterns/examples/quill/sink"
)

// In random histories facts come, and processes live on, die at any request, or
// lose requests and replies of DynamoDB and of the sink. In the end the sink has
// each fact, and the stored figures are what the sink and the table show. Each contact's last row is right.
func TestHistories(t *testing.T) {
	t.Parallel()
	seeds := uint64(40)
	if testing.Short() {
		seeds = 10
	}
	for seed := range seeds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			h := history{rnd: rand.New(rand.NewPCG(seed, 3)), asking: seed%3 > 0}
			h.limits = sink.Limits{RowsAPost: 2 + h.rnd.IntN(20), TextUnits: 4000}
			if h.rnd.IntN(2) == 0 {
				h.limits.PostsAMinute, h.limits.RowsAnHour = 1+h.rnd.IntN(5), 30+h.rnd.IntN(100)
			}
			h.env = open(t, powerbitest.Config{Limits: h.limits, VisibleAfter: time.Duration(h.rnd.IntN(15)) * time.Second})
			h.bi.RefuseAsking(!h.asking)
			for range 25 {
				h.step()
			}
			h.end()
		})
	}
}

type history struct {
	*env
	rnd    *rand.Rand
	limits sink.Limits
	asking bool
	facts  []fact.Fact
	p      *post.Poster // lives on
	k      *killer
}

func (h *history) step() {
	switch h.rnd.IntN(7) {
	case 0, 1:
		h.arrive()
	case 6:
		if h.asking { // otherwise a successor that ends knows too little to count
			s := &hooked{Sink: h.client(), limits: h.limits}
			other := h.dying(&killer{nth: h.rnd.IntN(80)})
			other.Sink.(*hooked).limits = h.limits
			_ = h.overtaken(s, 1+h.rnd.IntN(3), h.rnd.IntN(2) == 0, other)
		}
	case 2:
		h.clock.advance(time.Duration(h.rnd.Int64N(int64(3 * time.Minute))))
	default:
		if h.p == nil || h.k.isDead() || h.rnd.IntN(4) == 0 {
			h.k = &killer{nth: 1 + h.rnd.IntN(150), after: h.rnd.IntN(2) == 0, flaky: h.flaky}
			h.p = h.dying(h.k)
			h.p.Sink.(*hooked).limits = h.limits
		}
		_ = h.p.Drain(h.t.Context()) // with or without an error
	}
}

func (h *history) flaky() (lost, after bool) { return h.rnd.IntN(60) == 0, h.rnd.IntN(2) == 0 }

func (h *history) arrive() {
	for range 1 + h.rnd.IntN(12) {
		n := len(h.facts)
		f := change(n)
		if h.rnd.IntN(2) == 0 {
			f = call(n)
			f.Dimension.Row = fact.Row{[]string{"stage", "email", "phone"}[h.rnd.IntN(3)]: fmt.Sprint(h.rnd.IntN(3))}
		}
		f.At = noon.Add(time.Duration(h.rnd.IntN(1000))*time.Minute + time.Duration(n)*time.Millisecond)
		h.facts = append(h.facts, f)
		h.put(f)
	}
}

func (h *history) end() {
	h.t.Helper()
	h.clock.advance(3 * time.Minute)
	h.drain(h.posterOf(&hooked{Sink: h.client(), limits: h.limits}))
	h.wantFigures(h.asking)
	if got := len(h.bi.Keys(fact.Communications)) + len(h.bi.Keys(fact.Changes)); got != len(h.facts) || h.pending() > 0 {
		h.t.Errorf("%d of %d facts are in the sink, %d are pending", got, len(h.facts), h.pending())
	}
	want := truth(h.facts)
	for _, table := range []string{fact.Contacts, fact.Deals} {
		for key, row := range h.latest(table) {
			for column, value := range want[key] {
				if fmt.Sprint(row[column]) != fmt.Sprint(value) {
					h.t.Errorf("%s: %s is %v, want %v", key, column, row[column], value)
				}
			}
		}
	}
}
