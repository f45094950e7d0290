package post_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/examples/quill/fact"
	"github.com/homeops/ddbpatterns/examples/quill/post"
	"github.com/homeops/ddbpatterns/examples/quill/powerbi/powerbitest"
	"github.com/homeops/ddbpatterns/examples/quill/sink"
)

var errRefused = errors.New("400")

// wantLeft fails unless the poster leaves so many facts aside for the reason.
func (e *env) wantLeft(p *post.Poster, facts int, reason error) {
	e.t.Helper()
	e.want(p.Drain(e.t.Context()), p, &post.LeftError{Facts: facts, Err: reason}, facts)
}

// wantShut fails unless the poster leaves only this table aside, in which so many
// facts wait.
func (e *env) wantShut(p *post.Poster, table string, facts int, reason error) {
	e.t.Helper()
	e.want(p.Drain(e.t.Context()), p, &post.LeftError{Tables: []string{table}, Err: reason}, facts)
}

func (e *env) want(err error, p *post.Poster, want *post.LeftError, pending int) {
	e.t.Helper()
	var left *post.LeftError
	if !errors.As(err, &left) || left.Facts != want.Facts || !slices.Equal(left.Tables, want.Tables) || !errors.Is(err, want.Err) {
		e.t.Errorf("error %v, want %v", err, want)
	}
	if !errors.Is(p.LastError(), want.Err) {
		e.t.Errorf("last error %v", p.LastError())
	}
	if n := e.pending(); n != pending {
		e.t.Errorf("%d facts are pending, want %d", n, pending)
	}
}

// refuseBad refuses posts with a fact or a contact that is bad.
func refuseBad(bad map[string]bool) func(string, []fact.Row) error {
	return func(_ string, rows []fact.Row) error {
		for _, r := range rows {
			if bad[r["key"].(string)] {
				return errRefused
			}
		}
		return nil
	}
}

func plain(n int) []fact.Fact {
	var facts []fact.Fact
	for i := range n {
		f := call(i)
		f.Dimension = nil
		facts = append(facts, f)
	}
	return facts
}

func TestARefusedFactIsFound(t *testing.T) {
	t.Parallel()
	for name, bad := range map[string][]int{
		"first": {0}, "last": {63}, "middle": {31}, "some": {3, 17, 40}, "neighbours": {8, 9, 10, 11, 12, 13, 14, 15, 16, 17},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := open(t, powerbitest.Config{})
			facts := plain(64)
			e.put(facts...)
			keys := map[string]bool{}
			for _, n := range bad {
				keys[facts[n].Key] = true
			}
			s := &hooked{Sink: e.client(), refuse: refuseBad(keys)}
			p := e.posterOf(s)
			e.wantLeft(p, len(bad), errRefused)
			if got := e.sums().Posted; got != 64-len(bad) {
				t.Errorf("%d facts posted", got)
			}
			if most := 14 * (len(bad) + 1); len(s.sizes) > most {
				t.Errorf("%d posts, want %d at most: %v", len(s.sizes), most, s.sizes)
			}
			posts := len(s.sizes)
			e.wantLeft(p, len(bad), errRefused)
			if len(s.sizes) != posts {
				t.Error("what is left aside was tried at once")
			}
			e.clock.advance(10 * time.Minute)
			e.put(call(100))
			s.sizes = nil
			e.wantLeft(p, len(bad), errRefused)
			if len(s.sizes) != 2 { // a contact and a fact
				t.Errorf("posts of %v rows, want 2", s.sizes)
			}
			s.refuse = nil
			e.clock.advance(24 * time.Hour)
			e.drain(p)
			e.wantOnce(append(facts, call(100))...)
		})
	}
}

// Another process immediately tries facts that were left aside.
func TestANewProcessTriesAll(t *testing.T) {
	t.Parallel()
	e := open(t, powerbitest.Config{})
	facts := plain(3)
	e.put(facts...)
	e.wantLeft(e.posterOf(&hooked{Sink: e.client(), refuse: refuseBad(map[string]bool{facts[1].Key: true})}), 1, errRefused)
	e.drain(e.poster())
	e.wantOnce(facts...)
}

