package personal_test

import (
	"fmt"
	"testing"

	"github.com/homeops/ddbpatterns/alias"
	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/examples/homeops/personal"
	"github.com/homeops/ddbpatterns/message"
)

// What the Price lines say, and what a person of a hundred messages costs.
func TestPrices(t *testing.T) {
	t.Parallel()
	db := dynamotest.New(t, &dynamotest.Config{From: told(t, few), Now: clock})
	tool := on(t, db.Client(), clock)
	listing := func(of personal.Subject) dynamotest.Cost { return db.Meter(func() { list(t, tool, of) }) }
	listing(personal.Subject{ID: "99"}).Want(t, dynamotest.Price{Requests: 23, RCU: 21})
	listing(personal.Subject{ID: "99", Also: []string{"-4000"}}).Want(t, dynamotest.Price{Requests: 23 + 7, RCU: 21 + 6.5})
	listing(personal.Subject{ID: "-4000", Chat: true}).Want(t, dynamotest.Price{Requests: 15, RCU: 14.5}) // it knows by now that this chat never moved

	for seq := range int64(100) {
		if _, err := tool.App.Messages.Save(t.Context(), message.Message{Scope: "-4000", Seq: seq + 1, Actor: "99", Text: "Hej", At: april}); err != nil {
			t.Fatal(err)
		}
	}
	of := personal.Subject{ID: "99", Also: []string{"-4000"}}
	cost := db.Meter(func() {
		if n := erase(t, tool, of); n != 100 {
			t.Errorf("%d rows", n)
		}
	})
	// Two rounds: the first reads 12 KB of messages and deletes them one by one.
	cost.Want(t, dynamotest.Price{Requests: 2*29 + 100, RCU: 2*27 + 2, WCU: 100})

	// Phrases that somebody taught, 5 KB here, are read once more, for any number
	// of them.
	for i := range 20 {
		phrase := fmt.Sprint("plock", i)
		ev, err := event.New(april, "teaching", phrase)
		if err == nil {
			_, err = tool.App.Phrases.Put(t.Context(), alias.Put{Scope: "-4001", Phrase: phrase, Name: "diskning", Event: ev, Actor: "98"})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	db.Meter(func() {
		if n := erase(t, tool, personal.Subject{ID: "98", Also: []string{"-4001"}}); n != 20 {
			t.Errorf("%d phrases", n)
		}
	}).Want(t, dynamotest.Price{Requests: 2*29 + 1 + 1 + 20, RCU: 2*(27+1) + 0.5 + 2, WCU: 40})
}
