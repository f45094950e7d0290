package outbox_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/examples/quill/fact"
	"github.com/homeops/ddbpatterns/examples/quill/queue"
)

// A model is what an outbox must answer: the facts in the order of their writes,
// and their batches.
type model struct {
	e       *env
	r       *rand.Rand
	order   []int
	batch   map[int]string // "" while it is pending
	shown   []int          // by the index while it is held, all of order otherwise
	release func()
}

func (m *model) put(t *testing.T) {
	n := m.r.IntN(40)
	batch, stands := m.batch[n]
	out, stood, err := m.e.send(t.Context(), m.e.item(t, call(n)))
	want := event.Created
	if stands {
		want = event.Duplicate
	} else {
		m.batch[n], m.order = "", append(m.order, n)
	}
	if err != nil || out != want || stands && (stood.Key != callKey(n) || stood.Batch != batch) {
		t.Errorf("put %d: %v, %+v, %v, want %v", n, out, stood, err, want)
	}
}

func (m *model) mark(t *testing.T) {
	batch := fmt.Sprint("b", m.r.IntN(1000))
	var ns []int
	want := queue.Done{Already: map[string]int{}}
	for range m.r.IntN(6) {
		n := m.r.IntN(40)
		switch in, exists := m.batch[n]; {
		case in != "" && in != batch:
			want.Already[in]++
		case exists:
			want.Marked++
		}
		if ns = append(ns, n); m.batch[n] == "" && slices.Contains(m.order, n) {
			m.batch[n] = batch
		}
	}
	var keys []string
	for _, n := range ns {
		keys = append(keys, callKey(n))
	}
	got, err := m.e.MarkPosted(t.Context(), batch, keys)
	if err != nil { // several faults on one request; it is safe to repeat
		got, err = m.e.MarkPosted(t.Context(), batch, keys)
	}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Fatal(err, diff)
	}
}

func (m *model) pending(t *testing.T) {
	limit := 1 + m.r.IntN(12)
	shown := m.order
	if m.release != nil {
		shown = m.shown
	}
	var want []string
	for _, n := range shown {
		if m.batch[n] == "" && len(want) < limit {
			want = append(want, callKey(n))
		}
	}
	got, err := m.e.Pending(t.Context(), fact.Communications, limit)
	if diff := cmp.Diff(want, keysOf(got)); err != nil || diff != "" {
		t.Errorf("Pending(%d): %v (-want +got)\n%s", limit, err, diff)
	}
}

// hold freezes the index, or lets it catch up. A frozen index shows what was
// pending.
func (m *model) hold(t *testing.T) {
	if m.release != nil {
		m.release()
		m.release = nil
		return
	}
	m.shown = slices.DeleteFunc(slices.Clone(m.order), func(n int) bool { return m.batch[n] != "" })
	var err error
	if m.release, err = m.e.db.Server().HoldIndex(table, "pending-index"); err != nil {
		t.Fatal(err)
	}
}

func (m *model) get(t *testing.T) {
	n := m.r.IntN(40)
	batch, stands := m.batch[n]
	got, ok, err := m.e.Get(t.Context(), callKey(n))
	if err != nil || ok != stands || got.Batch != batch {
		t.Errorf("Get %d: %+v, %v, %v, want %v in %q", n, got, ok, err, stands, batch)
	}
}

// Calls come in any order, replies get lost, and the index lags. Each fact is
// stored once, is pending until it is marked, and never again.
func TestModel(t *testing.T) {
	t.Parallel()
	for seed := range uint64(30) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			m := &model{e: open(t), r: rand.New(rand.NewPCG(seed, 12)), batch: map[int]string{}}
			for _, f := range []dynamotest.Fault{
				{Do: dynamotest.LoseReply, Op: "TransactWriteItems"},
				{Do: dynamotest.LoseReply, Op: "UpdateItem"},
				{Do: dynamotest.Throttle, Op: "BatchGetItem"},
				{Do: dynamotest.LoseReply, Op: "Query"},
				{Do: dynamotest.Conflict, Op: "UpdateItem"},
				{Do: dynamotest.Throttle, Op: "UpdateItem"},
			} {
				f.Nth, f.Times = 1+m.r.IntN(10), 1+m.r.IntN(2)
				m.e.db.Inject(f)
			}
			for range 120 {
				[]func(*testing.T){m.put, m.put, m.mark, m.pending, m.pending, m.get, m.hold}[m.r.IntN(7)](t)
			}
			for len(m.order) < 12 { // until each fault has met a request
				m.put(t)
			}
			for range 12 {
				m.mark(t)
				m.pending(t)
			}
		})
	}
}

// Side by side each fact is new once, and a poster never gets a fact that was
// marked before it asked.
func TestSideBySide(t *testing.T) {
	t.Parallel()
	e := open(t)
	const facts, writers = 120, 4
	var mu sync.Mutex
	created, marked := map[int]int{}, map[string]bool{}
	var writing, posting sync.WaitGroup
	for w := range writers {
		writing.Go(func() {
			for i := range facts {
				n := (i + w*7) % facts
				for range 1000 { // it may meet another writer's transaction
					out, _, err := e.send(t.Context(), e.item(t, call(n)))
					if err == nil {
						mu.Lock()
						if out == event.Created {
							created[n]++
						}
						mu.Unlock()
						break
					}
				}
			}
		})
	}
	done := make(chan struct{})
	for range 2 {
		posting.Go(func() {
			for last := false; !last; {
				select {
				case <-done:
					last = true
				default:
				}
				e.postAll(t, &mu, marked)
			}
		})
	}
	writing.Wait()
	close(done)
	posting.Wait()
	for n := range facts {
		if created[n] != 1 || !marked[callKey(n)] {
			t.Errorf("fact %d was new %d times, marked %v", n, created[n], marked[callKey(n)])
		}
	}
	e.wantPending(t, 9)
	e.wantWaiting(t, 0)
}

// postAll marks what is pending until nothing is.
func (e *env) postAll(t *testing.T, mu *sync.Mutex, marked map[string]bool) {
	for {
		mu.Lock()
		before := map[string]bool{}
		for key := range marked {
			before[key] = true
		}
		mu.Unlock()
		got, err := e.Pending(t.Context(), fact.Communications, 10)
		if err != nil {
			t.Error(err)
			return
		}
		for _, f := range got {
			if before[f.Key] {
				t.Errorf("%s was marked, and is pending", f.Key)
			}
		}
		if _, err := e.MarkPosted(t.Context(), "b", keysOf(got)); err != nil {
			t.Error(err)
			return
		}
		mu.Lock()
		for _, f := range got {
			marked[f.Key] = true
		}
		mu.Unlock()
		if len(got) == 0 {
			return
		}
	}
}
