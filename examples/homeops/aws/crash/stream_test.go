package crash_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strconv"
	"time"

	"github.com/homeops/ddbpatterns/examples/homeops/app"
)

// perChat messages of a chat are minutes apart. In a fast conversation the
// replies would depend on who was first.
const (
	perChat = 20
	apart   = 150 * time.Second
)

// post is one request of Telegram's.
type post struct {
	chat   int64
	body   string
	poison bool
}

// stream is the input of a run.
type stream struct {
	posts []post // those of a chat in order
	seeds app.Seeds
}

// newStream makes so many updates, dated within the hour before the given time:
// most messages say what was done, in words of the bundled vocabulary or in
// phrases that the chat starts with. One in twenty comes twice, one in a hundred is
// poison.
func newStream(seed uint64, updates int, now time.Time) stream {
	random := rand.New(rand.NewPCG(seed, 1))
	s := stream{seeds: app.Seeds{}}
	chats := (updates + perChat - 1) / perChat
	for i := range chats {
		s.seeds[strconv.Itoa(-1000-i)] = map[string]string{"grejen fixad": "diskning", "klar med golvet": "dammsugning"}
	}
	begin := now.Add(-55 * time.Minute)
	for n := range perChat {
		for i := range chats {
			if len(s.posts) >= updates {
				return s
			}
			at := begin.Add(time.Duration(n) * apart)
			p := newPost(random, int64(-1000-i), n+1, len(s.posts)+1, at, now)
			s.posts = append(s.posts, p)
			if random.IntN(20) == 0 && len(s.posts) < updates {
				s.posts = append(s.posts, p)
			}
		}
	}
	return s
}

// texts are what people write. No text teaches, and no text asks for what depends
// on others.
var texts = []string{
	"Jag har diskat", "diskat och dammsugit", "lagat mat, diskat och tvättat", "grejen fixad", "klar med golvet",
	"Jag har städat", "God morgon", "Vi ses i kväll",
}

func newPost(random *rand.Rand, chat int64, message, update int, at, now time.Time) post {
	// Each chat has its own people: a row remembers 32 events of a person's, and an
	// older one that comes after them would be too old to count.
	who := random.IntN(3)
	date := at.Unix()
	p := post{chat: chat}
	switch random.IntN(100) {
	case 0: // in the future: the worker refuses it
		date, p.poison = now.Add(48*time.Hour).Unix(), true
	case 1: // not an update: the webhook refuses it
		p.body, p.poison = fmt.Sprintf(`{"update_id":%d,"message":{"text":"chat %d, message %d"}}`, update, chat, message), true
		return p
	}
	body, err := json.Marshal(map[string]any{
		"update_id": update,
		"message": map[string]any{
			"message_id": message, "date": date, "text": texts[random.IntN(len(texts))],
			"chat": map[string]any{"id": chat, "type": "group"},
			"from": map[string]any{"id": -10*chat + int64(who), "first_name": []string{"Eva", "Ola", "Kim"}[who]},
		},
	})
	if err != nil {
		panic(err)
	}
	p.body = string(body)
	return p
}
