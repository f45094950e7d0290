package telegram

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf16"

	"github.com/homeops/ddbpatterns/examples/internal/sleep"
)

// Outgoing is a message to send.
type Outgoing struct {
	Chat    int64
	Text    string
	ReplyTo int64 // a message id, 0 for no reply
	Mention User  // their name in the text becomes a mention; the zero User for nobody
}

// Entities say where the text first has the name of the person whom it mentions.
func (out Outgoing) Entities() []Entity {
	name := out.Mention.Name()
	before, _, found := strings.Cut(out.Text, name)
	if name == "" || !found {
		return nil
	}
	units := func(text string) int { return len(utf16.Encode([]rune(text))) }
	return []Entity{{Type: "text_mention", Offset: units(before), Length: units(name), User: &out.Mention}}
}

// Sender sends messages. sendMessage has no idempotency parameter: neither a
// Sender nor its caller ever repeats a request whose reply was lost.
type Sender interface {
	// Send returns the id of the message sent. A *RefusedError says that it was
	// not sent, and may say when it can be. After any other error it may have been
	// sent.
	Send(context.Context, Outgoing) (messageID int64, err error)
}

// RefusedError is a definite no: nothing was sent.
type RefusedError struct {
	Code        int // Telegram's, 0 if it was not even asked
	Description string
	// RetryAfter is how long Telegram asks to wait, 0 if waiting would not help.
	RetryAfter time.Duration
	// MovedTo is the supergroup that the chat has become, 0 if it has not
	// moved.
	MovedTo int64
}

