package moving_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/examples/moving"
)

// noon has whole seconds, as the old log's times have.
var noon = time.Date(2026, 3, 29, 12, 0, 0, 0, time.UTC)

// move is a move under test.
type move struct {
	*testing.T
	db  *dynamotest.DB
	log moving.Log
}

func openMove(t *testing.T) *move {
	t.Helper()
	db := dynamotest.Open(t, dynamotest.MaxBackoff(time.Millisecond))
	log, err := moving.NewLog(db.Client(), db.Name("activities"))
	if err != nil {
		t.Fatal(err)
	}
	db.Create(log.Table(), moving.OldTable(db.Name("order-log")))
	return &move{t, db, moving.Log{DB: db.Client(), Old: db.Name("order-log"), New: log}}
}

// at returns the log of a process in that phase.
func (m *move) at(phase moving.Phase) moving.Log {
	log := m.log
	log.Phase = phase
	return log
}

// again calls until the call succeeds, as a queue delivers until it is
// acknowledged.
func (m *move) again(call func() error) {
	m.Helper()
	for range 50 {
		if call() == nil {
			return
		}
	}
	m.Fatal(call())
}

func (m *move) write(phase moving.Phase, entries ...moving.Entry) {
	m.Helper()
	for _, e := range entries {
		m.again(func() error { return m.at(phase).Write(m.Context(), e) })
	}
}

// same fails the test unless Same is as wanted for every customer.
func (m *move) same(want bool) {
	m.Helper()
	all := true
	for _, customer := range customers {
		var same bool
		m.again(func() (err error) {
			same, err = m.at(moving.ReadOld).Same(m.Context(), customer, noon.Add(24*time.Hour))
			return err
		})
		all = all && same
	}
	if all != want {
		m.Errorf("the logs tell the same: %v, want %v", all, want)
	}
}

// stored returns the items of the new table, without the time of writing.
func (m *move) stored() []item {
	rows := m.db.Items(m.db.Name("activities"))
	for _, row := range rows {
		delete(row, "createdAt")
		delete(row, "retractedAt")
	}
	return rows
}

var customers = []string{"ann", "bo#1", "cia"}

// entries returns a history in random order, with several steps in one second.
func entries(rng *rand.Rand, n int) []moving.Entry {
	var all []moving.Entry
	for i := range n {
		all = append(all, moving.Entry{
			Customer: customers[rng.IntN(3)], Order: fmt.Sprint(1000 + i/3), Step: []string{"placed", "packed", "shipped"}[i%3],
			Clerk: []string{"dora", "emil"}[rng.IntN(2)],
			At:    noon.Add(time.Duration(rng.IntN(20)) * 700 * time.Millisecond), // the old log cuts off fractions
		})
	}
	rng.Shuffle(n, func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all
}

var errCrash = errors.New("the process dies")

// This is the whole move with lost replies, writers of two phases side by side,
// repeated deliveries, entries that are taken back, and crashes of the import
// before and after it keeps its mark. The new log ends as one that was written
// from scratch.
func TestTheMove(t *testing.T) {
	t.Parallel()
	for seed := range uint64(12) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) { moveAll(openMove(t), seed) })
	}
}

func moveAll(m *move, seed uint64) {
	rng := rand.New(rand.NewPCG(seed, 0))
	all := entries(rng, 60)
	old, live, switched, last := all[:30], all[30:50], all[50:55], all[55:]
	m.write(moving.OldOnly, old...)

	// From here on every process writes both logs.
	m.db.Inject(dynamotest.Fault{Do: dynamotest.LoseReply, Times: -1, Chance: 0.3, Seed: seed})
	removed := map[moving.Entry]bool{}
	between := func() { // what happens between two pages
		if len(live) > 0 {
			m.write(moving.ReadOld, live[0], live[0])
			live = live[1:]
		}
		m.write(moving.ReadOld, old[rng.IntN(10)]) // an old delivery comes again
		e := old[10+rng.IntN(20)]
		m.again(func() error { return m.at(moving.ReadOld).Remove(m.Context(), e) })
		removed[e] = true
	}
	var mark moving.Mark
	crash := map[int]bool{2: true, 3: true, 5: true}
	pages := 0
	var err error
	for range 50 { // started again after each crash
		err = m.at(moving.ReadOld).Import(m.Context(), mark, 4, func(done moving.Mark) error {
			between()
			pages++
			if crash[pages] && rng.IntN(2) == 0 {
				return errCrash // before the mark is kept: the page comes again
			}
			mark = done
			if crash[pages] {
				return errCrash
			}
			return nil
		})
		if err == nil {
			break
		}
	}
	if err != nil || pages < 5 {
		m.Fatalf("the import ends after %d pages, %v", pages, err)
	}
	m.write(moving.ReadOld, live...)
	m.same(true)
	m.write(moving.ReadNew, switched...)
	m.same(true)
	m.write(moving.NewOnly, last...)
	_ = m.db.Tap().Heal() // some replies may not have been lost

	anew := openMove(m.T)
	for _, e := range all {
		anew.write(moving.NewOnly, e)
		if removed[e] {
			if err := anew.at(moving.NewOnly).Remove(m.Context(), e); err != nil {
				m.Fatal(err)
			}
		}
	}
	if diff := cmp.Diff(anew.stored(), m.stored(), cmp.Exporter(func(reflect.Type) bool { return true })); diff != "" {
		m.Errorf("a log written anew (-) and the one that was moved (+):\n%s", diff)
	}
}

