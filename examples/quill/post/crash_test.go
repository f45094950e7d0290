package post_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/homeops/ddbpatterns/examples/quill/fact"
	"github.com/homeops/ddbpatterns/examples/quill/powerbi/powerbitest"
	"github.com/homeops/ddbpatterns/ledger"
)

// requests is how many requests an undisturbed poster makes for the facts.
func requests(t *testing.T, facts []fact.Fact) int {
	t.Helper()
	e := open(t, powerbitest.Config{})
	e.put(facts...)
	k := &killer{}
	e.drain(e.dying(k))
	e.wantOnce(facts...)
	return k.n
}

// takeOver lets the lease lapse, and a new process post what is left.
func (e *env) takeOver() {
	e.t.Helper()
	var busy *ledger.InProgressError
	p := e.poster()
	err := p.Drain(e.t.Context())
	if errors.As(err, &busy) {
		e.clock.advance(busy.Wait)
		err = p.Drain(e.t.Context())
	}
	if err != nil {
		e.t.Fatal(err)
	}
}

func TestCrashAnywhere(t *testing.T) {
	t.Parallel()
	facts := mixed(4)
	n := requests(t, facts)
	if n < 20 {
		t.Fatalf("only %d requests", n)
	}
	for _, asking := range []bool{true, false} {
		for nth := 1; nth <= n; nth++ {
			for _, after := range []bool{false, true} {
				t.Run(fmt.Sprintf("asking=%t/request=%d/after=%t", asking, nth, after), func(t *testing.T) {
					t.Parallel()
					e := open(t, powerbitest.Config{})
					e.bi.RefuseAsking(!asking)
					e.put(facts...)
					k := &killer{nth: nth, after: after}
					if err := e.dying(k).Drain(t.Context()); err == nil && nth < n {
						t.Fatal("it did not notice its own death")
					}
					if !k.dead {
						t.Fatal("it did not die")
					}
					e.takeOver()
					e.extra(facts...)
					e.wantFigures(asking)
					e.wantDimensions()
				})
			}
		}
	}
}

// wantDimensions fails unless the last row of each contact and deal is right, and
// rows with the same time are equal.
func (e *env) wantDimensions() {
	e.t.Helper()
	want := map[string]string{"ALOWARE:CONTACT:0": "stage 1", "ALOWARE:CONTACT:1": "stage 0", "ALOWARE:CONTACT:2": "stage 0"}
	if len(e.bi.Keys(fact.Communications)) > 4 {
		want["ALOWARE:CONTACT:1"] = "stage 1"
	}
	for key, stage := range want {
		if got := e.latest(fact.Contacts)[key]["stage"]; got != stage {
			e.t.Errorf("%s: stage %v, want %s", key, got, stage)
		}
	}
}

// latest is the last row of each contact or deal.
func (e *env) latest(table string) map[string]fact.Row {
	e.t.Helper()
	rows := map[string]fact.Row{}
	for _, r := range e.bi.Rows(table) {
		key := r["key"].(string)
		old := rows[key]
		switch {
		case old == nil || old["validFrom"].(string) < r["validFrom"].(string):
			rows[key] = r
		case old["validFrom"] == r["validFrom"] && fmt.Sprint(old) != fmt.Sprint(r):
			e.t.Errorf("%s has two rows of one time: %v and %v", key, old, r)
		}
	}
	return rows
}
