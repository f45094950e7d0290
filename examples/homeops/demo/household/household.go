// Package household writes the bundled conversation: six weeks of a family with
// the bot, across the night of 2026-03-29, when clocks in Stockholm went forward.
// Most of it is in routine.go, the same every week. This file has what else
// happened, and diary.txt what else was said.
package household

import (
	_ "embed"
	"io"
	"strings"
	"time"

	"github.com/homeops/ddbpatterns/examples/homeops/app"
	"github.com/homeops/ddbpatterns/examples/homeops/dialog"
)

// Write writes the conversation as updates, one a line, in the order in which
// the webhook gets them. Its output is always the same.
func Write(out io.Writer) error {
	s := &script{zone: app.Zone.Location()}
	s.beginning()
	s.weeks(time.Date(2026, 3, 10, 0, 0, 0, 0, time.UTC), time.Date(2026, 4, 22, 0, 0, 0, 0, time.UTC))
	s.said()
	s.unsure()
	s.repetitions()
	s.disturbances()
	s.privately()
	s.april()
	return s.play(out)
}

//go:embed diary.txt
var diary string

// said adds what the diary has, a line each: day, time, who, and what they
// wrote.
func (s *script) said() {
	people := map[string]user{"anna": anna, "bo": bo, "cleo": cleo, "ulla": ulla}
	for line := range strings.Lines(diary) {
		if line = strings.TrimSpace(line); line[0] != '#' {
			l := strings.SplitN(line, " ", 4)
			s.on("2026-"+l[0]).say(l[1], people[l[2]], l[3])
		}
	}
}

// beginning: the group becomes a supergroup. That changes its id, and its
// message ids start anew.
func (s *script) beginning() {
	s.on("2026-03-09")
	s.at("17:31", func(w *writer, at time.Time) {
		w.send(update{Message: w.text(before, bo, at, "Nu provar vi den här boten 🤖")})
	})
	s.at("17:32", func(w *writer, at time.Time) {
		w.send(update{Message: &message{ID: w.id(before), From: &bo, Chat: before, Date: at.Unix(), MigrateTo: home.ID}})
		w.send(update{Message: &message{ID: w.id(home), From: &anonymous, SenderChat: &home, Chat: home, Date: at.Unix(), MigrateFrom: before.ID}})
	})
	s.at("17:40", func(w *writer, at time.Time) {
		w.send(update{Message: &message{ID: w.id(home), From: &bo, Chat: home, Date: at.Unix(), NewMembers: []user{cleo}}})
	})
	s.say("17:41", cleo, "hej hej 👋")
	s.say("19:12", anna, "Jag har diskat")
}

// unsure: the bot asks, and people reply to the question, whose text says what
// it was about.
func (s *script) unsure() {
	s.on("2026-03-17")
	s.say("16:20", cleo, "diksat nu")
	s.ask("16:20:01", cleo, dialog.Question{Phrase: "diksat", Name: "diskning", Lang: dialog.Swedish})
	s.reply("16:21:10", cleo, "bot", "ja")
	s.on("2026-03-19")
	s.say("20:31", cleo, "diksat igen") // known by now
	s.on("2026-03-22")
	s.say("15:02", anna, "Vikat alla kläder 👕")
	s.ask("15:02:02", anna, dialog.Question{Phrase: "vikat", Name: "vila", Lang: dialog.Swedish})
	s.reply("15:03:30", anna, "bot", "Nej, jag menade tvätt")
	s.on("2026-03-26")
	s.say("20:52", anna, "Vikat lakanen")
	s.on("2026-04-02")
	s.say("16:40", cleo, "vacuumd my room and the stairs")
	s.ask("16:40:01", cleo, dialog.Question{Phrase: "vacuumd", Name: "dammsugning", Lang: dialog.English})
	s.reply("16:42", cleo, "bot", "Yes!")
	s.on("2026-04-06")
	s.say("14:10", bo, "Städar hela förmiddagen")
	s.ask("14:10:01", bo, dialog.Question{Phrase: "städar", Name: "städning", Lang: dialog.Swedish})
	s.reply("14:11:20", bo, "bot", "nej")
}

