package intake_test

import (
	"fmt"
	"math/rand/v2"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/examples/quill/intake"
	"github.com/homeops/ddbpatterns/examples/quill/outbox"
	"github.com/homeops/ddbpatterns/ledger"
)

// In random histories two processes with different clocks get the same calls and
// changes again and again, in any order and side by side. The database fails, and
// rows expire or are deleted.
func TestHistories(t *testing.T) {
	t.Parallel()
	for seed := range uint64(15) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { newHistory(t, seed).run() })
		})
	}
}

type history struct {
	*bench
	random    *rand.Rand
	processes []*intake.Handler

	mu       sync.Mutex
	answered map[string]bool   // facts of requests that were answered 200
	written  map[string]string // the nonce of each fact that ever existed
}

func newHistory(t *testing.T, seed uint64) *history {
	h := &history{bench: newBench(t), random: rand.New(rand.NewPCG(seed, 0)), answered: map[string]bool{}, written: map[string]string{}}
	if h.random.IntN(2) == 0 {
		h.Cutover = h.clock().Add(time.Hour)
	}
	off := time.Duration(h.random.IntN(600)-300) * time.Second
	now := func() time.Time { return h.clock().Add(off) }
	other := h.twin()
	other.Now, other.HubSpot.Now = now, now
	var err error
	if other.Ledger, err = ledger.New(h.db.Client(), marks, &ledger.Config{Now: now}); err != nil {
		t.Fatal(err)
	}
	if other.Outbox, err = outbox.New(h.db.Client(), facts, &outbox.Config{Now: now}); err != nil {
		t.Fatal(err)
	}
	h.processes = []*intake.Handler{h.Handler, other}
	return h
}

func (h *history) run() {
	for range 40 {
		if h.random.IntN(3) == 0 {
			h.fail()
		}
		var requests sync.WaitGroup
		for range 1 + h.random.IntN(3) {
			process := h.processes[h.random.IntN(len(h.processes))]
			path, body, keys := h.webhook()
			requests.Go(func() { h.deliver(process, path, body, keys) })
		}
		requests.Wait()
		h.db.Server().Tap().Heal()
		h.age()
		h.check()
	}
	time.Sleep(2 * time.Minute) // late replies to requests that took effect
	h.check()
	if n, c := len(h.written), h.Tally.Snapshot(); n < c.New || n > c.New+c.Unstored || c.Received != c.New+c.Duplicate+c.Refused+c.Waiting {
		h.t.Errorf("%d facts: %+v", n, c)
	}
}

// fail makes some requests to the database fail.
func (h *history) fail() {
	effects := []dynamotest.Effect{
		dynamotest.LoseReply, dynamotest.LoseRequest, dynamotest.Throttle, dynamotest.Conflict,
		dynamotest.InternalError.After(), dynamotest.Delay(2 * time.Second), dynamotest.DelayReply(time.Minute),
	}
	times := []int{1, 2, 3, -1}
	h.db.Server().Tap().Inject(dynamotest.Fault{ // on the server: it need not fire
		Do: effects[h.random.IntN(len(effects))], Nth: 1 + h.random.IntN(3), Times: times[h.random.IntN(len(times))],
	})
}

// webhook returns a request, and the keys of its facts.
func (h *history) webhook() (path, body string, keys []string) {
	if h.random.IntN(2) == 0 {
		statuses := []string{"completed", "voicemail", "Completed", "ringing", "in-progress", "levitating"}
		n := h.random.IntN(len(statuses))
		id := fmt.Sprint(985097163 + h.random.IntN(3))
		if n < 3 { // it ends the call
			keys = []string{"ALOWARE:CALL:" + id}
		}
		return intake.AlowarePath, strings.Replace(call(statuses[n]), "985097163", id, 1), keys
	}
	var events []string
	for range h.random.IntN(5) {
		n := h.random.IntN(8)
		attempt := fmt.Sprintf(`"attemptNumber":%d`, h.random.IntN(3))
		events = append(events, strings.Replace(change(n), `"attemptNumber":0`, attempt, 1))
		keys = append(keys, fmt.Sprintf("HUBSPOT:62515:25:contact.propertyChange:%d:lifecyclestage:1795240800123:%d", 123+n, 4108526299+int64(n)))
	}
	if h.random.IntN(3) == 0 {
		events = append(events, "7")
	}
	return intake.HubSpotPath, batch(events...), keys
}

func (h *history) deliver(process *intake.Handler, path, body string, keys []string) {
	w := httptest.NewRecorder()
	process.ServeHTTP(w, h.request(h.t.Context(), path, body))
	if w.Code == 503 {
		return
	}
	if w.Code != 200 {
		h.t.Errorf("%d %s", w.Code, w.Body)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, key := range keys {
		h.answered[key] = true
	}
}

// age lets marks expire, and deletes some of them.
func (h *history) age() {
	if h.random.IntN(10) == 0 {
		h.set(h.clock().Add(time.Duration(h.random.IntN(20)) * day))
	}
	if h.random.IntN(5) != 0 {
		return
	}
	for _, row := range h.db.Items(marks) {
		if h.random.IntN(2) == 0 {
			_, err := h.db.Client().DeleteItem(h.t.Context(), &dynamodb.DeleteItemInput{TableName: aws.String(marks), Key: keyOf(text(row, "pk"))})
			if err != nil {
				h.t.Error(err)
			}
		}
	}
}

// check checks that every fact that was answered 200 exists, and that no fact
// was written twice.
func (h *history) check() {
	stands := map[string]bool{}
	for _, row := range h.db.Items(facts) {
		if text(row, "type") != "FACT" {
			continue
		}
		key, nonce := text(row, "pk"), text(row, "nonce")
		stands[key] = true
		if first, ok := h.written[key]; ok && first != nonce {
			h.t.Errorf("%s was written twice", key)
		}
		h.written[key] = nonce
	}
	for key := range h.answered {
		if !stands[key] {
			h.t.Errorf("%s was answered 200, and is not there", key)
		}
	}
}
