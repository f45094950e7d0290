package model_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	_ "time/tzdata"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"github.com/homeops/ddbpatterns/alias"
	"github.com/homeops/ddbpatterns/counter"
	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/examples/homeops/app"
	"github.com/homeops/ddbpatterns/examples/homeops/classify"
	"github.com/homeops/ddbpatterns/examples/homeops/config"
	"github.com/homeops/ddbpatterns/examples/homeops/model"
	"github.com/homeops/ddbpatterns/examples/homeops/queue"
	"github.com/homeops/ddbpatterns/examples/homeops/telegram"
	"github.com/homeops/ddbpatterns/examples/homeops/worker"
	"github.com/homeops/ddbpatterns/ledger"
)

// house is the whole bot on a database of its own, with a model behind a fake API.
type house struct {
	*app.App
	t    *testing.T
	db   *dynamotest.DB
	api  *api
	sent *telegram.Console
	said strings.Builder // what sent wrote
	now  time.Time
	last worker.Report
	id   int64
}

func newHouse(t *testing.T, a *api) *house {
	t.Helper()
	h := &house{t: t, api: a, now: noon, id: 100}
	h.sent = &telegram.Console{W: &h.said}
	h.db = dynamotest.New(t, &dynamotest.Config{Now: h.clock, MaxBackoff: time.Millisecond})
	h.restart()
	if err := h.CreateTables(t.Context(), true); err != nil {
		t.Fatal(err)
	}
	return h
}

func (h *house) clock() time.Time { return h.now }

// restart begins a new process on the same tables.
func (h *house) restart() {
	h.t.Helper()
	cfg, err := config.Load(func(string) (string, bool) { return "", false })
	if err != nil {
		h.t.Fatal(err)
	}
	log := slog.New(slog.DiscardHandler)
	h.App, err = app.New(app.Options{
		Config: cfg, DB: h.db.Client(), Now: h.clock, Queue: queue.NewMemory(queue.Config{Now: h.clock}), Sender: h.sent, Log: log,
		Observe: func(_ context.Context, r worker.Report) { h.last = r },
		Classifier: func(phrases *alias.Store, limits *counter.Store) (classify.Classifier, error) {
			return model.New(model.Config{
				URL: "http://api/v1", Model: "small", Transport: h.api, Phrases: phrases.All, Log: log, Limits: limits, TokensADay: 1_000_000,
			})
		},
	})
	if err != nil {
		h.t.Fatal(err)
	}
}

func (h *house) message(text string) queue.Message {
	h.t.Helper()
	h.id++
	m := telegram.Message{ID: h.id, Date: h.now.Unix(), Chat: telegram.Chat{ID: -5, Type: "group"}, From: &telegram.User{ID: 7, FirstName: "Eva"}, Text: text}
	body, err := json.Marshal(telegram.Update{ID: m.ID, Message: &m})
	if err != nil {
		h.t.Fatal(err)
	}
	return queue.Message{ID: fmt.Sprint(m.ID), Body: string(body), Receives: 1, MaxReceives: queue.MaxReceives, Receipt: "r"}
}

// handle delivers it, for the n-th time.
func (h *house) handle(m queue.Message, n int) worker.Report {
	h.t.Helper()
	m.Receives = n
	if err := h.Worker.Handle(h.t.Context(), m); err != nil {
		h.t.Fatal(err)
	}
	return h.last
}

// What differs if a later delivery finishes what an earlier one began: times, and
// the nonces of the writers.
var (
	written = []string{"createdAt", "updatedAt", "seenAt", "expiresAt", "ttl", "lease", "claim", "fence", "attempts", "source"}
	nonces  = regexp.MustCompile(`~[\w+/=-]+`)
)

// tables returns all rows except the counter of tokens, where a crash leaves a hold.
func (h *house) tables() map[string]string {
	h.t.Helper()
	all := map[string]string{}
	for _, name := range h.db.Server().Tables() {
		out, err := h.db.Client().Scan(h.t.Context(), &dynamodb.ScanInput{TableName: aws.String(name)})
		if err != nil {
			h.t.Fatal(err)
		}
		for _, item := range out.Items {
			for _, attribute := range written {
				delete(item, attribute)
			}
			if key, ok := item["chatId"].(*types.AttributeValueMemberS); ok && key.Value == model.TokensKey {
				continue
			}
			text, err := json.Marshal(item)
			if err != nil {
				h.t.Fatal(err)
			}
			all[fmt.Sprint(name, len(all))] = nonces.ReplaceAllString(string(text), "~")
		}
	}
	return all
}

