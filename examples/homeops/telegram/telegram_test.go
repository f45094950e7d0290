package telegram_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

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
		// Telegram is asked for what is read, and for nothing else.
		read := want == telegram.KindMessage || want == telegram.KindMember
		if asked := slices.ContainsFunc(telegram.Updates, func(name string) bool { return strings.Contains(body, `"update_id":1,"`+name+`"`) }); asked != read {
			t.Errorf("%s: asked for %v, read %v", body, asked, read)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		``: "not an update", `[]`: "not an update", `{"update_id":"x"}`: "not an update",
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

// transport answers in the caller's goroutine, so that waits are virtual.
type transport func(*http.Request) (*http.Response, error)

func (f transport) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func response(r *http.Request, status int, header http.Header, body string) *http.Response {
	return &http.Response{StatusCode: status, Header: header, Body: io.NopCloser(strings.NewReader(body)), Request: r}
}

// roundTrip is a transport whose answers have no headers.
type roundTrip func(*http.Request) (int, string)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) {
	status, body := f(r)
	return response(r, status, nil, body), nil
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

// tooMany answers 429 to each call with its wait, and takes the next.
func tooMany(calls *int, waits ...int) roundTrip {
	return func(*http.Request) (int, string) {
		if *calls++; *calls > len(waits) {
			return 200, `{"ok":true,"result":{"message_id":77}}`
		}
		return 429, fmt.Sprintf(`{"ok":false,"error_code":429,"description":"Too Many Requests","parameters":{"retry_after":%d}}`, waits[*calls-1])
	}
}

// Send waits for a short time. A 429 that makes the waits too long together is
// returned at once, with its wait.
func TestSendWaitsForAShortTime(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		waits          []int
		within         time.Duration
		calls          int
		waited, refuse time.Duration
	}{
		{waits: []int{2}, calls: 2, waited: 2 * time.Second},
		{waits: []int{1, 1}, calls: 3, waited: 2 * time.Second},
		{waits: []int{3}, calls: 1, refuse: 3 * time.Second},
		{waits: []int{1, 2}, calls: 2, waited: time.Second, refuse: 2 * time.Second},
		{waits: []int{1, 1, 1}, calls: 3, waited: 2 * time.Second, refuse: time.Second},
		{waits: []int{2}, within: 1500 * time.Millisecond, calls: 1, refuse: 2 * time.Second},
		{waits: []int{40}, calls: 1, refuse: 40 * time.Second},
	} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), cmp.Or(tc.within, time.Hour))
			defer cancel()
			began, calls := time.Now(), 0
			id, err := client(tooMany(&calls, tc.waits...)).Send(ctx, telegram.Outgoing{Chat: 4, Text: "hej"})
			var refuse time.Duration
			if refused, ok := errors.AsType[*telegram.RefusedError](err); ok && refused.Code == 429 {
				refuse = refused.RetryAfter
			}
			if calls != tc.calls || time.Since(began) != tc.waited || refuse != tc.refuse || (id == 77) != (err == nil) || (err == nil) != (tc.refuse == 0) {
				t.Errorf("%v: %d, %v after %v and %d calls", tc.waits, id, err, time.Since(began), calls)
			}
		})
	}
}

// A refusal for a group that became a supergroup names it.
func TestAMoveIsInTheRefusal(t *testing.T) {
	t.Parallel()
	_, err := client(func(*http.Request) (int, string) {
		return 400, `{"ok":false,"error_code":400,"description":"Bad Request: group chat was upgraded to a supergroup chat","parameters":{"migrate_to_chat_id":-1002123456789}}`
	}).Send(t.Context(), telegram.Outgoing{Chat: -4, Text: "hej"})
	if refused, ok := errors.AsType[*telegram.RefusedError](err); !ok || refused.MovedTo != -1002123456789 || refused.RetryAfter != 0 {
		t.Errorf("got %+v", err)
	}
}

func TestMoved(t *testing.T) {
	t.Parallel()
	group, super := telegram.Chat{ID: -4}, telegram.Chat{ID: -100, Type: "supergroup"}
	for _, m := range []telegram.Message{{Chat: group, MigrateTo: super.ID}, {Chat: super, MigrateFrom: group.ID}} {
		if from, to, ok := m.Moved(); !ok || from.ID != group.ID || to.ID != super.ID {
			t.Errorf("%+v: %v, %v, %v", m, from, to, ok)
		}
	}
	if _, _, ok := (telegram.Message{Chat: super}).Moved(); ok {
		t.Error("any message is a move")
	}
	if group.Supergroup() || !super.Supergroup() {
		t.Error("a group is not told from a supergroup")
	}
}

