// Package ingest is the webhook: it takes an update from Telegram and puts it
// on the queue, or records durably why not.
//
// Telegram delivers a chat's updates one at a time and in order. It repeats for
// a day what is not answered with 2xx. So everything that is verified is
// answered 200, but never before it is safe: enqueued, or among the dead letters
// with a reason, or of a kind that the bot does not use. An answer of 5xx is for
// trouble of our own, where a repetition helps. While the queue takes nothing it
// is 503 with Retry-After, which Telegram respects for up to an hour.
package ingest

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/homeops/ddbpatterns/examples/homeops/queue"
	"github.com/homeops/ddbpatterns/examples/homeops/telegram"
)

// Path is where the webhook is, behind any address.
const Path = "/telegram"

// SecretHeader carries the secret_token that setWebhook was given.
const SecretHeader = "X-Telegram-Bot-Api-Secret-Token"

// maxBody is generous: an update of Telegram's has at most 64 KiB.
const maxBody = 1 << 20

// Disposition is what became of a request.
type Disposition string

// The dispositions.
const (
	Enqueued Disposition = "enqueued"
	Ignored  Disposition = "ignored" // acknowledged, nothing to do
	Refused  Disposition = "refused" // acknowledged, kept among the dead letters
	Denied   Disposition = "denied"  // not Telegram
	Failed   Disposition = "failed"  // trouble of our own: Telegram repeats it
	Busy     Disposition = "busy"    // not now: Telegram repeats it later
)

// Result says what became of a request and why.
type Result struct {
	Disposition Disposition
	Kind        telegram.Kind
	UpdateID    int64
	Chat        int64
	Message     int64
	Reason      string
}

// Handler is the webhook.
type Handler struct {
	Secret string // must not be empty
	Queue  queue.Queue
	Log    *slog.Logger // must not be nil

	// Observe is told of every request. May be nil.
	Observe func(Result)
}

// ServeHTTP answers once the update is safe.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	result, status := h.take(w, r)
	h.Log.Log(r.Context(), levelOf(result), "update", "disposition", string(result.Disposition),
		"kind", string(result.Kind), "update_id", result.UpdateID, "chat_id", result.Chat, "message_id", result.Message,
		"reason", result.Reason, "from", r.RemoteAddr)
	if h.Observe != nil {
		h.Observe(result)
	}
	w.WriteHeader(status)
}

func levelOf(r Result) slog.Level {
	switch r.Disposition {
	case Refused, Denied, Busy:
		return slog.LevelWarn
	case Failed:
		return slog.LevelError
	}
	return slog.LevelDebug
}

func (h *Handler) take(w http.ResponseWriter, r *http.Request) (Result, int) {
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		return Result{Disposition: Denied, Reason: "method " + r.Method}, http.StatusMethodNotAllowed
	}
	if !Verified(r, h.Secret) {
		return Result{Disposition: Denied, Reason: "wrong or missing " + SecretHeader}, http.StatusUnauthorized
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if _, large := errors.AsType[*http.MaxBytesError](err); large {
		return h.refuse(r.Context(), Result{}, body, fmt.Sprintf("a body of over %d bytes", maxBody))
	}
	if err != nil { // the sender went away
		return Result{Disposition: Failed, Reason: err.Error()}, http.StatusBadRequest
	}
	update, err := telegram.Parse(body)
	if err != nil {
		return h.refuse(r.Context(), Result{}, body, err.Error())
	}
	result := describe(update)
	switch result.Kind {
	case telegram.KindOther:
		result.Disposition, result.Reason = Ignored, "of a kind that the bot does not read"
		return result, http.StatusOK
	case telegram.KindEdit:
		result.Disposition, result.Reason = Ignored, "an edit: the first text is kept"
		return result, http.StatusOK
	}
	result, status, after := h.enqueue(r.Context(), result, body)
	if after > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(after.Seconds()))))
	}
	return result, status
}

// Verified reports whether the request carries the secret.
func Verified(r *http.Request, secret string) bool { return Same(r.Header.Get(SecretHeader), secret) }

// Same reports whether the given text is the secret. An empty secret matches
// nothing. It compares hashes, so that the time it takes shows neither content
// nor length.
func Same(given, secret string) bool {
	got, want := sha256.Sum256([]byte(given)), sha256.Sum256([]byte(secret))
	return secret != "" && subtle.ConstantTimeCompare(got[:], want[:]) == 1
}

func describe(u telegram.Update) Result {
	result := Result{Kind: u.Kind(), UpdateID: u.ID}
	switch result.Kind {
	case telegram.KindMessage:
		result.Chat, result.Message = u.Message.Chat.ID, u.Message.ID
	case telegram.KindEdit:
		result.Chat, result.Message = u.EditedMessage.Chat.ID, u.EditedMessage.ID
	case telegram.KindMember:
		result.Chat = u.MyChatMember.Chat.ID
	}
	return result
}

// enqueue also returns when Telegram should repeat the update, 0 if Telegram
// may choose.
func (h *Handler) enqueue(ctx context.Context, result Result, body []byte) (_ Result, status int, after time.Duration) {
	text := sendable(body)
	_, err := h.Queue.Send(ctx, text, attributes(result))
	if err == nil {
		result.Disposition = Enqueued
		return result, http.StatusOK, 0
	}
	if _, large := errors.AsType[*queue.TooLargeError](err); large || errors.Is(err, queue.ErrInvalidContents) {
		result, status = h.refuse(ctx, result, body, err.Error())
		return result, status, 0
	}
	result.Reason = err.Error()
	if busy, ok := errors.AsType[*queue.BusyError](err); ok {
		result.Disposition = Busy
		return result, http.StatusServiceUnavailable, busy.After
	}
	result.Disposition = Failed
	return result, http.StatusInternalServerError, 0
}

func (h *Handler) refuse(ctx context.Context, result Result, body []byte, reason string) (Result, int) {
	if err := h.Queue.Refuse(ctx, body, attributes(result), reason); err != nil {
		result.Disposition, result.Reason = Failed, err.Error()
		return result, http.StatusInternalServerError
	}
	result.Disposition, result.Reason = Refused, reason
	return result, http.StatusOK
}

func attributes(r Result) map[string]string {
	attributes := map[string]string{}
	if r.Chat != 0 {
		attributes[queue.ChatID] = strconv.FormatInt(r.Chat, 10)
	}
	if r.Message != 0 {
		attributes[queue.MessageID] = strconv.FormatInt(r.Message, 10)
	}
	return attributes
}

// sendable returns the original bytes, unless they hold characters that SQS
// refuses. Those become escapes: JSON has them in strings only, where an escape
// means the same. Invalid UTF-8 becomes U+FFFD, as encoding/json reads it.
func sendable(body []byte) string {
	text := string(body)
	if utf8.ValidString(text) && !strings.ContainsAny(text, "\uFFFE\uFFFF") {
		return text
	}
	return strings.NewReplacer("\uFFFE", `\ufffe`, "\uFFFF", `\uffff`).Replace(strings.ToValidUTF8(text, "\uFFFD"))
}