// answered reports whether an answer of the model's is stored.
func (h *house) answered() bool {
	return strings.Contains(strings.Join(slicesOf(maps.Values(h.tables())), "\n"), string(ledger.Done))
}

func slicesOf(values func(func(string) bool)) (all []string) {
	values(func(v string) bool { all = append(all, v); return true })
	return all
}

var meanings = map[string]string{
	"köket skiner, jag har joggat": deeds(deed("städning", "köket skiner", nil), deed("träning", "jag har joggat", nil)),
	"köket är väl klart":           deeds(deed("städning", "köket är väl klart", object{"confidence": 0.3})),
	"God morgon":                   deeds(),
}

// The worker dies at each of its requests, before or after it takes effect, around
// the model's answer as elsewhere; the delivery after it ends with the same tables.
// A stored answer is not asked for again, though the model would say something else
// by now. Each question that was asked is in the day's tokens.
func TestEveryCrashAroundTheAnswer(t *testing.T) {
	t.Parallel()
	for text, content := range meanings {
		for _, do := range []dynamotest.Effect{dynamotest.LoseRequest, dynamotest.LoseReply} {
			t.Run(text+" "+do.String(), func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					want := newHouse(t, writes(content))
					m := want.message(text)
					requests := want.db.Meter(func() { want.handle(m, 1) }).Requests
					for k := 1; k <= requests; k++ {
						crash(t, want, m, content, do, k)
					}
				})
			})
		}
	}
}

func crash(t *testing.T, want *house, m queue.Message, content string, do dynamotest.Effect, k int) {
	t.Helper()
	h := newHouse(t, writes(content))
	ctx, die := context.WithCancel(t.Context())
	h.db.Inject(dynamotest.Fault{Do: do, Nth: k})
	h.db.Inject(dynamotest.Fault{Do: dynamotest.LoseRequest, Nth: k + 1, Times: -1})
	timer := time.AfterFunc(5*time.Second, die) // while the SDK tries again
	_ = h.Worker.Handle(ctx, m)
	timer.Stop()
	die()
	h.db.Heal()
	asked, stands := h.api.asked(), h.answered()
	paid := asked
	if stands {
		*h.api = *writes(deeds(deed("tvätt", "köket", nil), deed("tvätt", "morgon", nil)))
	}
	h.restart()
	h.now = h.now.Add(queue.Visibility)
	h.handle(m, 2)
	if !stands {
		paid = h.api.asked()
	}
	if taken, _ := tokensIn(h.db, "homeops-response-counters"); taken < int64(paid)*366 {
		t.Errorf("%v from request %d on: %d tokens are taken for %d questions", do, k, taken, paid)
	}
	if stands && h.api.asked() > 0 || !stands && h.api.asked() > asked+1 {
		t.Errorf("%v from request %d on: asked %d times, then %d", do, k, asked, h.api.asked())
	}
	if diff := cmp.Diff(want.tables(), h.tables()); diff != "" {
		t.Errorf("%v from request %d on, then again:\n%s", do, k, diff)
	}
}

// Two deliveries at once ask once. The second comes back when the first is done,
// and changes nothing; if it was the message's last delivery, the message becomes a
// dead letter.
func TestTwoDeliveriesAskOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		let := make(chan struct{})
		h := newHouse(t, &api{answer: func(_ int, w http.ResponseWriter, _ *http.Request) {
			<-let
			write(w, completion(meanings["köket är väl klart"]))
		}})
		m := h.message("köket är väl klart")
		done := make(chan error)
		go func() { done <- h.Worker.Handle(t.Context(), m) }()
		synctest.Wait()
		err := h.Worker.Handle(t.Context(), m)
		later, ok := errors.AsType[*queue.LaterError](err)
		if !ok || later.After < time.Second || h.api.asked() != 1 {
			t.Errorf("%v, asked %d", err, h.api.asked())
		}
		last := m
		last.Receives = queue.MaxReceives
		if err := h.Worker.Handle(t.Context(), last); err != nil {
			t.Error(err)
		}
		if letters, err := h.Queue.DeadLetters().Receive(t.Context(), 10, time.Minute); err != nil || len(letters) != 1 || !strings.Contains(letters[0].Why(), "in progress") {
			t.Errorf("%v, %v", letters, err)
		}
		close(let)
		if err := <-done; err != nil || h.last.Kind != worker.KindGuess {
			t.Errorf("%v, %+v", err, h.last)
		}
		before, said := h.tables(), h.said.String()
		h.now = h.now.Add(later.After)
		h.handle(m, 3)
		if diff := cmp.Diff(before, h.tables()); diff != "" || h.api.asked() != 1 || strings.Count(said, "[") != 1 || h.said.String() != said {
			t.Errorf("asked %d, sent %q\n%s", h.api.asked(), h.said.String(), diff)
		}
	})
}

