package telegram

import (
	"context"
	"encoding/json"
	"fmt"
)

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
