package explore

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/homeops/ddbpatterns/dynamotest"
)

// birth is when the clock of a bubble of testing/synctest begins.
var birth = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

const (
	// nap is how long time passes at least: all pauses that end within it end together,
	// because the pauses between attempts have random lengths.
	nap = 2 * time.Second
	// horizon is how long the explorer waits for a caller that sleeps.
	horizon = 30 * 24 * time.Hour
)

type hash [16]byte

func sum(of []byte) hash {
	h := sha256.Sum256(of)
	return hash(h[:16])
}

// late is a request whose caller no longer waits for it.
type late struct {
	*request
	costs int // the budget that its arrival takes from, [free] if it has paid
}

// version is a state of the server.
type version struct {
	of   *dynamotest.Snapshot
	hash hash
}

// world is a schedule under way. It runs on one goroutine of a bubble, while all others
// wait.
type world struct {
	cfg      *Config
	schedule Schedule
	server   *dynamotest.Server
	raw      *dynamodb.Client
	keys     map[string][]string // key attributes of each table
	ttl      map[string]string   // TTL attribute of each table

	used [faults]int
	last int // the caller that moved last

	// beginners is the index of the first caller that may begin a life: see beginnings.
	beginners int

	dump     []byte
	tables   hash
	versions []version // only if reads may be old
	tokens   []string  // of transactions that took effect
	instants []time.Time
	finished bool
	void     bool // nothing is left to see: the schedule is not judged
	wrong    error
	trace    *drawing // nil unless the schedule is drawn

	over   chan struct{} // closed at the end: goroutines that still wait go
	signal chan struct{} // a caller sent a request or returned

	mu      sync.Mutex // guards what follows, which the goroutines of callers use
	from    time.Time  // when the time began that passes now, zero if none does
	until   time.Time  // when it will have passed at the earliest
	open    []*request
	later   []late
	lives   []*Process
	notes   []string
	effects map[string]int
	done    bool
	broken  error // what a goroutine of a caller found
}

func newWorld(cfg *Config, from *dynamotest.Snapshot, program func(*Schedule)) *world {
	w := &world{
		cfg: cfg, last: -1, effects: map[string]int{}, instants: []time.Time{cfg.Start},
		over: make(chan struct{}), signal: make(chan struct{}, 1),
	}
	w.server = dynamotest.NewServer(&dynamotest.Config{From: from})
	w.raw = w.server.Client()
	w.look()
	w.readDefinitions()
	program(&w.schedule)
	return w
}

// readDefinitions takes the keys and the TTL attribute of each table from the dump.
func (w *world) readDefinitions() {
	w.keys, w.ttl = map[string][]string{}, map[string]string{}
	for line := range bytes.Lines(w.dump) {
		var def struct {
			Table struct {
				TableName string
				KeySchema []struct{ AttributeName string }
			}
			TimeToLive string
		}
		if json.Unmarshal(line, &def) != nil || def.Table.TableName == "" {
			continue // the line of an item
		}

		for _, key := range def.Table.KeySchema {
			w.keys[def.Table.TableName] = append(w.keys[def.Table.TableName], key.AttributeName)
		}

		w.ttl[def.Table.TableName] = def.TimeToLive
	}
}

func (w *world) note(text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.notes = append(w.notes, text)
	w.wake()
}

// wake tells the explorer that a caller did something.
func (w *world) wake() {
	select {
	case w.signal <- struct{}{}:
	default:
	}
}

// end lets all goroutines of the callers go.
func (w *world) end() {
	w.mu.Lock()
	w.done = true
	lives := w.lives
	w.mu.Unlock()
	close(w.over)

	for _, p := range lives {
		p.cancel()
	}

	// Time stands still in a bubble whose first goroutine has returned.
	deadline := time.After(horizon)
	for slices.ContainsFunc(lives, w.remains) {
		select {
		case <-w.signal:
		case <-deadline:
			return
		}
	}

	time.Sleep(nap)
}

// remains reports whether a life has still to return.
func (w *world) remains(p *Process) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return !p.returned
}

// settle waits until every caller has sent a request, has returned, or sleeps. The
// bubble's clock, which is everybody's, stands still meanwhile.
func (w *world) settle() {
	synctest.Wait()
	w.mu.Lock()
	defer w.mu.Unlock()

	slices.SortStableFunc(w.open, func(a, b *request) int {
		if a.process != b.process {
			return a.process.caller.index - b.process.caller.index
		}
		return strings.Compare(a.text(), b.text())
	})

	for i, q := range w.open {
		if i > 0 && q.process == w.open[i-1].process && q.text() == w.open[i-1].text() && !q.reads() && w.broken == nil {
			w.broken = fmt.Errorf("%s: two goroutines make the same write at the same time (%v): the explorer cannot tell the two apart: give the writes different contents, or send only one", q.process.caller.name, q)
		}
	}

	if w.wrong == nil {
		w.wrong = w.broken
	}
}

