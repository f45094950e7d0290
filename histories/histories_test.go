package histories_test

import (
	"flag"
	"fmt"
	"runtime"
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

func TestLedger(t *testing.T)  { t.Parallel(); tell(t, newLedger) }
func TestCounter(t *testing.T) { t.Parallel(); tell(t, newCounter) }
func TestMessage(t *testing.T) { t.Parallel(); tell(t, newMessage) }
func TestPattern(t *testing.T) { t.Parallel(); tell(t, newPattern) }
func TestEma(t *testing.T)     { t.Parallel(); tell(t, newEma) }

// tell tells the histories, some at a time, and fails at the first that is
// wrong.
func tell(t *testing.T, story func(*world) story) {
	var next, told, moves atomic.Int64
	var failed atomic.Bool
	began := time.Now()
	t.Run("histories", func(t *testing.T) {
		for range runtime.GOMAXPROCS(0) {
			t.Run("", func(t *testing.T) {
				t.Parallel()
				for !failed.Load() {
					n := next.Add(1) - 1
					if n >= int64(*count) {
						return
					}
					w := history(t, *first+uint64(n), story)
					told.Add(1)
					moves.Add(int64(len(w.parts)))
					if complaint := w.complaint(); complaint != "" && !failed.Swap(true) {
						t.Errorf("%s\nseed %d, after %d histories; again:\ngo test -run '^%s' -seed %d -histories 1", complaint, w.seed, n+1, t.Name()[:len("TestLedger")], w.seed)
					}
				}
			})
		}
	})
	t.Logf("%d histories from seed %d on, %d calls, %v", told.Load(), *first, moves.Load(), time.Since(began).Round(time.Millisecond))
}

// history tells one.
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

// complaint is what is wrong with a history, "" when all is well.
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
	for key, ops := range w.operations() {
		w.broken += "\n" + key + ":\n" + w.print(fault{key: key, ops: ops, info: porcupine.LinearizationInfo{}})
	}
	return w.broken
}