// Only Telegram's own no is definite. After an answer from something on the
// way, or one in which Telegram does not know, it is unclear whether the
// message was sent.
func TestRefusedIsToldFromUnclear(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		status  int
		body    string
		refused int
	}{
		"forbidden":               {403, `{"ok":false,"error_code":403,"description":"Forbidden: bot was blocked by the user"}`, 403},
		"bad":                     {400, `{"ok":false,"error_code":400,"description":"Bad Request: chat not found"}`, 400},
		"the last of the range":   {499, `{"ok":false,"error_code":499}`, 499},
		"said with 200":           {200, `{"ok":false,"error_code":403}`, 403},
		"gateway":                 {502, `<html>`, 0},
		"server":                  {500, `{"ok":false,"error_code":500,"description":"Internal Server Error"}`, 0},
		"server, said with 200":   {200, `{"ok":false,"error_code":500}`, 0},
		"a no behind a gateway":   {502, `{"ok":false,"error_code":403}`, 0},
		"not theirs":              {200, `hello`, 0},
		"nothing":                 {200, `{}`, 0},
		"null":                    {200, `null`, 0},
		"no code":                 {200, `{"ok":false}`, 0},
		"a code below":            {200, `{"ok":false,"error_code":399}`, 0},
		"another's 404":           {404, `{"message":"no such route"}`, 0},
		"another's 404, coded":    {404, `{"error_code":404}`, 0},
		"yes and no":              {403, `{"ok":true,"error_code":403,"result":{"message_id":7}}`, 0},
		"half understood":         {403, `{"ok":false,"error_code":403,"result":"x"}`, 0},
		"timed out":               {408, `{}`, 0},
		"timed out, by code":      {200, `{"ok":false,"error_code":408}`, 0},
		"timed out, by status":    {408, `{"ok":false,"error_code":400}`, 0},
		"moved, and not to there": {302, `{"ok":false,"error_code":400}`, 0},
	} {
		_, err := client(func(*http.Request) (int, string) { return tc.status, tc.body }).
			Send(t.Context(), telegram.Outgoing{Chat: 4, Text: "hej"})
		refused, ok := errors.AsType[*telegram.RefusedError](err)
		if err == nil || ok != (tc.refused != 0) || ok && refused.Code != tc.refused {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A 429 is also recognized by its status: that of a proxy before Telegram
// counts as well.
func TestA429OfAProxy(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		status       int
		header, body string
		after        time.Duration
	}{
		"the header":          {429, "9", `<html>`, 9 * time.Second},
		"the body goes first": {429, "9", `{"ok":false,"error_code":429,"parameters":{"retry_after":7}}`, 7 * time.Second},
		"neither":             {429, "", `{}`, time.Second},
		"a date":              {429, "Wed, 21 Oct 2026 07:28:00 GMT", `{}`, time.Second},
		"by its code":         {200, "", `{"ok":false,"error_code":429,"parameters":{"retry_after":7}}`, 7 * time.Second},
		"for ever":            {429, "9223372036854775807", `{}`, 24 * time.Hour},
	} {
		calls := 0
		proxy := transport(func(r *http.Request) (*http.Response, error) {
			calls++
			return response(r, tc.status, http.Header{"Retry-After": {tc.header}}, tc.body), nil
		})
		c := &telegram.Client{Token: "123:secret", HTTP: &http.Client{Transport: proxy}}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second/2) // no time to wait
		_, err := c.Send(ctx, telegram.Outgoing{Chat: 4, Text: "hej"})
		cancel()
		if refused, ok := errors.AsType[*telegram.RefusedError](err); !ok || refused.Code != 429 || refused.RetryAfter != tc.after || calls != 1 {
			t.Errorf("%s: got %+v after %d calls, want the definite 429 with %v", name, err, calls, tc.after)
		}
	}
}

// A redirect is not followed: the message would be sent again, elsewhere.
func TestRedirectsAreNotFollowed(t *testing.T) {
	t.Parallel()
	for _, status := range []int{301, 302, 303, 307, 308} {
		calls := 0
		theirs := &http.Client{Transport: transport(func(r *http.Request) (*http.Response, error) {
			if calls++; calls > 1 {
				return response(r, 200, nil, `{"ok":true,"result":{"message_id":77}}`), nil
			}
			return response(r, status, http.Header{"Location": {"https://elsewhere.example/"}}, `{"ok":true,"result":{"message_id":77}}`), nil
		})}
		c := &telegram.Client{Token: "123:secret", HTTP: theirs}
		id, err := c.Send(t.Context(), telegram.Outgoing{Chat: 4, Text: "hej"})
		if _, refused := errors.AsType[*telegram.RefusedError](err); err == nil || refused || id != 0 || calls != 1 {
			t.Errorf("%d: %d, %v after %d calls", status, id, err, calls)
		}
		if theirs.CheckRedirect != nil {
			t.Error("the caller's own client was changed")
		}
	}
}

