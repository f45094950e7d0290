package model_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/alias"
	"github.com/homeops/ddbpatterns/counter"
	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/examples/homeops/classify"
	"github.com/homeops/ddbpatterns/examples/homeops/model"
	"github.com/homeops/ddbpatterns/record"
	"github.com/homeops/ddbpatterns/schema"
	"github.com/homeops/ddbpatterns/tzclock"
)

const key = "sk-do-not-show-this"

var noon = time.Date(2026, 2, 18, 11, 0, 0, 0, time.UTC)

// object is a JSON object.
type object = map[string]any

// api plays the API: the n-th request gets what answer writes.
type api struct {
	mu     sync.Mutex
	bodies [][]byte
	answer func(n int, w http.ResponseWriter, r *http.Request)
}

func (a *api) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	a.mu.Lock()
	a.bodies = append(a.bodies, body)
	n := len(a.bodies)
	a.mu.Unlock()
	a.answer(n, w, r)
}

func (a *api) asked() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.bodies)
}

// RoundTrip is the API without a network, for bubbles. A handler that waits for the
// request's context is a server that does not answer.
func (a *api) RoundTrip(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	a.ServeHTTP(w, r)
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	return w.Result(), nil
}

// completion is the API's reply with what the model wrote.
func completion(content string) object {
	return object{
		"choices": []object{{"index": 0, "finish_reason": "stop", "message": object{"role": "assistant", "content": content, "refusal": nil}}},
		"usage":   object{"prompt_tokens": 321, "completion_tokens": 45},
	}
}

func write(w http.ResponseWriter, reply any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(reply)
}

// writes is an API whose model always writes the same.
func writes(content string) *api {
	return &api{answer: func(_ int, w http.ResponseWriter, _ *http.Request) { write(w, completion(content)) }}
}

func deeds(deeds ...object) string {
	if deeds == nil {
		deeds = []object{}
	}
	text, err := json.Marshal(object{"deeds": deeds})
	if err != nil {
		panic(err)
	}
	return string(text)
}

// deed returns a good deed of the sender's, changed as given.
func deed(activity, quote string, but object) object {
	kind, effort := classify.KindOf(activity)
	d := object{"activity": activity, "type": kind, "effort": effort, "confidence": 0.9, "quote": quote, "who": nil}
	for field, value := range but {
		d[field] = value
	}
	return d
}

// bench is a classifier and its log.
type bench struct {
	*model.Classifier
	log   bytes.Buffer
	db    *dynamotest.DB
	asked int // messages
}

// open makes a classifier that asks the API over the network.
func open(t *testing.T, a *api, phrases ...alias.Alias) *bench {
	t.Helper()
	server := httptest.NewServer(a)
	t.Cleanup(server.Close)
	return openAt(t, server.URL+"/v1", nil, phrases...)
}

func openAt(t *testing.T, url string, transport http.RoundTripper, phrases ...alias.Alias) *bench {
	t.Helper()
	b := &bench{db: dynamotest.New(t, &dynamotest.Config{MaxBackoff: time.Millisecond})}
	var err error
	b.Classifier, err = model.New(model.Config{
		URL: url, Key: key, Model: "small", Log: slog.New(slog.NewTextHandler(&b.log, nil)), Transport: transport,
		Phrases: func(context.Context, string) ([]alias.Alias, error) { return phrases, nil },
		Limits:  limitsOn(t, b.db, 0), TokensADay: 1_000_000,
	})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// limitsOn is a counter on a database of its own, whose rows record so many events.
func limitsOn(t *testing.T, db *dynamotest.DB, most int) *counter.Store {
	t.Helper()
	limits, err := counter.New(db.Client(), "limits", tzclock.Stockholm, &counter.Config{Now: func() time.Time { return noon }, MaxRecorded: most})
	if err == nil {
		err = schema.Create(t.Context(), db.Client(), limits.Table())
	}
	if err != nil {
		t.Fatal(err)
	}
	return limits
}

// tokensIn is the row of the tokens in a table: what is taken, and by how many events.
func tokensIn(db *dynamotest.DB, table string) (taken, events int64) {
	for _, row := range db.Items(table) {
		if key, ok := row["chatId"].(*types.AttributeValueMemberS); ok && key.Value == model.TokensKey {
			return record.Read(row).Int("count"), record.Read(row).Int("recorded")
		}
	}
	return 0, 0
}

func eventAt(t *testing.T, at time.Time) event.Event {
	t.Helper()
	ev, err := event.New(at, "telegram", "-5", fmt.Sprint(at.UnixMilli()))
	if err != nil {
		t.Fatal(err)
	}
	return ev
}
