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

	"github.com/homeops/ddbpatterns/alias"
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/examples/homeops/classify"
	"github.com/homeops/ddbpatterns/examples/homeops/model"
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
	log bytes.Buffer
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
	b := new(bench)
	var err error
	b.Classifier, err = model.New(model.Config{
		URL: url, Key: key, Model: "small", Log: slog.New(slog.NewTextHandler(&b.log, nil)), Transport: transport,
		Phrases: func(context.Context, string) ([]alias.Alias, error) { return phrases, nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func eventAt(t *testing.T, at time.Time) event.Event {
	t.Helper()
	ev, err := event.New(at, "telegram", "-5", fmt.Sprint(at.UnixMilli()))
	if err != nil {
		t.Fatal(err)
	}
	return ev
}