// A phrase that is taught later, and a model that answers differently, do not
// change what a message meant. An answer that the vocabulary gave for the model
// stays, too.
func TestARedeliveryMeansTheSame(t *testing.T) {
	t.Parallel()
	down := false
	pant := deeds(deed("pantning", "tog en pant", nil))
	h := newHouse(t, &api{answer: func(n int, w http.ResponseWriter, _ *http.Request) {
		if n == 1 || down {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		write(w, completion(pant))
	}})
	m := h.message("tog en pant")
	r := h.handle(m, 1)
	if want := (classify.Usage{Model: "small", Requests: 1, FellBack: true}); r.Kind != worker.KindNone || r.Usage != want {
		t.Errorf("%s, %+v", r.Kind, r.Usage)
	}
	h.now = h.now.Add(2 * time.Minute)
	h.handle(h.message("pant betyder pantning"), 1)
	before := h.tables()
	h.now = h.now.Add(time.Hour)
	r = h.handle(m, 2)
	if diff := cmp.Diff(before, h.tables()); diff != "" || r.Kind != worker.KindNone || r.Usage != (classify.Usage{Model: "small", Replayed: true}) || h.api.asked() != 1 {
		t.Errorf("%s, %+v, asked %d\n%s", r.Kind, r.Usage, h.api.asked(), diff)
	}
	if taken, events := tokensIn(h.db, "homeops-response-counters"); taken != 0 || events != 1 {
		t.Errorf("the replay took tokens: %d, by %d events", taken, events)
	}
	h.now = h.now.Add(2 * time.Minute)
	if r = h.handle(h.message("tog en pant"), 1); len(r.Recorded) != 1 || r.Recorded[0].Name != "pantning" || r.Sent != "Tack Eva! pantning ✔" {
		t.Errorf("%+v", r)
	}
}

// Whatever the model writes, the bot says what it always says.
func TestTheBotSaysNothingOfTheModels(t *testing.T) {
	t.Parallel()
	const evil = "du är en idiot, köp på evil.example"
	for content, want := range map[string]string{
		deeds(deed("diskning", "diskat", object{"type": evil, "note": evil})): "Menade du «diskning» med «diskat»? Svara ja, eller: nej, jag menade …",
		deeds(deed(evil, "diskat", nil), deed("diskning", evil, nil)):         "",
		evil:                         "Tack Eva! diskning ✔",
		deeds(object{"quote": evil}): "",
	} {
		h := newHouse(t, writes(content))
		r := h.handle(h.message("Jag har diskat "), 1)
		if r.Sent = strings.TrimPrefix(r.Sent, "Eva, "); !strings.EqualFold(r.Sent, want) || strings.Contains(fmt.Sprint(h.tables()), "evil") {
			t.Errorf("%s: %q\n%v", content, r.Sent, h.tables())
		}
	}
}

// The answer adds the price that package once says, and that of the tokens.
func TestPriceOfAnAnswer(t *testing.T) {
	t.Parallel()
	h := newHouse(t, writes(deeds()))
	h.handle(h.message("Hej"), 1) // first contact, which notes the name
	h.handle(h.message("Hej"), 1) // the phrases and names are in memory
	h.now = h.now.Add(2 * time.Minute)
	h.db.Meter(func() { h.handle(h.message("God morgon"), 1) }).Want(t, dynamotest.Price{Requests: 2 + 2 + 2, RCU: 0.5, WCU: 1 + 2 + 2})
	if taken, events := tokensIn(h.db, "homeops-response-counters"); taken != 3*366 || events != 3 {
		t.Errorf("%d tokens of %d messages", taken, events)
	}
}
