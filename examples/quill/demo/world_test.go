package demo_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/examples/quill/demo"
	"github.com/homeops/ddbpatterns/examples/quill/demo/stream"
	"github.com/homeops/ddbpatterns/examples/quill/fact"
	"github.com/homeops/ddbpatterns/examples/quill/intake"
	"github.com/homeops/ddbpatterns/examples/quill/post"
	"github.com/homeops/ddbpatterns/examples/quill/powerbi/powerbitest"
	"github.com/homeops/ddbpatterns/ledger"
)

// world is what outlives the processes of a run, in a bubble of testing/synctest. Its
// clock is the bubble's, from the day of the webhooks on.
type world struct {
	t       *testing.T
	db      *dynamotest.DB
	powerBI *powerbitest.Server
	began   time.Time

	mu    sync.Mutex
	ahead time.Duration // of all clocks
}

func newWorld(t *testing.T, latency time.Duration) *world {
	t.Helper()
	w := &world{t: t, began: time.Now()}
	w.db = dynamotest.New(t, &dynamotest.Config{Now: w.Now, Latency: latency})
	w.powerBI = powerbitest.New(powerbitest.Config{Now: w.Now, VisibleAfter: 3 * time.Second})
	first := w.process(demo.NewLife(t.Context(), 0, false))
	if err := first.Create(t.Context(), w.db.Client(), true); err != nil {
		t.Fatal(err)
	}
	return w
}

// Now is the world's clock.
func (w *world) Now() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return stream.Start.Add(time.Since(w.began) + w.ahead)
}

// jump moves all clocks forward.
func (w *world) jump(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ahead += d
}

// Sleep waits in the bubble.
func (w *world) Sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// process is a process of quill, with tallies of its own.
type process struct {
	*demo.Service
	life *demo.Life
	in   *intake.Tally
	out  *post.Tally
}

func (w *world) process(life *demo.Life) *process {
	w.t.Helper()
	p := &process{life: life, in: &intake.Tally{}, out: &post.Tally{}}
	mortal := func(o *dynamodb.Options) { o.HTTPClient = demo.Transport{Life: life, Next: o.HTTPClient} }
	var err error
	p.Service, err = demo.NewService(demo.Place{
		Clock: w, Client: w.db.Server().Client(mortal), URL: "https://powerbi.test",
		PowerBI: demo.Transport{Life: life, Next: demo.Direct{RoundTripper: w.powerBI}},
	}, p.in, p.out)
	if err != nil {
		w.t.Fatal(err)
	}
	p.Handler.Ending = life.Context().Done() // what a dead process still tries ends in the bubble
	return p
}

// webhooks carries requests to the current process. A process that ends does not
// answer.
type webhooks struct{ current func() *process }

func (h webhooks) RoundTrip(r *http.Request) (*http.Response, error) {
	p := h.current()
	answer := httptest.NewRecorder()
	done := make(chan struct{})
	go func() {
		defer close(done)
		p.Handler.ServeHTTP(answer, r)
	}()
	select {
	case <-done:
	case <-p.life.Context().Done():
	}
	if p.life.Over() {
		return nil, errors.New("the connection was closed")
	}
	return answer.Result(), nil
}

func (w *world) sender(current func() *process) demo.Sender {
	return demo.Sender{
		Secrets: demo.Made, URL: "http://quill.test", HTTP: &http.Client{Transport: webhooks{current}},
		Now: w.Now, Sleep: w.Sleep,
	}
}

// drain posts all that is pending, with the current process.
func (w *world) drain(current func() *process) {
	w.t.Helper()
	var err error
	for range 20 {
		p := current()
		err = p.Poster.Drain(p.life.Context())
		if err == nil && !p.life.Over() {
			return
		}
		wait := time.Second
		if busy, ok := errors.AsType[*ledger.InProgressError](err); ok {
			wait += busy.Wait
		}
		if w.Sleep(w.t.Context(), wait) != nil {
			break
		}
	}
	w.t.Fatalf("posting does not end: %v", err)
}

// facts returns the rows of the outbox by key, without what differs from run to
// run.
func (w *world) facts() map[string]map[string]types.AttributeValue {
	rows := map[string]map[string]types.AttributeValue{}
	for _, row := range w.db.Items(demo.FactsTable) {
		pk := row["pk"].(*types.AttributeValueMemberS).Value
		if kind, _ := row["type"].(*types.AttributeValueMemberS); kind == nil || kind.Value == "POSTER" {
			continue
		}
		for _, name := range []string{"nonce", "receivedAt", "batch", "postedAt", "fence", "written", "changed", "ttl"} {
			delete(row, name)
		}
		rows[pk] = row
	}
	return rows
}

// posted returns how many rows of facts Power BI has with each key.
func (w *world) posted() map[string]int {
	all := map[string]int{}
	for _, table := range []string{fact.Communications, fact.Changes} {
		for key, n := range w.powerBI.Keys(table) {
			all[key] += n
		}
	}
	return all
}

// judgeFacts compares the facts in Power BI and in the outbox with those that came,
// and returns how many rows Power BI has twice.
func (w *world) judgeFacts(want map[string]bool) (twice int, wrong []string) {
	posted := w.posted()
	for key := range want {
		if posted[key] == 0 {
			wrong = append(wrong, key+" is not in Power BI")
		}
	}
	for key, n := range posted {
		if !want[key] {
			wrong = append(wrong, key+" is in Power BI and is no fact")
		}
		twice += n - 1
	}
	facts := 0
	for key, row := range w.facts() {
		if kind := row["type"].(*types.AttributeValueMemberS).Value; kind != "FACT" {
			continue
		}
		facts++
		if !want[key] {
			wrong = append(wrong, key+" is in the outbox and is no fact")
		}
		if row["outbox"] != nil {
			wrong = append(wrong, key+" is pending")
		}
	}
	if facts != len(want) {
		wrong = append(wrong, fmt.Sprintf("%d facts are in the outbox, not %d", facts, len(want)))
	}
	for _, v := range w.powerBI.Violations() {
		wrong = append(wrong, "Power BI refused: "+v)
	}
	return twice, wrong
}