func TestNoTokenIsRefused(t *testing.T) {
	t.Parallel()
	c := client(func(*http.Request) (int, string) { t.Error("asked all the same"); return 200, `{"ok":true}` })
	c.Token = ""
	_, err := c.Send(t.Context(), telegram.Outgoing{Chat: 4, Text: "hej"})
	if _, ok := errors.AsType[*telegram.RefusedError](err); !ok || err.Error() != "telegram: refused: the Client has no Token" {
		t.Errorf("got %v", err)
	}
}

// Telegram counts UTF-16 units, and takes 4096 of them: not one more, and not
// half of a pair.
func TestTextIsCutWhereTelegramCuts(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{ // in bytes
		strings.Repeat("x", 4095):             4095,
		strings.Repeat("x", 4096):             4096,
		strings.Repeat("x", 4097):             4096,
		strings.Repeat("å", 4097):             2 * 4096,
		strings.Repeat("👋", 2048):             4 * 2048,
		strings.Repeat("👋", 2048) + "x":       4 * 2048,
		"x" + strings.Repeat("👋", 2048):       1 + 4*2047,
		strings.Repeat("x", 4094) + "👋" + "x": 4094 + 4,
		strings.Repeat("x", 4095) + "👋" + "x": 4095,
	} {
		_, err := client(func(r *http.Request) (int, string) {
			var sent struct{ Text string }
			if err := json.NewDecoder(r.Body).Decode(&sent); err != nil || len(sent.Text) != want || !strings.HasPrefix(text, sent.Text) {
				t.Errorf("%d bytes of %d, want %d, %v", len(sent.Text), len(text), want, err)
			}
			return 200, `{"ok":true}`
		}).Send(t.Context(), telegram.Outgoing{Chat: 4, Text: text})
		if err != nil {
			t.Error(err)
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

func TestForwarded(t *testing.T) {
	t.Parallel()
	for extra, want := range map[string]bool{
		"": false, `,"forward_origin":{"type":"user","date":1,"sender_user":{"id":7}}`: true, `,"forward_date":1771412400`: true,
		`,"forward_origin":null`: false, `,"reply_to_message":{"message_id":1,"date":1,"chat":{"id":1},"forward_date":1}`: false,
	} {
		u, err := telegram.Parse([]byte(`{"update_id":1,"message":{"message_id":2,"date":1771412400,"chat":{"id":1},"text":"Jag har diskat"` + extra + `}}`))
		if err != nil || u.Message.Forwarded() != want {
			t.Errorf("%s: %v, want %v", extra, err, want)
		}
	}
}

// Offsets and lengths are UTF-16 units, and a mention comes back as it was
// sent.
func TestMentions(t *testing.T) {
	t.Parallel()
	åsa := telegram.User{ID: 5001, FirstName: "Åsa 👩‍🦰"}
	entity := func(offset, length int) []telegram.Entity {
		return []telegram.Entity{{Type: "text_mention", Offset: offset, Length: length, User: &åsa}}
	}
	for text, want := range map[string][]telegram.Entity{
		"Åsa 👩‍🦰, menade du":      entity(0, 9),
		"👋 Hej Åsa 👩‍🦰! Åsa 👩‍🦰?": entity(7, 9),
		"Hej Åsa!": nil,
	} {
		var got telegram.Message
		sender := client(func(r *http.Request) (int, string) {
			if err := json.NewDecoder(r.Body).Decode(&got); err != nil {
				t.Error(err)
			}
			return 200, `{"ok":true,"result":{"message_id":77}}`
		})
		out := telegram.Outgoing{Chat: -4, Text: text, Mention: åsa}
		if _, err := sender.Send(t.Context(), out); err != nil {
			t.Fatal(err)
		}
		if diff := gocmp.Diff(want, got.Entities); diff != "" {
			t.Errorf("%q (-want +got)\n%s", text, diff)
		}
		if id := got.Mentions(); (id == åsa.ID) != (want != nil) {
			t.Errorf("%q mentions %d", text, id)
		}
	}
	for _, out := range []telegram.Outgoing{{Text: "hej"}, {Text: "hej", Mention: telegram.User{ID: 5}}} {
		if got := out.Entities(); got != nil {
			t.Errorf("%+v of nobody", got)
		}
	}
	other := telegram.Message{Entities: []telegram.Entity{{Type: "bold"}, {Type: "text_mention"}, {Type: "mention", User: &åsa}}}
	if id := other.Mentions(); id != 0 {
		t.Errorf("mentions %d", id)
	}
}

func TestConsoleWrites(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	c := &telegram.Console{W: &out}
	for i, text := range []string{"hej", "då"} {
		if id, err := c.Send(t.Context(), telegram.Outgoing{Chat: -5, Text: text}); err != nil || id != 1_000_001+int64(i) {
			t.Errorf("message %d has the id %d, %v", i, id, err)
		}
	}
	if out.String() != "[-5] hej\n[-5] då\n" {
		t.Errorf("wrote %q", &out)
	}
}
