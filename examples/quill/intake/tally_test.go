package intake_test

import (
	"fmt"
	"math/rand/v2"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/examples/quill/intake"
)

// Random requests come, four at a time, and the database fails at random. The tally
// adds up after each, and the table has as many facts as it says. Then everything
// is sent again without faults, and each event is a fact exactly once.
func TestTallyAddsUp(t *testing.T) {
	t.Parallel()
	for seed := range uint64(8) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { tallyAddsUp(t, seed) })
		})
	}
}

func tallyAddsUp(t *testing.T, seed uint64) {
	b := newBench(t)
	b.Cutover = b.clock()
	b.old("HUBSPOT:0-1:123:contact.propertyChange", 0)
	b.old("HUBSPOT:0-1:130:contact.propertyChange:1795240800123", 0)
	chance := rand.New(rand.NewPCG(seed, 1))
	for i, do := range []dynamotest.Effect{
		dynamotest.LoseReply, dynamotest.LoseRequest, dynamotest.Throttle, dynamotest.Conflict, dynamotest.Unavailable,
		dynamotest.Unavailable.After(), dynamotest.Unprocessed,
	} {
		for j, op := range []string{"TransactWriteItems", "BatchGetItem", "PutItem"} { // PutItem keeps refusals
			share := 0.2 * chance.Float64()
			if do == dynamotest.Unprocessed && op != "BatchGetItem" || do == dynamotest.Conflict && op == "BatchGetItem" {
				continue // the operation does not know the effect
			}
			b.db.Inject(dynamotest.Fault{Do: do, Op: op, Chance: share, Seed: seed*100 + uint64(10*i+j)})
		}
	}
	for n, do := range []dynamotest.Effect{dynamotest.LoseReply, dynamotest.LoseRequest} { // to the end
		key := fmt.Sprintf("HUBSPOT:62515:25:contact.propertyChange:%d:lifecyclestage:1795240800123:%d", 123+n+4, 4108526299+int64(n)+4)
		b.db.Inject(dynamotest.Fault{Do: do, Op: "TransactWriteItems", Key: keyOf(key), Times: -1})
	}
	bodies := [][2]string{}
	for range 40 {
		path, body := randomBody(chance)
		bodies = append(bodies, [2]string{path, body})
	}
	for group := range slices.Chunk(bodies, 4) {
		var wait sync.WaitGroup
		for _, one := range group {
			wait.Go(func() {
				if chance := len(one[1]) % 7; chance == 0 { // a forged request between them
					r := b.request(t.Context(), one[0], one[1])
					r.Header.Set("Authorization", "Bearer forged")
					r.Header.Del("X-HubSpot-Signature-v3")
					b.ServeHTTP(httptest.NewRecorder(), r)
				}
				b.serve(b.request(t.Context(), one[0], one[1]))
			})
		}
		wait.Wait()
		b.addsUp()
	}
	b.db.Tap().Heal() // some may not have fired
	if c := b.Tally.Snapshot(); c.Unstored == 0 || c.Old == 0 || c.New == 0 || c.Refused == 0 || c.Forged == 0 || c.Ignored == 0 {
		t.Errorf("the test does not show all: %+v", c)
	}
	for _, one := range bodies {
		if status, counts := b.serve(b.request(t.Context(), one[0], one[1])); status != 200 {
			t.Errorf("without faults: %d %+v", status, counts)
		}
	}
	b.addsUp()
	if keys, _ := b.stored(); len(keys) != b.Tally.Snapshot().New { // lost replies, too, are counted by what they did
		t.Errorf("%d facts: %+v", len(keys), b.Tally.Snapshot())
	}
	before := b.Tally.Snapshot()
	for _, one := range bodies {
		b.serve(b.request(t.Context(), one[0], one[1]))
	}
	if again := minus(b.Tally.Snapshot(), before); again.New+again.Waiting+again.Old+again.Later != 0 || again.Duplicate+again.Refused+again.Ignored != again.Received {
		t.Errorf("sent again: %+v", again)
	}
}

// addsUp checks that the tally adds up and fits the outbox.
func (b *bench) addsUp() {
	b.t.Helper()
	c := b.Tally.Snapshot()
	if c.New+c.Duplicate+c.Refused+c.Waiting+c.Ignored != c.Received {
		b.t.Errorf("it does not add up: %+v", c)
	}
	if c.Old+c.Later > c.Duplicate || c.Unstored > c.Waiting {
		b.t.Errorf("a part is more than the whole: %+v", c)
	}
	keys, _ := b.stored()
	if len(keys) < c.New || len(keys) > c.New+c.Unstored {
		b.t.Errorf("%d facts: %+v", len(keys), c)
	}
	for _, key := range keys { // old ones are not facts
		if key == "HUBSPOT:62515:25:contact.propertyChange:123:lifecyclestage:1795240800123:4108526299" {
			b.t.Errorf("%s is a fact", key)
		}
	}
}

func randomBody(chance *rand.Rand) (path, body string) {
	if chance.IntN(12) == 0 {
		return intake.AlowarePath, `{"test_payload":true}`
	}
	if chance.IntN(3) == 0 {
		return intake.AlowarePath, call([]string{"ringing", "completed", "missed", "voicemail", "levitating"}[chance.IntN(5)])
	}
	var events []string
	for range chance.IntN(6) {
		events = append(events, change(chance.IntN(12)))
		if chance.IntN(10) == 0 {
			events = append(events, "7")
		}
	}
	return intake.HubSpotPath, batch(events...)
}