// Error gives the code and the words.
func (e *RefusedError) Error() string {
	if e.Code == 0 {
		return "telegram: refused: " + e.Description
	}
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

// reply is the answer of every method of the Bot API. Any other answer is not
// Telegram's, but from something on the way.
type reply struct {
	OK          *bool  `json:"ok"`
	Code        int    `json:"error_code"`
	Description string `json:"description"`
	Result      struct {
		ID int64 `json:"message_id"`
	} `json:"result"`
	Parameters struct {
		RetryAfter int64 `json:"retry_after"`
		MovedTo    int64 `json:"migrate_to_chat_id"`
	} `json:"parameters"`
}

// answer is a reply and the HTTP response that it came with.
type answer struct {
	reply
	status int
	header http.Header
}

// sent reports whether Telegram took the message.
func (a answer) sent() bool { return a.OK != nil && *a.OK && a.status/100 == 2 }

// refusal is Telegram's definite no. It is nil if it remains unclear whether
// the message was sent: after a timeout at Telegram, an error inside Telegram,
// a redirect, or an answer that is not Telegram's.
func (a answer) refusal() *RefusedError {
	refused := &RefusedError{Code: a.Code, Description: a.Description, MovedTo: a.Parameters.MovedTo}
	switch {
	case a.OK != nil && *a.OK:
		return nil
	case a.status == http.StatusTooManyRequests: // from Telegram or a proxy: the message was not sent
		refused.Code = a.status
	case a.OK == nil, !definite(a.Code), a.status/100 != 2 && !definite(a.status):
		return nil
	}
	if refused.Code == http.StatusTooManyRequests {
		refused.RetryAfter = a.retryAfter()
	}
	return refused
}

func definite(code int) bool {
	return 400 <= code && code < 500 && code != http.StatusRequestTimeout
}

// longestWait bounds what is read as a time to wait.
const longestWait = 24 * time.Hour

// retryAfter is how long Telegram, or a proxy before it, asks to wait.
func (a answer) retryAfter() time.Duration {
	seconds := a.Parameters.RetryAfter
	if seconds <= 0 {
		seconds, _ = strconv.ParseInt(a.header.Get("Retry-After"), 10, 64)
	}
	return time.Duration(min(max(seconds, 1), int64(longestWait/time.Second))) * time.Second
}

// Patience is how long a Send waits after 429s, all of its waits together. A
// longer wait would keep other chats waiting, too.
const Patience = 2 * time.Second

// Timeout is how long a Send takes at most: well below a delivery's time, or the
// request to DynamoDB that comes after it would fail when Telegram hangs.
const Timeout = 10 * time.Second

// Send calls sendMessage. After a 429 that asks for no more than Patience it
// waits and tries again, if the context allows that. A 429 that asks for more
// is returned. After Timeout it is unclear whether the message was sent.
func (c *Client) Send(ctx context.Context, out Outgoing) (int64, error) {
	if c.Token == "" {
		return 0, &RefusedError{Description: "the Client has no Token"}
	}
	body, err := json.Marshal(requestOf(out))
	if err != nil {
		return 0, fmt.Errorf("telegram: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, Timeout)
	defer cancel()
	for left := Patience; ; {
		answer, err := c.post(ctx, body)
		if err != nil {
			return 0, err
		}
		if answer.sent() {
			return answer.Result.ID, nil
		}
		refused := answer.refusal()
		if refused == nil {
			return 0, fmt.Errorf("telegram: status %d, error %d: unclear whether the message was sent", answer.status, answer.Code)
		}
		after := refused.RetryAfter
		if after == 0 || after > left || !wait(ctx, after) {
			return 0, refused
		}
		left -= after
	}
}

func requestOf(out Outgoing) map[string]any {
	request := map[string]any{"chat_id": out.Chat, "text": clip(out.Text)}
	if out.ReplyTo != 0 {
		request["reply_parameters"] = map[string]any{"message_id": out.ReplyTo, "allow_sending_without_reply": true}
	}
	if entities := out.Entities(); entities != nil {
		request["entities"] = entities
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

// post sends one request. After an error it may have taken effect or not. The
// error's text never holds the URL, whose path has the token.
func (c *Client) post(ctx context.Context, body []byte) (answer, error) {
	response, text, err := c.call(ctx, "sendMessage", body)
	if err != nil {
		return answer{}, err
	}
	a := answer{status: response.StatusCode, header: response.Header}
	if json.Unmarshal(text, &a.reply) != nil {
		a.reply = reply{} // half a reply says nothing
	}
	return a, nil
}

// call calls a method of the Bot API and returns what it answered, read to its end.
func (c *Client) call(ctx context.Context, method string, body []byte) (*http.Response, []byte, error) {
	base := strings.TrimSuffix(cmp.Or(c.BaseURL, "https://api.telegram.org"), "/")
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, base+"/bot"+c.Token+"/"+method, bytes.NewReader(body))
	if err != nil {
		return nil, nil, c.hide(err)
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := c.client().Do(request)
	if err != nil {
		return nil, nil, c.hide(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(io.LimitReader(response.Body, 1<<20))
	if err != nil {
		return nil, nil, c.hide(err)
	}
	return response, text, nil
}

// client does not follow redirects: that would send the message and the token
// once more, to somewhere else.
func (c *Client) client() *http.Client {
	client := *cmp.Or(c.HTTP, http.DefaultClient)
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &client
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

// wait reports whether the time passed before the context's end. It does not
// begin a wait that the deadline would cut.
func wait(ctx context.Context, d time.Duration) bool {
	if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) < d {
		return false
	}
	return sleep.For(ctx, d) == nil
}

// Console is a Sender that writes to a terminal or a report.
type Console struct {
	W io.Writer // nil writes nothing

	mu    sync.Mutex
	count int64
}

var _ Sender = (*Console)(nil)

// consoleIDs is where the ids of a Console's messages start, above those of the
// conversation.
const consoleIDs = 1_000_000

// Send writes the message.
func (c *Console) Send(ctx context.Context, out Outgoing) (int64, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.count++
	if c.W != nil {
		fmt.Fprintf(c.W, "[%d] %s\n", out.Chat, out.Text)
	}
	return consoleIDs + c.count, nil
}

// Updates are the kinds that the bot reads, as setWebhook takes them. Telegram
// does not send others, such as edits.
var Updates = []string{"message", "channel_post", "my_chat_member"}

// SetWebhook tells Telegram where updates go, and the secret that comes with them.
// It may be repeated.
func (c *Client) SetWebhook(ctx context.Context, url, secret string) error {
	return c.ask(ctx, "setWebhook", map[string]any{"url": url, "secret_token": secret, "allowed_updates": Updates}, new(bool))
}

// Me is the bot.
type Me struct {
	ID       int64  `json:"id"`
	Username string `json:"username"`
	// ReadsGroups is false in BotFather's privacy mode, which is on unless it was
	// switched off. Groups then send the bot only commands and replies.
	ReadsGroups bool `json:"can_read_all_group_messages"`
}

// Me asks who the bot is.
func (c *Client) Me(ctx context.Context) (Me, error) {
	var me Me
	err := c.ask(ctx, "getMe", map[string]any{}, &me)
	return me, err
}

// ask calls a method that may be repeated.
func (c *Client) ask(ctx context.Context, method string, request map[string]any, result any) error {
	body, err := json.Marshal(request)
	if err != nil {
		return fmt.Errorf("telegram: %s: %w", method, err)
	}
	response, text, err := c.call(ctx, method, body)
	if err != nil {
		return err
	}
	var answered struct {
		OK          bool            `json:"ok"`
		Code        int             `json:"error_code"`
		Description string          `json:"description"`
		Result      json.RawMessage `json:"result"`
	}
	err = json.Unmarshal(text, &answered)
	switch {
	case err != nil:
		return fmt.Errorf("telegram: %s: status %d, and the body is not JSON: %w", method, response.StatusCode, err)
	case !answered.OK:
		return fmt.Errorf("telegram: %s: %w", method, &RefusedError{Code: answered.Code, Description: answered.Description})
	}
	if err := json.Unmarshal(answered.Result, result); err != nil {
		return fmt.Errorf("telegram: %s: reading the result: %w", method, err)
	}
	return nil
}
