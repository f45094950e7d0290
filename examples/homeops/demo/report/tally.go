// Package report tells what came of a replay, for people to read.
//
//	tally.go   adds up what the webhook and the worker report
//	cost.go    adds up what deliveries cost
//	money.go   what that is in dollars
//	stored.go  reads what stands in the tables
//	write.go   writes the report; chart.go its charts
package report

import (
	"time"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/examples/homeops/dialog"
	"github.com/homeops/ddbpatterns/examples/homeops/ingest"
	"github.com/homeops/ddbpatterns/examples/homeops/queue"
	"github.com/homeops/ddbpatterns/examples/homeops/telegram"
	"github.com/homeops/ddbpatterns/examples/homeops/worker"
)

// Tally adds up a replay as it goes. What it keeps does not grow with the
// number of updates.
type Tally struct {
	Updates     int
	First, Last time.Time // on the updates' clock
	Unbelieved  int       // updates dated ahead of the present, which the clock passes over
	Late        int       // updates over an hour older than the clock
	Posts       int       // requests to the webhook
	Given       int       // updates that Telegram gave up on

	Dispositions map[ingest.Disposition]int
	Reasons      map[Reason]int // of what was not enqueued
	Edits        Some[Edit]

	Deliveries int
	Saved      int // messages, on their first delivery
	Again      int // messages saved before
	CameBack   int // deliveries that failed
	Buried     int // of these, the last of their item: it is among the dead letters
	Skipped    map[string]int
	Silent     map[string]int
	Sent       int

	Questions map[Topic]*Some[Exchange]
	Poison    map[string]int // refused by the worker
	Costs     Costs

	chats map[string]bool
}

// Reason is why an update was not enqueued.
type Reason struct {
	Disposition ingest.Disposition
	Why         string
}

// Edit is an edit that was acknowledged and left alone.
type Edit struct {
	At      time.Time
	Chat    int64
	Message int64
	Text    string
}

// Topic is what an exchange with the bot is about.
type Topic int

// The topics, in the order of the report.
const (
	AskedWho Topic = iota
	AskedWhen
	AskedOften
	Taught
	Unsure
	topics
)

// Exchange is what somebody said to the bot and what it answered.
type Exchange struct {
	At     time.Time
	Person string
	Said   string
	Answer string
}

// kept is how many of a kind are listed.
const kept = 25

// Some is the first of many.
type Some[T any] struct {
	All  int
	List []T
}

func (s *Some[T]) add(one T) {
	if s.All++; len(s.List) < kept {
		s.List = append(s.List, one)
	}
}

// NewTally returns an empty Tally.
func NewTally() *Tally {
	t := &Tally{
		Dispositions: map[ingest.Disposition]int{}, Reasons: map[Reason]int{}, Skipped: map[string]int{},
		Silent: map[string]int{}, Questions: map[Topic]*Some[Exchange]{}, Poison: map[string]int{},
		Costs: newCosts(), chats: map[string]bool{},
	}
	for topic := range topics {
		t.Questions[topic] = new(Some[Exchange])
	}
	return t
}

// Update notes an update that came in at the given time.
func (t *Tally) Update(at time.Time) {
	if t.Updates++; t.Updates == 1 {
		t.First = at
	}
	t.Last = at
}

// Dated notes how an update's date stands to the clock.
func (t *Tally) Dated(unbelieved, late bool) {
	if unbelieved {
		t.Unbelieved++
	}
	if late {
		t.Late++
	}
}

// Posted notes how often an update was posted.
func (t *Tally) Posted(posts int, acknowledged bool) {
	t.Posts += posts
	if !acknowledged {
		t.Given++
	}
}

// Ingested notes what the webhook made of a request.
func (t *Tally) Ingested(r ingest.Result, body []byte) {
	t.Dispositions[r.Disposition]++
	if r.Reason != "" {
		t.Reasons[Reason{r.Disposition, r.Reason}]++
	}
	if r.Kind != telegram.KindEdit {
		return
	}
	if update, err := telegram.Parse(body); err == nil {
		m := update.EditedMessage
		t.Edits.add(Edit{At: m.Time(), Chat: r.Chat, Message: r.Message, Text: m.Words()})
	}
}

// Delivered notes what became of a delivery and what it cost.
func (t *Tally) Delivered(r worker.Report, cost dynamotest.Cost) {
	t.Deliveries++
	t.Costs.add(kindOf(r), classified(r), cost)
	for _, step := range r.Skipped {
		t.Skipped[step]++
	}
	if r.Err != nil {
		t.CameBack++
		if r.Delivery.Last() {
			t.Buried++
		}
		return
	}
	if r.Kind == worker.KindPoison {
		t.Poison[r.Refused]++
		return
	}
	if r.Delivery.Attributes[queue.MessageID] != "" {
		t.saved(r)
	}
	if chat := r.Delivery.Attributes[queue.ChatID]; chat != "" {
		t.chats[chat] = true
	}
	if r.Silent != "" {
		t.Silent[r.Silent]++
	}
	if r.Sent != "" {
		t.Sent++
		t.exchange(r)
	}
}

func (t *Tally) saved(r worker.Report) {
	if r.Duplicate {
		t.Again++
	} else {
		t.Saved++
	}
}

// exchange keeps what was asked and answered, as it was said and sent.
func (t *Tally) exchange(r worker.Report) {
	update, err := telegram.Parse([]byte(r.Delivery.Body))
	if err != nil || update.Message == nil {
		return
	}
	topic, ok := topicOf(r.Kind, update.Message.Words())
	if !ok {
		return
	}
	one := Exchange{At: update.Message.Time(), Said: update.Message.Words(), Answer: r.Sent}
	if from, ok := update.Message.Author(); ok {
		one.Person = from.FirstName
	}
	t.Questions[topic].add(one)
}

func topicOf(kind worker.Kind, said string) (Topic, bool) {
	switch kind {
	case worker.KindTeach:
		return Taught, true
	case worker.KindGuess:
		return Unsure, true
	case worker.KindAsk:
		intent, _ := dialog.Understand(said)
		switch {
		case intent.Who != nil:
			return AskedWho, true
		case intent.When != nil:
			return AskedWhen, true
		case intent.Often != nil:
			return AskedOften, true
		}
	}
	return 0, false
}