// repetitions: updates that come twice, at once or days later, and texts that
// change afterwards.
func (s *script) repetitions() {
	s.on("2026-03-18")
	s.sayAs("dishes", "21:10", anna, "Jag har diskat och tömt diskmaskinen")
	s.again("21:10:01", "dishes")
	s.edit("21:14", "dishes", "Jag har diskat, tömt diskmaskinen och tvättat")
	s.on("2026-03-19")
	s.again("00:00:30", "dishes") // after midnight: not another grant
	s.on("2026-03-31")
	s.say("16:58", bo, "Plockat ur och handlat")
	s.bot("16:58:01", dialog.Praise(dialog.Swedish, []dialog.Deed{{Person: "Bo", Name: "diskning"}, {Person: "Bo", Name: "handling"}}, 2))
	s.reply("16:59:05", bo, "bot", "Varsågod 😄") // an answer to the bot, from which it learns how soon Bo answers
	s.on("2026-03-22")
	s.sayAs("hello", "09:10", bo, "Våffeldagen på onsdag 🧇")
	s.again("09:10:01", "hello")
	s.edit("09:16", "hello", "Våffeldagen är på onsdag 🧇🧇")
	s.again("12:20", "dishes") // days later
	s.on("2026-03-25")
	s.sayAs("waffles", "18:33", cleo, "Lagade mat: våfflor!!! 🧇")
	s.again("18:33:01", "waffles")
	s.again("18:33:03", "waffles")
	s.edit("18:35", "waffles", "inte lagat mat, bara våfflor")
	s.on("2026-03-29")
	s.sayAs("weekly", "20:30", anna, "Hur många gånger lagade vi mat den här veckan?") // a week of 167 hours
	s.on("2026-04-01")
	s.again("08:10", "weekly") // a question is not answered twice
}

// disturbances: a fast conversation, messages that nobody wrote, and invalid
// updates.
func (s *script) disturbances() {
	s.on("2026-03-23")
	s.say("20:00:05", anna, "Såg ni matchen?")
	s.say("20:00:17", cleo, "JAAA")
	s.say("20:00:29", anna, "Vilket mål")
	s.say("20:00:40", bo, "Otroligt. Diskat klart förresten")
	s.say("20:00:52", cleo, "⚽⚽⚽")
	s.on("2026-03-26")
	s.at("08:00", func(w *writer, at time.Time) {
		w.send(update{ChannelPost: &message{ID: w.id(street), SenderChat: &street, Chat: street, Date: at.Unix(), Text: "Sophämtning sker på torsdag."}})
	})
	s.at("08:01", func(w *writer, at time.Time) {
		w.send(update{Message: w.text(home, other, at, "I dag: regn, +4 °")})
	})
	s.at("12:40", func(w *writer, at time.Time) {
		w.send(update{Message: &message{ID: w.id(home), From: &anonymous, SenderChat: &home, Chat: home, Date: at.Unix(), Text: "Städat överallt, skrivet som gruppen"}})
	})
	s.at("15:10", func(w *writer, at time.Time) {
		small := photo{FileID: "AgACAgQAAxkBAAIB", UniqueID: "AQADh7kxG", Width: 90, Height: 67, Size: 1487}
		w.send(update{Message: &message{ID: w.id(home), From: &bo, Chat: home, Date: at.Unix(), Photo: []photo{small}, Caption: "Klippt gräset, första gången i år 🌱"}})
	})
	s.at("15:12", func(w *writer, at time.Time) {
		w.send(update{Reaction: &reaction{Chat: home, MessageID: w.next[home.ID], User: cleo, Date: at.Unix(), Old: []emoji{}, New: []emoji{{"emoji", "👍"}}}})
	})
	s.at("15:20", func(w *writer, _ time.Time) { // its message cannot be read: date 0
		w.send(update{Callback: &callback{ID: "21474836480001", From: anna, Message: message{ID: 5, Chat: home}, Instance: "-7812345678901234567", Data: "ok:1"}})
	})
	s.on("2026-03-27")
	s.at("09:00", func(w *writer, at time.Time) { // sent in the year 2091
		w.send(update{Message: w.text(home, bo, at.AddDate(65, 0, 0), "Jag har diskat i framtiden")})
	})
	s.at("09:01", func(w *writer, _ time.Time) {
		w.raw([]byte(`{"update_id":731904999,"message":{"message_id":` + "\n")) // torn off
		w.raw([]byte(`{"update_id":731905000,"message":{"text":"Jag har diskat"}}` + "\n"))
	})
	s.at("09:02", func(w *writer, at time.Time) {
		w.send(update{Unheard: &unheard{Date: at.Unix(), Note: "of a kind that is yet to come"}})
	})
}

