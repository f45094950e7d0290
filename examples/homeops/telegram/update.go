// Package telegram holds the part of the Telegram Bot API that the example
// uses: updates as they come in, and messages as they go out.
package telegram

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Update is what a webhook receives: an id and one thing that happened.
type Update struct {
	ID            int64       `json:"update_id"`
	Message       *Message    `json:"message"`
	ChannelPost   *Message    `json:"channel_post"` // a message without a sender
	EditedMessage *Message    `json:"edited_message"`
	EditedPost    *Message    `json:"edited_channel_post"`
	MyChatMember  *Membership `json:"my_chat_member"`
}

// Kind is what an update is about, as far as the example cares.
type Kind string

// The kinds of updates.
const (
	KindMessage Kind = "message"
	KindEdit    Kind = "edit"
	// KindMember is a change of the bot's own membership, such as a block.
	KindMember Kind = "member"
	// KindOther is acknowledged and ignored: new kinds keep arriving.
	KindOther Kind = "other"
)

// Kind returns what the update is about.
func (u Update) Kind() Kind {
	switch {
	case u.Message != nil:
		return KindMessage
	case u.EditedMessage != nil:
		return KindEdit
	case u.MyChatMember != nil:
		return KindMember
	}
	return KindOther
}

// Message is one message in a chat.
type Message struct {
	ID      int64    `json:"message_id"`
	Date    int64    `json:"date"` // Unix seconds
	Chat    Chat     `json:"chat"`
	From    *User    `json:"from"`
	Sender  *Chat    `json:"sender_chat"` // who really sent it, where From is a placeholder
	Text    string   `json:"text"`
	Caption string   `json:"caption"`
	ReplyTo *Message `json:"reply_to_message"`

	Entities []Entity `json:"entities"` // of the text

	// Where a forwarded message comes from; older ones say only when it was sent there.
	ForwardOrigin *json.RawMessage `json:"forward_origin,omitempty"`
	ForwardDate   int64            `json:"forward_date,omitempty"`

	// A group that becomes a supergroup says so on both sides, each of which is
	// a chat of its own.
	MigrateTo   int64 `json:"migrate_to_chat_id"`
	MigrateFrom int64 `json:"migrate_from_chat_id"`
}

// Entity is a part of a text that is more than words: here, somebody mentioned.
type Entity struct {
	Type   string `json:"type"`
	Offset int    `json:"offset"` // in UTF-16 units, as the length is
	Length int    `json:"length"`
	User   *User  `json:"user,omitempty"`
}

// Mentions returns the id of the first person whom the text mentions, 0 if it
// mentions nobody.
func (m Message) Mentions() int64 {
	for _, e := range m.Entities {
		if e.Type == "text_mention" && e.User != nil {
			return e.User.ID
		}
	}
	return 0
}

// Chat is where a message was written.
type Chat struct {
	ID    int64  `json:"id"`
	Type  string `json:"type"`
	Title string `json:"title"`
}

// Key is the chat's id as the tables hold it.
func (c Chat) Key() string { return strconv.FormatInt(c.ID, 10) }

// Private reports whether the chat is one person's with the bot.
func (c Chat) Private() bool { return c.Type == "private" }

// Supergroup reports whether the chat may have been a group before.
func (c Chat) Supergroup() bool { return c.Type == "supergroup" }

// User is a person or a bot.
type User struct {
	ID        int64  `json:"id"`
	IsBot     bool   `json:"is_bot"`
	FirstName string `json:"first_name"`
	Username  string `json:"username"`
	// LanguageCode is the language of the person's Telegram, such as "sv" or
	// "pt-br"; may be "".
	LanguageCode string `json:"language_code"`
}

// Name is how people know the user.
func (u User) Name() string { return cmp.Or(u.FirstName, u.Username) }

// Key is the user's id as the tables hold it.
func (u User) Key() string { return strconv.FormatInt(u.ID, 10) }

// Membership is a change of the bot's own place in a chat.
type Membership struct {
	Chat Chat  `json:"chat"`
	From User  `json:"from"`
	Date int64 `json:"date"`
	New  struct {
		Status string `json:"status"`
	} `json:"new_chat_member"`
}

// Time is when the change happened.
func (m Membership) Time() time.Time { return time.Unix(m.Date, 0).UTC() }

// Time is when the message was sent, to the second.
func (m Message) Time() time.Time { return time.Unix(m.Date, 0).UTC() }

// Words is what the message says: its text, or a picture's caption.
func (m Message) Words() string {
	if m.Text != "" {
		return m.Text
	}
	return m.Caption
}

// Forwarded reports whether the message is forwarded, so that its text is not the
// sender's own words.
func (m Message) Forwarded() bool { return m.ForwardOrigin != nil || m.ForwardDate != 0 }

// Moved returns which group became which supergroup; ok is false for a message
// that says nothing of the kind.
func (m Message) Moved() (from, to Chat, ok bool) {
	switch {
	case m.MigrateTo != 0:
		return m.Chat, Chat{ID: m.MigrateTo}, true
	case m.MigrateFrom != 0:
		return Chat{ID: m.MigrateFrom}, m.Chat, true
	}
	return Chat{}, Chat{}, false
}

// Author is the person who wrote the message. A message that a chat sent in its
// own name has no author: From is then absent or a placeholder.
func (m Message) Author() (User, bool) {
	if m.From == nil || m.Sender != nil {
		return User{}, false
	}
	return *m.From, true
}

// Parse reads an update. A channel's post comes back as its Message. An update
// that Parse refuses can never be processed.
func Parse(body []byte) (Update, error) {
	var u Update
	if err := json.Unmarshal(body, &u); err != nil {
		return Update{}, fmt.Errorf("telegram: not an update: %w", err)
	}
	u.Message = cmp.Or(u.Message, u.ChannelPost)
	u.EditedMessage = cmp.Or(u.EditedMessage, u.EditedPost)
	for _, m := range []*Message{u.Message, u.EditedMessage} {
		if m == nil {
			continue
		}
		if err := m.check(); err != nil {
			return Update{}, err
		}
	}
	if c := u.MyChatMember; c != nil && (c.Chat.ID == 0 || c.Date <= 0 || c.From.ID == 0) {
		return Update{}, errors.New("telegram: a membership without chat, date or user")
	}
	return u, nil
}

// check requires what Telegram promises for every message. A message with the
// id 0 is only scheduled by the server.
func (m Message) check() error {
	var missing []string
	if m.ID <= 0 {
		missing = append(missing, "message_id")
	}
	if m.Date <= 0 {
		missing = append(missing, "date")
	}
	if m.Chat.ID == 0 {
		missing = append(missing, "chat")
	}
	if len(missing) > 0 {
		return errors.New("telegram: a message without " + strings.Join(missing, ", "))
	}
	return nil
}
