package household

import (
	"bytes"
	"encoding/json"
	"fmt"
	"unicode/utf16"
)

// The shapes of the Bot API, in the order in which Telegram writes their
// fields.
type (
	update struct {
		ID            int64       `json:"update_id"`
		Message       *message    `json:"message,omitempty"`
		EditedMessage *message    `json:"edited_message,omitempty"`
		ChannelPost   *message    `json:"channel_post,omitempty"`
		Reaction      *reaction   `json:"message_reaction,omitempty"`
		Callback      *callback   `json:"callback_query,omitempty"`
		MyChatMember  *membership `json:"my_chat_member,omitempty"`
		Unheard       *unheard    `json:"household_event,omitempty"`
	}
	user struct {
		ID        int64  `json:"id"`
		IsBot     bool   `json:"is_bot"`
		FirstName string `json:"first_name"`
		Username  string `json:"username,omitempty"`
		Language  string `json:"language_code,omitempty"`
	}
	chat struct {
		ID        int64  `json:"id"`
		Title     string `json:"title,omitempty"`
		Username  string `json:"username,omitempty"`
		FirstName string `json:"first_name,omitempty"`
		Type      string `json:"type"`
	}
	message struct {
		ID          int64    `json:"message_id"`
		From        *user    `json:"from,omitempty"`
		SenderChat  *chat    `json:"sender_chat,omitempty"`
		Chat        chat     `json:"chat"`
		Date        int64    `json:"date"`
		EditDate    int64    `json:"edit_date,omitempty"`
		ReplyTo     *message `json:"reply_to_message,omitempty"`
		Text        string   `json:"text,omitempty"`
		Entities    []entity `json:"entities,omitempty"`
		Photo       []photo  `json:"photo,omitempty"`
		Caption     string   `json:"caption,omitempty"`
		NewMembers  []user   `json:"new_chat_members,omitempty"`
		MigrateTo   int64    `json:"migrate_to_chat_id,omitempty"`
		MigrateFrom int64    `json:"migrate_from_chat_id,omitempty"`
	}
	entity struct {
		Type   string `json:"type"`
		Offset int    `json:"offset"` // in UTF-16 units
		Length int    `json:"length"`
		User   *user  `json:"user,omitempty"`
	}
	photo struct {
		FileID   string `json:"file_id"`
		UniqueID string `json:"file_unique_id"`
		Width    int    `json:"width"`
		Height   int    `json:"height"`
		Size     int    `json:"file_size"`
	}
	emoji struct {
		Type  string `json:"type"`
		Emoji string `json:"emoji"`
	}
	reaction struct {
		Chat      chat    `json:"chat"`
		MessageID int64   `json:"message_id"`
		User      user    `json:"user"`
		Date      int64   `json:"date"`
		Old       []emoji `json:"old_reaction"`
		New       []emoji `json:"new_reaction"`
	}
	callback struct {
		ID       string  `json:"id"`
		From     user    `json:"from"`
		Message  message `json:"message"`
		Instance string  `json:"chat_instance"`
		Data     string  `json:"data"`
	}
	member struct {
		User   user   `json:"user"`
		Status string `json:"status"`
		Until  *int64 `json:"until_date,omitempty"`
	}
	membership struct {
		Chat chat   `json:"chat"`
		From user   `json:"from"`
		Date int64  `json:"date"`
		Old  member `json:"old_chat_member"`
		New  member `json:"new_chat_member"`
	}
	// unheard is an update of a kind that does not exist yet.
	unheard struct {
		Date int64  `json:"date"`
		Note string `json:"note"`
	}
)

// encode writes the update as Telegram does: characters outside ASCII are
// escaped.
func encode(u update) ([]byte, error) {
	var plain bytes.Buffer
	e := json.NewEncoder(&plain)
	e.SetEscapeHTML(false)
	if err := e.Encode(u); err != nil {
		return nil, err
	}
	var escaped bytes.Buffer
	for _, r := range plain.String() {
		if r < 0x80 {
			escaped.WriteRune(r)
			continue
		}
		for _, unit := range utf16.Encode([]rune{r}) {
			fmt.Fprintf(&escaped, `\u%04x`, unit)
		}
	}
	return escaped.Bytes(), nil
}
