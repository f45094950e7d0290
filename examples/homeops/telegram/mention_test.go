package telegram_test

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/homeops/ddbpatterns/examples/homeops/telegram"
)

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
		if diff := cmp.Diff(want, got.Entities); diff != "" {
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