// privately: people let the bot write to them, and change their mind.
func (s *script) privately() {
	start := func(clock string, who user) {
		s.at(clock, func(w *writer, at time.Time) { w.send(update{Message: w.text(private(who), who, at, "/start")}) })
	}
	member := func(clock string, who user, from, to string) {
		s.at(clock, func(w *writer, at time.Time) {
			w.send(update{MyChatMember: &membership{Chat: private(who), From: who, Date: at.Unix(), Old: status(from), New: status(to)}})
		})
	}
	s.on("2026-03-16")
	start("18:31", anna)
	start("18:40", bo)
	s.at("18:42", func(w *writer, at time.Time) {
		w.send(update{Message: w.text(private(anna), anna, at, "Ska till gymmet, berätta inte")})
	})
	s.on("2026-03-31")
	member("22:15", bo, "member", "kicked")
	s.on("2026-04-03")
	start("10:05", cleo)
	member("10:20", cleo, "member", "kicked")
	member("10:41", cleo, "kicked", "member")
}

// april: a guest comes, and people teach a word and answer the bot.
func (s *script) april() {
	s.on("2026-04-18")
	s.at("12:30", func(w *writer, at time.Time) {
		w.send(update{Message: &message{ID: w.id(home), From: &anna, Chat: home, Date: at.Unix(), NewMembers: []user{ulla}}})
	})
	// A yes from somebody else, and a word that comes again after it was taught.
	s.on("2026-04-14")
	s.say("16:32", cleo, "stdat mitt rum")
	s.ask("16:32:01", cleo, dialog.Question{Phrase: "stdat", Name: "städning", Lang: dialog.Swedish})
	s.reply("16:33:10", anna, "bot", "Ja, det såg jag!")
	s.reply("16:34:20", cleo, "bot", "ja")
	s.on("2026-04-18").sayAs("weeds", "11:02", anna, "Rensat ogräs i en timme 🌿")
	s.on("2026-04-19").say("11:05", anna, "Rensat betyder ”trädgård”")
	s.on("2026-04-19").again("11:15:30", "weeds")
	s.on("2026-04-19").say("14:12", anna, "Rensat resten")
	// Answers to the bot: after more than an hour, and soon.
	s.on("2026-04-13").say("17:20", cleo, "watered the plants 🌷")
	s.bot("17:20:01", dialog.Praise(dialog.English, []dialog.Deed{{Person: "Cleo", Name: "blommor"}}, 2))
	s.reply("18:58:40", cleo, "bot", "you're welcome, robot")
	s.on("2026-04-14").bot("07:00:01", dialog.Reminder(dialog.Swedish, "Bo", "handla i morgon"))
	s.reply("07:24", bo, "bot", "Oj! Det glömde jag helt 🙈")
	s.on("2026-04-20").say("17:12", anna, "Handlat till middagen")
	s.bot("17:12:01", dialog.Praise(dialog.Swedish, []dialog.Deed{{Person: "Anna", Name: "handling"}}, 1))
	s.reply("17:30:05", anna, "bot", "Tack själv 😊")
}

func status(text string) member {
	m := member{User: doer, Status: text}
	if text == "kicked" {
		m.Until = new(int64) // for ever
	}
	return m
}