// An entry that is taken back after the import has read it does not come back, also when it
// is delivered again.
func TestTakenBackUnderTheImport(t *testing.T) {
	t.Parallel()
	m := openMove(t)
	e := moving.Entry{Customer: "ann", Order: "1001", Step: "placed", Clerk: "dora", At: noon}
	m.write(moving.OldOnly, e)
	m.db.Inject(dynamotest.Fault{Op: "PutItem", Do: dynamotest.Before(func() {
		if err := m.at(moving.ReadOld).Remove(t.Context(), e); err != nil {
			t.Error(err)
		}
	})})
	if err := m.log.Import(t.Context(), moving.Mark{}, 4, func(moving.Mark) error { return nil }); err != nil {
		t.Fatal(err)
	}
	for _, phase := range []moving.Phase{moving.ReadOld, moving.ReadNew, moving.NewOnly} {
		m.write(phase, e) // delivered again
		m.same(true)
		if steps, err := m.at(phase).Tally(t.Context(), "ann", noon.Add(time.Hour)); len(steps) != 0 || err != nil {
			t.Errorf("in phase %v the log has %v, %v", phase, steps, err)
		}
	}
}

// While ReadOld is being deployed, the old code gets an entry again that was taken back: the
// import takes it back there, too. If the old code takes an entry back, the comparison shows
// that the new log has it: take it back again.
func TestTakenBackBesideTheOldCode(t *testing.T) {
	t.Parallel()
	m := openMove(t)
	e := moving.Entry{Customer: "ann", Order: "1001", Step: "placed", Clerk: "dora", At: noon}
	remove := func(phase moving.Phase) {
		if err := m.at(phase).Remove(t.Context(), e); err != nil {
			t.Fatal(err)
		}
	}
	importAll := func() {
		if err := m.log.Import(t.Context(), moving.Mark{}, 4, func(moving.Mark) error { return nil }); err != nil {
			t.Fatal(err)
		}
	}
	m.write(moving.ReadOld, e)
	remove(moving.ReadOld)
	m.write(moving.OldOnly, e)
	m.same(false)
	importAll()
	m.same(true)

	e.Order = "1002"
	m.write(moving.ReadOld, e)
	remove(moving.OldOnly)
	importAll()
	m.same(false)
	remove(moving.ReadOld)
	m.same(true)
}

// A process that writes only the old log during the import leaves a gap. The
// comparison shows it, and another import closes it.
func TestAnOldWriterBesideTheImport(t *testing.T) {
	t.Parallel()
	m := openMove(t)
	all := entries(rand.New(rand.NewPCG(1, 0)), 12)
	m.write(moving.OldOnly, all[:11]...)
	keep := func(moving.Mark) error { return nil }
	if err := m.log.Import(t.Context(), moving.Mark{}, 4, keep); err != nil {
		t.Fatal(err)
	}
	m.same(true)
	m.write(moving.OldOnly, all[11]) // was not deployed yet
	m.same(false)
	if err := m.log.Import(t.Context(), moving.Mark{}, 4, keep); err != nil {
		t.Fatal(err)
	}
	m.same(true)
}

// The mark of a page that was not recorded is not kept.
func TestTheImportMeetsTrouble(t *testing.T) {
	t.Parallel()
	m := openMove(t)
	m.write(moving.OldOnly, entries(rand.New(rand.NewPCG(5, 0)), 12)...)
	m.db.Inject(dynamotest.Fault{Do: dynamotest.LoseRequest, Op: "PutItem", Times: -1})
	err := m.log.Import(t.Context(), moving.Mark{}, 4, func(mark moving.Mark) error {
		t.Errorf("%v is kept", mark)
		return nil
	})
	if err == nil {
		t.Error("no error")
	}
	m.db.Heal()
	if err := m.log.Import(t.Context(), moving.Mark{}, 4, func(moving.Mark) error { return nil }); err != nil {
		t.Fatal(err)
	}
	m.same(true)
}

// A repeated import writes nothing, and one that continues from a mark begins
// after it.
func TestImportAgain(t *testing.T) {
	t.Parallel()
	m := openMove(t)
	m.write(moving.OldOnly, entries(rand.New(rand.NewPCG(4, 0)), 30)...)
	var last moving.Mark
	keep := func(mark moving.Mark) error { last = mark; return nil }
	for range 2 {
		if err := m.log.Import(t.Context(), moving.Mark{}, 7, keep); err != nil {
			t.Fatal(err)
		}
	}
	if rows := len(m.stored()); rows != 30 {
		t.Errorf("%d rows, want 30", rows)
	}
	cost := m.db.Meter(func() {
		if err := m.log.Import(t.Context(), last, 7, keep); err != nil {
			t.Error(err)
		}
	})
	if cost.Requests != 3 { // a page of two rows
		t.Errorf("the last page takes %d requests, want 3", cost.Requests)
	}
}