// idle reports whether a caller lives without an open request, with w.mu held.
func (w *world) idle(c *caller) bool {
	return c.lives() && !slices.ContainsFunc(w.open, func(q *request) bool { return q.process == c.life })
}

// pausing reports whether a caller sleeps.
func (w *world) pausing() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.ContainsFunc(w.schedule.callers, w.idle)
}

// living reports whether a caller has still to return.
func (w *world) living() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.ContainsFunc(w.schedule.callers, (*caller).lives)
}

// move lets time pass until then.
func (w *world) move(then time.Time) {
	w.pass(then, func() { time.Sleep(time.Until(then)) })
}

// wait lets time pass until a caller sends a request or returns.
func (w *world) wait() {
	began := time.Now()
	acted := w.pass(began.Add(nap), func() {
		timer := time.NewTimer(horizon)
		defer timer.Stop()
		select {
		case <-w.signal:
			w.wake() // for pass
		case <-timer.C:
		}
		time.Sleep(time.Until(w.awake()))
	})
	if acted {
		return
	}

	w.void = true
	if len(w.open) == 0 {
		w.wrong = errors.New(w.sleepers() + " waits for something that never comes")
	}
}

// pause lets the pauses of callers end while requests are open.
func (w *world) pause() {
	w.void = !w.pass(time.Now().Add(nap), func() { time.Sleep(nap) })
}

func (w *world) sleepers() string {
	var names []string
	for _, c := range w.schedule.callers {
		if c.lives() {
			names = append(names, c.name)
		}
	}
	return strings.Join(names, ", ")
}

// now is the time for callers. Who wakes while time passes reads when it will have
// passed, because pauses have random lengths.
func (w *world) now() time.Time {
	if w.from.IsZero() {
		return time.Now()
	}
	return w.awake()
}

// awake is when the time that passes will have passed, if a caller wakes now: at whole
// seconds, for a timer may have begun after a pause.
func (w *world) awake() time.Time {
	passed := time.Since(w.from) + time.Second - 1
	if end := w.from.Add(passed.Truncate(time.Second)); end.After(w.until) {
		return end
	}
	return w.until
}

// pass runs sleep, during which time passes until then at least, and reports whether a
// caller did something meanwhile.
func (w *world) pass(then time.Time, sleep func()) (acted bool) {
	w.mu.Lock()
	w.from, w.until = time.Now(), then
	before := len(w.notes)
	w.mu.Unlock()

	select {
	case <-w.signal: // what a caller did before
	default:
	}

	sleep()
	synctest.Wait()

	// Who wakes first is chance, so the new notes are put in the order of their callers.
	w.mu.Lock()
	w.from = time.Time{}
	slices.SortStableFunc(w.notes[before:], func(a, b string) int {
		return strings.Compare(a[:strings.Index(a, ":")], b[:strings.Index(b, ":")])
	})
	w.mu.Unlock()

	w.instants = append(w.instants, time.Now())
	w.beginners = 0 // any life may begin at the new time

	select {
	case <-w.signal:
		return true
	default:
		return false
	}
}

// kill ends a life without a further step of it, and begins the next.
func (w *world) kill(p *Process) {
	w.mu.Lock()
	p.dead = true
	for _, q := range slices.Clone(w.open) {
		if q.process == p {
			w.remove(q)
			if q.arrives() {
				w.later = append(w.later, late{q, faultLate})
			}
		}
	}

	w.mu.Unlock()
	w.beginners = p.caller.index
	w.begin(p.caller)
}

// answer gives the caller its answer.
func (w *world) answer(q *request, what string, a answer) {
	w.mu.Lock()
	w.remove(q)
	q.process.caller.learn(time.Now(), what, q, a)
	w.mu.Unlock()
	q.answered <- a
}

// learn adds to what a caller knows.
func (c *caller) learn(at time.Time, what string, q *request, a answer) {
	known := fmt.Appendf(nil, "%x %d %s %s%s %d %v ", c.heard, at.UnixNano(), what, q.Op, q.effect, a.Status, a.err)
	c.heard = sum(append(append(known, q.Body...), a.Body...))
}
