package post_test

import (
	"testing"
	"time"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/examples/quill/fact"
	"github.com/homeops/ddbpatterns/examples/quill/outbox"
	"github.com/homeops/ddbpatterns/examples/quill/powerbi/powerbitest"
)

// twice is how many rows of facts the sink has in addition to the first of each
// key.
func (e *env) twice() int {
	n := 0
	for _, table := range []string{fact.Communications, fact.Changes} {
		for _, rows := range e.bi.Keys(table) {
			n += rows - 1
		}
	}
	return n
}

// The report survives a turn that ends with an error.
func TestAgainInTheNextTurn(t *testing.T) {
	t.Parallel()
	e := open(t, powerbitest.Config{})
	e.bi.RefuseAsking(true)
	e.bi.OnPost(1, powerbitest.LoseReply)
	facts := plain(3)
	for n := range 3 {
		f := change(n)
		f.Dimension = nil
		facts = append(facts, f)
	}
	e.put(facts...)
	p := e.poster()
	e.db.Inject(dynamotest.Fault{Do: dynamotest.LoseRequest, Op: "UpdateItem", Table: "QuillFacts", Times: -1}) // nothing is marked
	for range 3 {
		if err := p.Drain(t.Context()); err == nil {
			t.Error("a turn that marks nothing ends well")
		}
	}
	e.db.Heal()
	e.drain(p)
	if twice, again := e.twice(), e.sums().Reposted; twice != 12 || again != 12 {
		t.Errorf("%d rows twice, %d reported, want 12", twice, again)
	}
}

// A fact that came after the open batch's post was not in the batch. Neither was a
// fact of another table.
func TestAgainIsOfTheBatchAlone(t *testing.T) {
	t.Parallel()
	e := open(t, powerbitest.Config{})
	e.bi.RefuseAsking(true)
	facts := append(plain(3), change(1))
	e.put(facts[0], facts[3])
	if err := e.outbox.SavePoster(t.Context(), outbox.Poster{
		Fence: 1, Batch: "1.1", Table: fact.Communications, Rows: 3, PostAt: e.clock.Now(),
	}); err != nil {
		t.Fatal(err)
	}
	e.put(facts[1:3]...)
	e.clock.advance(time.Minute)
	e.drain(e.poster())
	e.wantOnce(facts...)
	if again := e.sums().Reposted; again != 1 {
		t.Errorf("%d reported, want 1", again)
	}
}
