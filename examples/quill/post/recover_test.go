package post_test

import (
	"context"
	"testing"
	"time"

	"github.com/homeops/ddbpatterns/examples/quill/fact"
	"github.com/homeops/ddbpatterns/examples/quill/powerbi/powerbitest"
	"github.com/homeops/ddbpatterns/examples/quill/sink"
)

// A post may have been under way for long when its process ended. The next poster
// treats it as if it was sent a moment ago, and gives the sink the same time to
// show it.
func TestTheSinkHasTimeToShowALatePost(t *testing.T) {
	t.Parallel()
	e := open(t, powerbitest.Config{VisibleAfter: 12 * time.Second})
	facts := plain(2)
	e.put(facts...)
	ctx, end := context.WithCancel(t.Context())
	p := e.posterOf(&hooked{Sink: e.client(), post: func(next func() error) error {
		e.clock.advance(25 * time.Second)
		end()
		return &sink.UnknownError{Err: next()}
	}})
	if err := p.Drain(ctx); err == nil {
		t.Error("a turn whose context ended ends well")
	}
	e.drain(e.poster())
	e.wantOnce(facts...)
	if got := e.sums().Recovered; got != 2 {
		t.Errorf("%d facts found, want 2", got)
	}
}

// Posts that were not made do not fill their table, however often that happens.
func TestPostsThatWereNotMadeDoNotFillATable(t *testing.T) {
	t.Parallel()
	limits := sink.Limits{RowsAPost: 5, RowsATable: 12}
	for name, tc := range map[string]struct {
		facts  []fact.Fact
		table  string
		silent bool
	}{
		"facts":               {plain(10), fact.Communications, false},
		"facts, not asked":    {plain(10), fact.Communications, true},
		"a contact":           {[]fact.Fact{call(1), call(4), call(7)}, fact.Contacts, false},
		"contacts, no asking": {[]fact.Fact{call(1), call(4), call(5)}, fact.Contacts, true},
	} {
		e := open(t, powerbitest.Config{Limits: limits})
		e.bi.RefuseAsking(tc.silent)
		for n := 1; n <= 6; n++ {
			e.bi.OnPost(n, powerbitest.Unavailable)
		}
		e.put(tc.facts...)
		if err := e.posterOf(&hooked{Sink: e.client(), limits: limits}).Drain(t.Context()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		e.wantOnce(tc.facts...)
		used, err := e.outbox.LoadPoster(t.Context())
		if rows := len(e.bi.Rows(tc.table)); err != nil || rows == 0 || used.Total[tc.table] != int64(rows) {
			t.Errorf("%s: %d rows are counted, want %d: %v", name, used.Total[tc.table], rows, err)
		}
	}
}