// The sink accepts nothing for a table. A few posts find that out, and other tables
// go on.
func TestATableThatTakesNothing(t *testing.T) {
	t.Parallel()
	e := open(t, powerbitest.Config{})
	facts := mixed(50)
	e.put(facts...)
	refuse := func(table string, _ []fact.Row) error {
		if table == fact.Changes {
			return errRefused
		}
		return nil
	}
	s := &hooked{Sink: e.client(), refuse: refuse}
	p := e.posterOf(s)
	e.wantShut(p, fact.Changes, 50, errRefused)
	posts := len(s.sizes)
	if posts > 20 {
		t.Errorf("%d posts: %v", posts, s.sizes)
	}
	for range 10 {
		e.wantShut(p, fact.Changes, 50, errRefused)
	}
	if len(s.sizes) != posts {
		t.Error("it spins")
	}
	e.clock.advance(10 * time.Minute)
	e.wantShut(p, fact.Changes, 50, errRefused)
	if again := len(s.sizes) - posts; again == 0 || again > 6 {
		t.Errorf("%d posts after a while", again)
	}
	s.refuse = nil
	e.clock.advance(24 * time.Hour) // for those that were refused alone
	e.drain(p)
	e.wantOnce(facts...)
}

func TestARefusedContactHoldsItsFactsOnly(t *testing.T) {
	t.Parallel()
	e := open(t, powerbitest.Config{})
	facts := mixed(6)
	e.put(facts...)
	p := e.posterOf(&hooked{Sink: e.client(), refuse: refuseBad(map[string]bool{"ALOWARE:CONTACT:1": true})})
	e.wantLeft(p, 2, errRefused)
	known, err := e.outbox.Known(t.Context(), []string{"ALOWARE:CONTACT:1", "ALOWARE:CONTACT:2"})
	if err != nil || len(known["ALOWARE:CONTACT:1"].Row) > 0 || len(known["ALOWARE:CONTACT:2"].Row) == 0 {
		t.Errorf("known: %v, %v", known, err)
	}
}

// Any number of facts may wait for a full table. They cost nothing until the table
// is tried again.
func TestAFullTableHoldsNobodyUp(t *testing.T) {
	t.Parallel()
	limits := sink.Limits{RowsAPost: 5, RowsATable: 8}
	e := open(t, powerbitest.Config{})
	e.put(plain(40)...)
	e.put(change(1))
	s := &hooked{Sink: e.client(), limits: limits}
	p := e.posterOf(s)
	e.wantShut(p, fact.Communications, 32, post.ErrTableFull)
	if err := p.LastError(); !strings.Contains(err.Error(), "all facts of "+fact.Communications) {
		t.Errorf("the error does not name the table: %v", err)
	}
	if got := len(e.bi.Keys(fact.Communications)); got != 8 {
		t.Errorf("%d rows, want 8", got)
	}
	e.put(change(2))
	full := &post.LeftError{Tables: []string{fact.Communications}, Err: post.ErrTableFull}
	e.want(p.DrainPending(t.Context()), p, full, 32)
	if got := len(e.bi.Keys(fact.Changes)); got != 2 {
		t.Errorf("%d rows of the other table, want 2", got)
	}
	cost := e.db.Meter(func() { _ = p.Drain(t.Context()) })
	cost.Want(t, dynamotest.Price{Requests: 4, RCU: 1.5, WCU: 2})
	var err error
	cost = e.db.Meter(func() { err = p.DrainPending(t.Context()) })
	cost.Want(t, dynamotest.Price{Requests: 1, RCU: 0.5}) // without the lease
	e.want(err, p, full, 32)
	s.limits.RowsATable = 0
	e.clock.advance(time.Hour)
	e.drain(p)
	e.wantOnce(append(plain(40), change(1), change(2))...)
}

// A full table of contacts holds up the calls that disclose a contact, and no
// others.
func TestAFullTableOfContacts(t *testing.T) {
	t.Parallel()
	limits := sink.Limits{RowsAPost: 10, RowsATable: 4}
	e := open(t, powerbitest.Config{Limits: limits})
	e.put(call(1), call(2), call(3))
	p := e.posterOf(&hooked{Sink: e.client(), limits: limits})
	e.drain(p)
	for n := range 3 {
		e.put(call(6 + n)) // more contacts than the table has room for
	}
	f := call(9)
	f.Dimension = nil
	e.put(f, change(1))
	e.wantLeft(p, 3, post.ErrTableFull)
	if got := len(e.bi.Keys(fact.Communications)); got != 4 {
		t.Errorf("%d calls, want 4", got)
	}
}

