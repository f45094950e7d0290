package histories_test

import (
	"flag"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anishathalye/porcupine"
)

var (
	count   = flag.Int("histories", 200, "how many are told of each package")
	first   = flag.Uint64("seed", 1, "of the first; the others follow it")
	picture = flag.String("picture", "", "`file` for porcupine's drawing of a failure")
)

var stories = map[string]func(*world) story{
	"Ledger": newLedger, "Counter": newCounter, "Message": newMessage, "Pattern": newPattern, "Ema": newEma, "Activity": newActivity, "Alias": newAlias, "Record": newRecord, "Exact": newExact, "Limit": newLimit,
}

func TestLedger(t *testing.T)   { t.Parallel(); tell(t) }
func TestAlias(t *testing.T)    { t.Parallel(); tell(t) }
func TestActivity(t *testing.T) { t.Parallel(); tell(t) }
func TestCounter(t *testing.T)  { t.Parallel(); tell(t) }
func TestMessage(t *testing.T)  { t.Parallel(); tell(t) }
func TestPattern(t *testing.T)  { t.Parallel(); tell(t) }
func TestRecord(t *testing.T)   { t.Parallel(); tell(t) }
func TestExact(t *testing.T)    { t.Parallel(); tell(t) }
func TestLimit(t *testing.T)    { t.Parallel(); tell(t) }
func TestEma(t *testing.T)      { t.Parallel(); tell(t) }

// A seed always makes the same history, whatever else the machine does.
func TestSeedTellsOneHistory(t *testing.T) {
	t.Parallel()
	for seed := *first; seed < *first+5; seed++ {
		for name, story := range stories {
			if a, b := history(t, seed, story).all(), history(t, seed, story).all(); a != b {
				t.Errorf("%s, seed %d: two histories:\n%s\nand\n%s", name, seed, a, b)
			}
		}
	}
}

// tell makes the histories, some at a time, and fails with the first wrong one.
func tell(t *testing.T) {
	name := strings.TrimPrefix(t.Name(), "Test")
	var next, told atomic.Int64
	var answers sync.Map
	var mu sync.Mutex // guards what follows
	wrong, complaint := int64(*count), ""
	began := time.Now()
	worker := func(t *testing.T) {
		t.Parallel()
		for {
			n := next.Add(1) - 1
			mu.Lock()
			over := n >= wrong
			mu.Unlock()
			if over {
				return
			}
			w := history(t, *first+uint64(n), stories[name])
			told.Add(1)
			w.tally(&answers)
			c := w.complaint()
			mu.Lock()
			if c != "" && n < wrong {
				wrong, complaint = n, c
			}
			mu.Unlock()
		}
	}
	t.Run("", func(t *testing.T) {
		for range runtime.GOMAXPROCS(0) {
			t.Run("", worker)
		}
	})
	if complaint != "" {
		t.Errorf("%s\nafter %d histories; again:\n  scripts/histories -seed %d -n 1 %s", complaint, wrong+1, *first+uint64(wrong), strings.ToLower(name))
	}
	t.Logf("%d histories from seed %d on, %v", told.Load(), *first, time.Since(began).Round(time.Millisecond))
	var lines []string
	for kind, n := range answers.Range {
		lines = append(lines, fmt.Sprintf("%8d %s", n.(*atomic.Int64).Load(), kind))
	}
	slices.Sort(lines)
	t.Log("answers:\n" + strings.Join(lines, "\n"))
}

// tally counts the answers by kind.
func (w *world) tally(answers *sync.Map) {
	for _, ops := range w.operations() {
		for _, op := range ops {
			m := op.Input.(*move)
			n, _ := answers.LoadOrStore(strings.ReplaceAll(fmt.Sprintf("%T → %T", m.in, m.out), "histories_test.", ""), new(atomic.Int64))
			n.(*atomic.Int64).Add(1)
		}
	}
}

// history makes one history.
func history(t *testing.T, seed uint64, story func(*world) story) *world {
	var w *world
	synctest.Test(t, func(t *testing.T) {
		w = newWorld(seed, story)
		if err := w.run(t.Context()); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
	})
	return w
}

// complaint is what is wrong with a history, or "".
func (w *world) complaint() string {
	faults := w.judge()
	if len(faults) > 0 {
		f := faults[0]
		if *picture != "" {
			if err := porcupine.VisualizePath(porcupineModel(w.story), f.info, *picture); err != nil {
				return err.Error()
			}
		}
		if f.slow {
			return fmt.Sprintf("no order of calls found in time, of %s:\n%s", f.key, w.print(f))
		}
		return fmt.Sprintf("no order of calls gives these answers, of %s:\n%s", f.key, w.print(f))
	}
	if w.broken == "" {
		w.broken = w.story.verdict()
	}
	if w.broken == "" {
		return ""
	}
	return w.broken + "\n" + w.all()
}

// all returns the history of all keys.
func (w *world) all() string {
	var b strings.Builder
	all := w.operations()
	for _, key := range slices.Sorted(maps.Keys(all)) {
		fmt.Fprintf(&b, "%s:\n%s", key, w.print(fault{key: key, ops: all[key]}))
	}
	return b.String()
}
