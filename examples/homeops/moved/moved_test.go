package moved_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/examples/homeops/moved"
	"github.com/homeops/ddbpatterns/internal/golden"
	"github.com/homeops/ddbpatterns/internal/pricetest"
	"github.com/homeops/ddbpatterns/internal/recordtest"
)

const (
	group = "-4123456789"
	super = "-1002123456789"
)

var noon = time.Date(2026, 2, 18, 11, 0, 0, 0, time.UTC)

func open(t *testing.T) (*dynamotest.DB, string) {
	t.Helper()
	db := dynamotest.Open(t, pricetest.Watch)
	table := db.Name("homeops")
	db.Create(process(t, db, table, clock).Table())
	return db, table
}

// process returns a Store that remembers nothing yet.
func process(t *testing.T, db *dynamotest.DB, table string, now func() time.Time) *moved.Store {
	t.Helper()
	s, err := moved.New(db.Client(), table, now)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func clock() time.Time { return noon }

func at(t *testing.T, chat, id string) event.Event { t.Helper(); return on(t, noon, chat, id) }

func on(t *testing.T, when time.Time, chat, id string) event.Event {
	t.Helper()
	return recordtest.Event(t, when, "telegram", chat, id)
}

func wantScope(t *testing.T, s *moved.Store, chat, want string) {
	t.Helper()
	if got, err := s.Scope(t.Context(), chat); err != nil || got != want {
		t.Errorf("Scope(%s) = %q, %v, want %q", chat, got, err, want)
	}
}

// Both chats report the move, in any order and more than once.
func TestEitherSideTellsOfTheMove(t *testing.T) {
	t.Parallel()
	old, young := at(t, group, "72"), on(t, noon.Add(time.Second), super, "1")
	for _, order := range [][]event.Event{{old, young}, {young, old}, {old}, {young}, {young, old, old, young}} {
		db, table := open(t)
		s := process(t, db, table, clock)
		for _, ev := range order {
			if _, err := s.Record(t.Context(), moved.Move{From: group, To: super, Event: ev}); err != nil {
				t.Fatal(err)
			}
		}
		for _, s := range []*moved.Store{s, process(t, db, table, clock)} {
			wantScope(t, s, super, group)
			wantScope(t, s, group, group)
		}
	}
}

func TestTheItem(t *testing.T) {
	t.Parallel()
	db, table := open(t)
	out, err := process(t, db, table, clock).Record(t.Context(), moved.Move{From: group, To: super, Event: at(t, super, "1")})
	if err != nil || out != event.Created {
		t.Errorf("%v, %v", out, err)
	}
	golden.Want(t, db.Client(), table, "testdata/moved.json", "pk", "sk")
}

// A move is remembered for good, the absence of a move for five minutes.
func TestWhatAProcessRemembers(t *testing.T) {
	t.Parallel()
	db, table := open(t)
	now := noon
	s := process(t, db, table, func() time.Time { return now })
	ask := func(after time.Duration, want string, requests int) {
		t.Helper()
		now = now.Add(after)
		scope, known := s.Known(super)
		if known != (requests == 0) || known && scope != want || !known && scope != super {
			t.Errorf("after %v: Known = %q, %v", after, scope, known)
		}
		price := dynamotest.Price{Requests: requests, RCU: float64(requests) / 2}
		db.Meter(func() { wantScope(t, s, super, want) }).Want(t, price)
	}
	ask(0, super, 1)
	ask(5*time.Minute-1, super, 0)
	ask(1, super, 1)
	ask(-6*time.Minute, super, 1) // a clock that was set back makes nothing immortal
	elsewhere := process(t, db, table, clock)
	db.Meter(func() {
		if _, err := elsewhere.Record(t.Context(), moved.Move{From: group, To: super, Event: at(t, super, "1")}); err != nil {
			t.Error(err)
		}
	}).Want(t, dynamotest.Price{Requests: 1, WCU: 1})
	ask(0, super, 0)
	ask(5*time.Minute, group, 1)
	ask(1000*time.Hour, group, 0)
	db.Meter(func() { wantScope(t, elsewhere, super, group) }).Want(t, dynamotest.Price{}) // its own
}

// A read that began before the move was recorded does not undo it.
func TestAMoveMeetsARead(t *testing.T) {
	t.Parallel()
	db, table := open(t)
	s := process(t, db, table, clock)
	db.Inject(dynamotest.Fault{Op: "GetItem", Do: dynamotest.After(func() {
		if _, err := s.Record(t.Context(), moved.Move{From: group, To: super, Event: at(t, super, "1")}); err != nil {
			t.Error(err)
		}
	})})
	wantScope(t, s, super, group)
	db.Meter(func() { wantScope(t, s, super, group) }).Want(t, dynamotest.Price{})
}

func TestPrices(t *testing.T) {
	t.Parallel()
	db, table := open(t)
	s := process(t, db, table, clock)
	pricetest.Run(t, db, []pricetest.Case{
		{Func: "Store.Scope", Call: func(ctx context.Context) error { _, err := s.Scope(ctx, super); return err }},
		{Func: "Store.Record", Call: func(ctx context.Context) error {
			_, err := s.Record(ctx, moved.Move{From: group, To: super, Event: at(t, super, "1")})
			return err
		}},
	}, s)
}

// Many chats do not fill the memory, and each has its own answer.
func TestManyChats(t *testing.T) {
	t.Parallel()
	db, table := open(t)
	s := process(t, db, table, clock)
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			for j := range 260 {
				chat := fmt.Sprintf("-100%d", 4*j+i)
				if _, err := s.Record(t.Context(), moved.Move{From: "-" + chat[4:], To: chat, Event: at(t, chat, "1")}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	known := 0
	for j := range 4 * 260 {
		chat := fmt.Sprintf("-100%d", j)
		scope, ok := s.Known(chat)
		if ok {
			known++
		}
		if ok && scope != "-"+chat[4:] {
			t.Errorf("%s is %s", chat, scope)
		}
	}
	if known != 40 {
		t.Errorf("%d are remembered", known)
	}
}

func TestBadInputIsRefusedBeforeAnyRequest(t *testing.T) {
	t.Parallel()
	db, table := open(t)
	s := process(t, db, table, clock)
	for field, move := range map[string]moved.Move{
		"From":      {From: super, To: super, Event: at(t, super, "1")},
		"Partition": {From: group, Event: at(t, super, "1")},
		"Event":     {From: group, To: super},
	} {
		db.Meter(func() {
			_, err := s.Record(t.Context(), move)
			recordtest.WantBad(t, err, "moved", field)
		}).Want(t, dynamotest.Price{})
	}
	if _, err := s.Record(t.Context(), moved.Move{To: super, Event: at(t, super, "1")}); err == nil {
		t.Error("a move from nowhere")
	}
	if _, known := s.Known(super); known {
		t.Error("what was refused is remembered")
	}
}

func TestTroubleIsNotRemembered(t *testing.T) {
	t.Parallel()
	s := process(t, dynamotest.New(t, nil), "nowhere", clock)
	if _, err := s.Scope(t.Context(), super); err == nil || !strings.HasPrefix(err.Error(), "moved: Get on table nowhere: ") {
		t.Errorf("Scope: %v", err)
	}
	if _, known := s.Known(super); known {
		t.Error("trouble is an answer")
	}
}