// While one table has a backlog, a post of the other comes after each of its posts.
func TestTablesTakeTurns(t *testing.T) {
	t.Parallel()
	e := open(t, powerbitest.Config{})
	facts := plain(25)
	for n := range 10 {
		f := change(n)
		f.Dimension = nil
		facts = append(facts, f)
	}
	e.put(facts...)
	var posts []string
	e.drain(e.posterOf(&hooked{Sink: e.client(), limits: sink.Limits{RowsAPost: 5}, refuse: func(table string, _ []fact.Row) error {
		posts = append(posts, table)
		return nil
	}}))
	const a, b = fact.Communications, fact.Changes
	if want := []string{a, b, a, b, a, a, a}; !slices.Equal(posts, want) {
		t.Errorf("posts of %v, want %v", posts, want)
	}
	e.wantOnce(facts...)
}

func TestRowsThatTheSinkTakes(t *testing.T) {
	t.Parallel()
	e := open(t, powerbitest.Config{})
	f := change(1)
	long := strings.Repeat("å𝄞", 4000)
	f.Row["value"] = long
	f.Dimension.Row = fact.Row{"amount": "", "name": long}
	g := call(1)
	g.Row["seconds"], g.Dimension = json.Number("7"), nil
	e.put(f, g)
	e.drain(e.poster())
	e.wantOnce(f, g)
	for _, text := range []any{e.bi.Rows(fact.Changes)[0]["value"], e.bi.Rows(fact.Deals)[0]["name"]} {
		if n := len(utf16.Encode([]rune(text.(string)))); n > 4000 || n < 3999 || !strings.HasSuffix(text.(string), "…") {
			t.Errorf("a text of %d units", n)
		}
	}
	if got := e.tally.Counts().Cut; got != 2 {
		t.Errorf("%d cut, want 2", got)
	}
	if amount, ok := e.bi.Rows(fact.Deals)[0]["amount"]; ok && amount != nil {
		t.Errorf("amount %v, want a blank", amount)
	}
	stored, _, err := e.outbox.Get(t.Context(), f.Key)
	if err != nil || stored.Row["value"] != long {
		t.Errorf("the outbox has not the whole text: %v", err)
	}
}

func TestCut(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text  string
		units int
		want  string
	}{
		{"abcd", 4, "abcd"},
		{"abcde", 4, "abc…"},
		{"åäö", 3, "åäö"},
		{"åäöå", 3, "åä…"},
		{"a𝄞", 3, "a𝄞"},
		{"a𝄞b", 3, "a…"},
		{"a𝄞bc", 4, "a𝄞…"},
		{"𝄞𝄞", 1, "…"},
		{"abcde", 0, "abcde"},
		{"", 1, ""},
	} {
		if got, cut := post.Cut(c.text, c.units); got != c.want || cut != (got != c.text) {
			t.Errorf("%q in %d units is %q, %t, want %q", c.text, c.units, got, cut, c.want)
		}
	}
}

// Only as many facts are read at a time as fit into a post.
func TestAWindowAtATime(t *testing.T) {
	t.Parallel()
	e := open(t, powerbitest.Config{})
	facts := plain(20)
	e.put(facts...)
	s := &hooked{Sink: e.client(), limits: sink.Limits{RowsAPost: 6}}
	e.drain(e.posterOf(s))
	e.wantOnce(facts...)
	if got := fmt.Sprint(s.sizes); got != "[6 6 6 2]" {
		t.Errorf("posts of %s rows", got)
	}
}

// More facts are refused than are read together.
func TestRefusedFactsStarveNobody(t *testing.T) {
	t.Parallel()
	e := open(t, powerbitest.Config{})
	facts := plain(30)
	e.put(facts...)
	bad := map[string]bool{}
	for _, n := range []int{0, 1, 2, 4, 5, 6, 8, 9} {
		bad[facts[n].Key] = true
	}
	p := e.posterOf(&hooked{Sink: e.client(), limits: sink.Limits{RowsAPost: 4}, refuse: refuseBad(bad)})
	for range 5 {
		_ = p.Drain(t.Context())
		e.clock.advance(2 * time.Minute)
	}
	if got := e.sums().Posted; got != 22 {
		t.Errorf("%d facts posted, want 22", got)
	}
}
