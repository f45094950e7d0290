package telegram_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/homeops/ddbpatterns/examples/homeops/telegram"
)

func TestParseKinds(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]telegram.Kind{
		`{"update_id":1,"message":{"message_id":2,"date":3,"chat":{"id":-4}}}`:                                              telegram.KindMessage,
		`{"update_id":1,"edited_message":{"message_id":2,"date":3,"chat":{"id":-4}}}`:                                       telegram.KindEdit,
		`{"update_id":1,"edited_channel_post":{"message_id":2,"date":3,"chat":{"id":-4}}}`:                                  telegram.KindEdit,
		`{"update_id":1,"my_chat_member":{"chat":{"id":4},"from":{"id":4},"date":3,"new_chat_member":{"status":"kicked"}}}`: telegram.KindMember,
		`{"update_id":1,"future_kind":{"x":1}}`:                                                                             telegram.KindOther,
		`{"update_id":1,"channel_post":{"message_id":9,"chat":{"id":-1001987654321},"date":1795240800,"text":"no from"}}`:   telegram.KindMessage,
		`{"update_id":1,"callback_query":{"id":"4382","message":{"chat":{"id":-1},"message_id":5,"date":0},"data":"ok:1"}}`: telegram.KindOther,
	} {
		u, err := telegram.Parse([]byte(body))
		if err != nil || u.Kind() != want {
			t.Errorf("Parse(%s) = %v, %v", body, u.Kind(), err)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		``: "no update", `[]`: "no update", `{"update_id":"x"}`: "no update",
		`{"message":{"date":3,"chat":{"id":-4}}}`:              "message_id",
		`{"message":{"message_id":0,"date":0,"chat":{}}}`:      "message_id, date, chat",
		`{"edited_message":{"message_id":1,"chat":{"id":-4}}}`: "date",
		`{"my_chat_member":{"chat":{"id":4},"from":{"id":4}}}`: "membership",
	} {
		if u, err := telegram.Parse([]byte(body)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Parse(%s) = %+v, %v, want %q", body, u, err, want)
		}
	}
}

func TestAuthorIsNoPlaceholder(t *testing.T) {
	t.Parallel()
	ann := &telegram.User{ID: 5}
	if u, ok := (telegram.Message{From: ann}).Author(); !ok || u.Key() != "5" {
		t.Errorf("Author = %v, %v", u, ok)
	}
	if _, ok := (telegram.Message{}).Author(); ok {
		t.Error("an author without From")
	}
	if _, ok := (telegram.Message{From: ann, Sender: &telegram.Chat{ID: -1}}).Author(); ok {
		t.Error("a placeholder is an author")
	}
}

// roundTrip answers in the caller's goroutine, so that waits are virtual.
type roundTrip func(*http.Request) (int, string)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) {
	status, body := f(r)
	return &http.Response{StatusCode: status, Body: io.NopCloser(strings.NewReader(body)), Request: r}, nil
}

func client(f roundTrip) *telegram.Client {
	return &telegram.Client{Token: "123:secret", HTTP: &http.Client{Transport: f}}
}

func TestSendAsksForWhatTelegramTakes(t *testing.T) {
	t.Parallel()
	var path string
	var got map[string]any
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		path = r.URL.Path
		if err := json.NewDecoder(r.Body).Decode(&got); err != nil {
			t.Error(err)
		}
		_, _ = io.WriteString(w, `{"ok":true,"result":{"message_id":77}}`)
	}))
	defer server.Close()
	c := &telegram.Client{BaseURL: server.URL, Token: "123:secret"}
	id, err := c.Send(t.Context(), telegram.Outgoing{Chat: -4, Text: strings.Repeat("👋", 3000), ReplyTo: 9})
	if err != nil || id != 77 {
		t.Fatalf("Send = %d, %v", id, err)
	}
	if text, _ := got["text"].(string); path != "/bot123:secret/sendMessage" || got["chat_id"] != -4.0 || text != strings.Repeat("👋", 2048) {
		t.Errorf("path %s, request %.100v", path, got)
	}
	if reply, _ := got["reply_parameters"].(map[string]any); reply["message_id"] != 9.0 {
		t.Errorf("reply_parameters %v", got["reply_parameters"])
	}
}

func TestSendWaitsOutA429(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		calls := 0
		c := client(func(*http.Request) (int, string) {
			if calls++; calls == 1 {
				return 429, `{"ok":false,"error_code":429,"description":"Too Many Requests","parameters":{"retry_after":7}}`
			}
			return 200, `{"ok":true,"result":{"message_id":77}}`
		})
		began := time.Now()
		id, err := c.Send(t.Context(), telegram.Outgoing{Chat: 4, Text: "hej"})
		if err != nil || id != 77 || calls != 2 || time.Since(began) != 7*time.Second {
			t.Errorf("Send = %d, %v after %v and %d calls", id, err, time.Since(began), calls)
		}
	})
}

func TestSendDoesNotWaitPastItsDeadline(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		c := client(func(*http.Request) (int, string) {
			return 429, `{"ok":false,"error_code":429,"parameters":{"retry_after":7}}`
		})
		_, err := c.Send(ctx, telegram.Outgoing{Chat: 4, Text: "hej"})
		if refused, ok := errors.AsType[*telegram.RefusedError](err); !ok || refused.Code != 429 {
			t.Errorf("got %v, want the definite 429", err)
		}
	})
}

func TestRefusedIsToldFromUnclear(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		status  int
		body    string
		refused bool
	}{
		"forbidden":  {403, `{"ok":false,"error_code":403,"description":"Forbidden: bot was blocked by the user"}`, true},
		"bad":        {400, `{"ok":false,"error_code":400,"description":"Bad Request: chat not found"}`, true},
		"gateway":    {502, `<html>`, false},
		"server":     {500, `{"ok":false,"error_code":500,"description":"Internal Server Error"}`, false},
		"not theirs": {200, `hello`, false},
	} {
		_, err := client(func(*http.Request) (int, string) { return tc.status, tc.body }).
			Send(t.Context(), telegram.Outgoing{Chat: 4, Text: "hej"})
		if _, ok := errors.AsType[*telegram.RefusedError](err); err == nil || ok != tc.refused {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestErrorsHideTheToken(t *testing.T) {
	t.Parallel()
	c := &telegram.Client{BaseURL: "http://127.0.0.1:1", Token: "123:secret"}
	_, err := c.Send(t.Context(), telegram.Outgoing{Chat: 4, Text: "hej"})
	if err == nil || strings.Contains(err.Error(), "secret") {
		t.Errorf("got %v", err)
	}
}
