package post_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/homeops/ddbpatterns/examples/quill/fact"
	"github.com/homeops/ddbpatterns/examples/quill/post"
	"github.com/homeops/ddbpatterns/examples/quill/powerbi/powerbitest"
	"github.com/homeops/ddbpatterns/examples/quill/sink"
)

// wantFigures compares the stored figures with the rows of the table and of the sink.
// If the sink can be asked, they are exact. Otherwise facts that are there twice are at
// most those that are reported.
func (e *env) wantFigures(asking bool) {
	e.t.Helper()
	out, err := e.db.Client().Scan(e.t.Context(), &dynamodb.ScanInput{TableName: aws.String("QuillFacts"), ConsistentRead: aws.Bool(true)})
	if err != nil {
		e.t.Fatal(err)
	}
	marked := 0
	for _, row := range out.Items {
		if row["postedAt"] != nil {
			marked++
		}
	}
	twice, rows := e.twice(), len(e.bi.Rows(fact.Contacts))+len(e.bi.Rows(fact.Deals))
	got := e.sums()
	if got.Posted+got.Recovered != marked {
		e.t.Errorf("%+v, and %d facts are marked", got, marked)
	}
	if asking && (got.Doubled != twice || got.Reposted > 0) || got.Doubled > twice || twice > got.Doubled+got.Reposted {
		e.t.Errorf("%+v, and %d facts are in the sink twice", got, twice)
	}
	if rows < got.DimensionRows || rows > got.DimensionRows+got.RowsReposted {
		e.t.Errorf("%+v, and the sink has %d rows of contacts and deals", got, rows)
	}
}

// overtaken drains with a poster that stands still in its n-th post for longer than its
// lease, before the post takes effect or after. Meanwhile another poster drains.
func (e *env) overtaken(s *hooked, n int, before bool, other *post.Poster) error {
	e.tolerates = "429" // its post may come too soon after another's
	s.post = func(next func() error) (err error) {
		if n--; n != 0 {
			return next()
		}
		if !before {
			err = next()
		}
		e.clock.advance(post.LeaseFor + time.Minute)
		_ = other.Drain(e.t.Context())
		e.clock.advance(time.Second)
		if before {
			err = next()
		}
		return err
	}
	return e.posterOf(s).Drain(e.t.Context())
}

