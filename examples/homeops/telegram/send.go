package telegram

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"
	"unicode/utf16"
)

// Outgoing is a message to send.
type Outgoing struct {
	Chat    int64
	Text    string
	ReplyTo int64 // a message id, 0 for none
}

// Sender sends messages. sendMessage has no idempotency parameter: a Sender
// never repeats a request whose reply was lost, and so does not its caller.
type Sender interface {
	// Send returns the id of the message sent. A *RefusedError says that it
	// was not; after any other error it may have been.
	Send(context.Context, Outgoing) (messageID int64, err error)
}

// RefusedError is Telegram's definite no: nothing was sent.
type RefusedError struct {
	Code        int
	Description string
}

// Error gives Telegram's code and words.
func (e *RefusedError) Error() string {
	return fmt.Sprintf("telegram: refused: %d %s", e.Code, e.Description)
}

// MaxText is how many UTF-16 units a message may have.
const MaxText = 4096

// Client calls the Bot API.
type Client struct {
	// BaseURL defaults to https://api.telegram.org.
	BaseURL string
	Token   string
	HTTP    *http.Client // defaults to http.DefaultClient
}

var _ Sender = (*Client)(nil)

// reply is what every method of the Bot API answers.
type reply struct {
	OK          bool   `json:"ok"`
	Code        int    `json:"error_code"`
	Description string `json:"description"`
	Result      struct {
		ID int64 `json:"message_id"`
	} `json:"result"`
	Parameters struct {
		RetryAfter int `json:"retry_after"`
	} `json:"parameters"`
}

// Send calls sendMessage. It waits out a 429 as long as the context allows.
func (c *Client) Send(ctx context.Context, out Outgoing) (int64, error) {
	body, err := json.Marshal(requestOf(out))
	if err != nil {
		return 0, fmt.Errorf("telegram: %w", err)
	}
	for {
		answer, err := c.post(ctx, body)
		if err != nil {
			return 0, err
		}
		if answer.OK {
			return answer.Result.ID, nil
		}
		refused := &RefusedError{Code: answer.Code, Description: answer.Description}
		if answer.Code != http.StatusTooManyRequests {
			return 0, refused
		}
		if !wait(ctx, time.Duration(max(answer.Parameters.RetryAfter, 1))*time.Second) {
			return 0, refused
		}
	}
}

func requestOf(out Outgoing) map[string]any {
	request := map[string]any{"chat_id": out.Chat, "text": clip(out.Text)}
	if out.ReplyTo != 0 {
		request["reply_parameters"] = map[string]any{"message_id": out.ReplyTo, "allow_sending_without_reply": true}
	}
	return request
}

// clip cuts the text to what Telegram takes.
func clip(text string) string {
	units := 0
	for i, r := range text {
		if units += utf16.RuneLen(r); units > MaxText {
			return text[:i]
		}
	}
	return text
}

// post sends one request. An error leaves open whether it took effect; its
// text never holds the URL, whose path is the token.
func (c *Client) post(ctx context.Context, body []byte) (reply, error) {
	base := strings.TrimSuffix(c.BaseURL, "/")
	if base == "" {
		base = "https://api.telegram.org"
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, base+"/bot"+c.Token+"/sendMessage", bytes.NewReader(body))
	if err != nil {
		return reply{}, c.hide(err)
	}
	request.Header.Set("Content-Type", "application/json")
	client := c.HTTP
	if client == nil {
		client = http.DefaultClient
	}
	response, err := client.Do(request)
	if err != nil {
		return reply{}, c.hide(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(io.LimitReader(response.Body, 1<<20))
	if err != nil {
		return reply{}, c.hide(err)
	}
	var answer reply
	if err := json.Unmarshal(text, &answer); err != nil || response.StatusCode >= 500 {
		return reply{}, fmt.Errorf("telegram: status %d: unclear whether the message was sent", response.StatusCode)
	}
	return answer, nil
}

// hide keeps the token out of logs. The cause is kept for errors.Is.
func (c *Client) hide(err error) error {
	return &hiddenError{text: "telegram: " + strings.ReplaceAll(err.Error(), c.Token, "<token>"), cause: err}
}

type hiddenError struct {
	text  string
	cause error
}

func (e *hiddenError) Error() string { return e.text }
func (e *hiddenError) Unwrap() error { return e.cause }

// wait reports whether the time passed before the context's end; it does not
// begin a wait that the deadline would cut.
func wait(ctx context.Context, d time.Duration) bool {
	if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) < d {
		return false
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// Console is a Sender that writes to a terminal or a report.
type Console struct {
	W io.Writer // nil writes nothing

	mu   sync.Mutex
	sent []Outgoing
}

var _ Sender = (*Console)(nil)

// consoleIDs is where the ids of a Console's messages start, out of the way of
// those of the conversation.
const consoleIDs = 1_000_000

// Send writes the message.
func (c *Console) Send(ctx context.Context, out Outgoing) (int64, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sent = append(c.sent, out)
	if c.W != nil {
		fmt.Fprintf(c.W, "[%d] %s\n", out.Chat, out.Text)
	}
	return consoleIDs + int64(len(c.sent)), nil
}

// Sent returns what was sent, oldest first.
func (c *Console) Sent() []Outgoing {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]Outgoing(nil), c.sent...)
}
