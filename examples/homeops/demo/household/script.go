package household

import (
	"io"
	"slices"
	"time"

	"github.com/homeops/ddbpatterns/examples/homeops/app"
	"github.com/homeops/ddbpatterns/examples/homeops/dialog"
)

// Who and where.
var (
	anna = user{ID: 5000000001, FirstName: "Anna", Username: "anna_h", Language: "sv"}
	bo   = user{ID: 5000000002, FirstName: "Bo", Language: "sv"}
	cleo = user{ID: 5000000003, FirstName: "Cleo", Language: "en"}
	ulla = user{ID: 5000000004, Username: "mormor_ulla", Language: "sv"} // a guest, who has no other name
	doer = user{ID: app.DefaultBotID, IsBot: true, FirstName: "Hemkoll", Username: "hemkoll_bot"}
	// other is a bot that somebody added. anonymous is the placeholder for
	// administrators who write as the chat.
	other     = user{ID: 6000000777, IsBot: true, FirstName: "Väder", Username: "vader_bot"}
	anonymous = user{ID: 1087968824, IsBot: true, FirstName: "Group", Username: "GroupAnonymousBot"}

	before = chat{ID: -4123456789, Title: "Hemma", Type: "group"}
	home   = chat{ID: -1002123456789, Title: "Hemma 🏡", Type: "supergroup"}
	street = chat{ID: -1001987654321, Title: "Gatan informerar", Username: "gatan", Type: "channel"}
)

// private is a person's chat with the bot, which has the person's id.
func private(u user) chat {
	return chat{ID: u.ID, FirstName: u.FirstName, Username: u.Username, Type: "private"}
}

// step is something that happens at a time.
type step struct {
	at time.Time
	do func(*writer, time.Time)
}

// script is what happens; its methods add to it.
type script struct {
	zone  *time.Location
	day   string
	steps []step
}

// on sets the day of the following steps.
func (s *script) on(day string) *script {
	s.day = day
	return s
}

// at adds a step at a time of the day in Stockholm: "07:12" or "07:12:30".
func (s *script) at(clock string, do func(*writer, time.Time)) {
	if len(clock) == len("15:04") {
		clock += ":00"
	}
	at, err := time.ParseInLocation(time.DateTime, s.day+" "+clock, s.zone)
	if err != nil {
		panic(err)
	}
	s.steps = append(s.steps, step{at, do})
}

// say adds a message by somebody in the family's chat.
func (s *script) say(clock string, who user, text string) { s.sayAs("", clock, who, text) }

// sayAs also gives the message a name, by which it can be edited, repeated or
// replied to.
func (s *script) sayAs(name, clock string, who user, text string) {
	s.at(clock, func(w *writer, at time.Time) {
		w.named(name, w.send(update{Message: w.text(home, who, at, text)}))
	})
}

// bot lets the bot say something to the named message; it becomes the name
// "bot". Telegram sends no update of it, but it takes a message id.
func (s *script) bot(clock, text string, of ...entity) {
	s.at(clock, func(w *writer, at time.Time) {
		w.sent["bot"] = update{Message: w.text(home, doer, at, text)}
		w.sent["bot"].Message.Entities = of
	})
}

// ask lets the bot ask somebody what they meant, and mention them.
func (s *script) ask(clock string, who user, q dialog.Question) {
	q.Person = who.FirstName
	text, ok := dialog.Ask(q)
	if !ok {
		panic("household: no question")
	}
	s.bot(clock, text, entity{Type: "text_mention", Length: len(q.Person), User: &who})
}

// reply answers the named message.
func (s *script) reply(clock string, who user, to, text string) {
	s.at(clock, func(w *writer, at time.Time) {
		m := w.text(home, who, at, text)
		m.ReplyTo = w.the(to).Message
		w.send(update{Message: m})
	})
}

// again delivers a message once more, byte for byte.
func (s *script) again(clock, name string) {
	s.at(clock, func(w *writer, _ time.Time) { w.write(w.the(name)) })
}

// edit changes a message's text.
func (s *script) edit(clock, name, text string) {
	s.at(clock, func(w *writer, at time.Time) {
		m := *w.the(name).Message
		m.Text, m.EditDate = text, at.Unix()
		w.send(update{EditedMessage: &m})
	})
}

// writer turns steps into lines.
type writer struct {
	out      io.Writer
	err      error
	updateID int64
	next     map[int64]int64 // message ids, by chat
	sent     map[string]update
}

func (w *writer) id(c chat) int64 {
	w.next[c.ID]++
	return w.next[c.ID]
}

func (w *writer) text(c chat, who user, at time.Time, text string) *message {
	return &message{ID: w.id(c), From: &who, Chat: c, Date: at.Unix(), Text: text, Entities: entities(text)}
}

// entities marks the command that a message begins with.
func entities(text string) []entity {
	if text == "" || text[0] != '/' {
		return nil
	}
	return []entity{{Type: "bot_command", Length: len(text)}}
}

// send writes an update under the next id.
func (w *writer) send(u update) update {
	w.updateID++
	u.ID = w.updateID
	w.write(u)
	return u
}

func (w *writer) write(u update) {
	line, err := encode(u)
	if err != nil && w.err == nil {
		w.err = err
	}
	w.raw(line)
}

// raw writes a line that need not be an update.
func (w *writer) raw(line []byte) {
	if w.err == nil {
		_, w.err = w.out.Write(line)
	}
}

func (w *writer) named(name string, u update) {
	if name != "" {
		w.sent[name] = u
	}
}

func (w *writer) the(name string) update {
	u, ok := w.sent[name]
	if !ok {
		panic("household: nothing is named " + name)
	}
	return u
}

// play writes the steps in the order of their times.
func (s *script) play(out io.Writer) error {
	slices.SortStableFunc(s.steps, func(a, b step) int { return a.at.Compare(b.at) })
	w := &writer{out: out, updateID: 731904400, next: map[int64]int64{before.ID: 70}, sent: map[string]update{}}
	for _, step := range s.steps {
		step.do(w, step.at)
	}
	return w.err
}