// A poster that was overtaken reports what is in the sink twice, also if its successor
// died with its batch open.
func TestDoublesOfAStalePosterAreCounted(t *testing.T) {
	t.Parallel()
	for _, asking := range []bool{true, false} {
		for i, before := range []bool{true, false, true, false} {
			e := open(t, powerbitest.Config{})
			e.bi.RefuseAsking(!asking)
			e.put(plain(9)...)
			other, m := e.mortal(time.Hour)
			if i == 3 && asking { // it dies before it has asked
				other, m = e.mortal(0)
			}
			if i > 1 && asking { // otherwise nobody knows
				other.Sink.(*hooked).post = func(next func() error) error { m.dead = true; return next() }
			}
			if err := e.overtaken(&hooked{Sink: e.client()}, 1, before, other); err == nil && !m.dead {
				t.Error("it has noticed nothing")
			}
			if before && !m.dead && e.sums().Doubled != 9 {
				t.Errorf("asking %t: %+v, want 9 doubled", asking, e.sums())
			}
			e.clock.advance(3 * time.Minute)
			e.drain(e.poster())
			e.wantFigures(asking)
			if n := e.pending(); n > 0 {
				t.Errorf("%d are pending", n)
			}
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

// Each process ends a minute after it began, in the middle of what it does. All the
// same everything is posted, because waits count from what is stored.
func TestProcessesThatLiveForAMinute(t *testing.T) {
	t.Parallel()
	for _, life := range []time.Duration{20 * time.Second, time.Minute, 3 * time.Minute} {
		e := open(t, powerbitest.Config{})
		facts := mixed(4)
		e.put(facts...)
		first, m := e.mortal(time.Hour)
		first.Sink.(*hooked).post = func(next func() error) error { // it dies with an open batch
			m.dead = true
			return &sink.UnknownError{Err: next()}
		}
		_ = first.Drain(t.Context())
		began, ended := e.clock.Now(), false
		for !ended && e.clock.Now().Sub(began) < time.Hour {
			p, m := e.mortal(life)
			for !ended && !m.dead {
				ended = p.Drain(t.Context()) == nil
				_ = m.Sleep(t.Context(), 5*time.Second)
			}
		}
		if took := e.clock.Now().Sub(began); took > 12*time.Minute {
			t.Errorf("processes that live for %s took %s", life, took)
		}
		e.wantOnce(facts...)
		e.wantFigures(true)
	}
}

// mortal is the clock and the database of a process that ends at a time: from then on it
// sends nothing.
type mortal struct {
	*clock
	dynamodb.HTTPClient
	over time.Time
	dead bool
}

func (e *env) mortal(life time.Duration) (*post.Poster, *mortal) {
	o := e.db.Client().Options()
	m := &mortal{e.clock, o.HTTPClient, e.clock.Now().Add(life), false}
	o.HTTPClient, o.Retryer = m, aws.NopRetryer{}
	db := dynamodb.New(o)
	return &post.Poster{Lease: e.lease(db), Outbox: e.store(db), Clock: m, Tally: e.tally, Sink: &hooked{Sink: e.client()}}, m
}

func (m *mortal) Do(r *http.Request) (*http.Response, error) {
	if m.dead {
		return nil, errDead
	}
	return m.HTTPClient.Do(r)
}

func (m *mortal) Sleep(ctx context.Context, d time.Duration) error {
	if left := m.over.Sub(m.clock.Now()); m.dead || left < d {
		m.advance(max(0, left))
		m.dead = true
		return errDead
	}
	return m.clock.Sleep(ctx, d)
}

// The whole dataset is refused: no fact is at fault, so the poster waits and says so.
func TestARefusedDatasetIsWaitedFor(t *testing.T) {
	t.Parallel()
	e := open(t, powerbitest.Config{})
	e.tolerates = "404"
	facts := mixed(5)
	e.put(facts...)
	c := e.client()
	c.Dataset = "another"
	s := &hooked{Sink: c}
	p := e.posterOf(s)
	naps := 0
	p.Clock = &stealing{clock: e.clock, steal: func() {
		if naps++; naps < 4 {
			return
		}
		var wait *sink.WaitError
		if c.Dataset != powerbitest.Dataset && !errors.As(p.LastError(), &wait) {
			t.Errorf("it says %v", p.LastError())
		}
		c.Dataset = powerbitest.Dataset // somebody mends it
	}}
	e.drain(p)
	e.wantOnce(facts...)
	for _, rows := range s.sizes {
		if rows < 3 {
			t.Errorf("posts of %v rows: it looks for a fact at fault", s.sizes)
			break
		}
	}
}

// An overtaken poster marks facts while its successor, too, has posted them.
func TestFactsThatAnotherMarkedAreDoubled(t *testing.T) {
	t.Parallel()
	e := open(t, powerbitest.Config{})
	facts := plain(5)
	e.put(facts...)
	e.drain(e.posterOf(&hooked{Sink: e.client(), post: func(next func() error) error {
		if _, err := e.outbox.MarkPosted(t.Context(), "0.1 late", []string{facts[0].Key, facts[1].Key}); err != nil {
			t.Error(err)
		}
		return next()
	}}))
	if got := e.sums(); got.Posted != 3 || got.Doubled != 2 {
		t.Errorf("%+v", got)
	}
}

// A post that the sink delayed, and whose reply was lost then, is counted as posted
// again.
func TestAPostThatWaitedAndWasLost(t *testing.T) {
	t.Parallel()
	e := open(t, powerbitest.Config{})
	var facts []fact.Fact
	for n := range 4 {
		f := call(n)
		f.Dimension = nil
		facts = append(facts, f)
	}
	e.put(facts...)
	n := 0
	e.drain(e.posterOf(&hooked{
		Sink: e.client(),
		post: func(next func() error) error {
			n++
			switch n {
			case 1:
				return &sink.WaitError{After: time.Second, Err: errors.New("429")}
			case 2:
				return &sink.UnknownError{Err: errors.Join(errors.New("lost"), next())}
			}
			return next()
		},
		posted: func(func() error) error { return sink.ErrCannotAsk },
	}))
	sums := e.sums()
	if sums.Posted+sums.Recovered != len(facts) || sums.Reposted != len(facts) {
		t.Errorf("posted %d + recovered %d, want %d marked; reposted %d, want %d", sums.Posted, sums.Recovered, len(facts), sums.Reposted, len(facts))
	}
}
