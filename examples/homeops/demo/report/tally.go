// Package report writes a report of a replay, for people to read.
//
//	tally.go   adds up what the webhook and the worker report
//	cost.go    adds up what deliveries cost
//	stored.go  reads what stands in the tables
//	write.go   writes the report
package report

import (
	"cmp"
	"time"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/examples/homeops/classify"
	"github.com/homeops/ddbpatterns/examples/homeops/dialog"
	"github.com/homeops/ddbpatterns/examples/homeops/ingest"
	"github.com/homeops/ddbpatterns/examples/homeops/job"
	"github.com/homeops/ddbpatterns/examples/homeops/queue"
	"github.com/homeops/ddbpatterns/examples/homeops/telegram"
	"github.com/homeops/ddbpatterns/examples/homeops/worker"
)

// Tally adds up a replay as it goes. Its size does not grow with the number of
// updates.
type Tally struct {
	Updates     int
	First, Last time.Time // on the updates' clock
	Unbelieved  int       // updates dated ahead of the present, which the clock passes over
	Late        int       // updates over an hour older than the clock

	Dispositions map[ingest.Disposition]int
	Reasons      map[Reason]int // why updates were not enqueued

	Deliveries int
	Became     map[string]int // of the deliveries: each is counted once
	Saved      int            // messages, on their first delivery
	CameBack   int            // deliveries that failed
	Buried     int            // of these, last deliveries: the item is among the dead letters
	Jobs       int            // as messages of the queue
	Poison     map[string]int // by reason: deliveries that the worker refused
	Skipped    map[string]int
	Silent     map[string]int
	Sent       int
	Exchanges  map[string]Some[Exchange] // by topic
	Costs      Costs
	Models     map[string]*ModelUse // by name

	chats  map[string]string // id → title
	people map[string]string // id → name, of people who had an exchange with the bot
	talked map[string]bool   // ids of the chats in which it had any
}

// ModelUse is what deliveries asked a model, including those that failed.
type ModelUse struct {
	Asked, Replayed, FellBack, Requests int
	In, Out                             int64 // tokens
}

func (t *Tally) asked(u classify.Usage) {
	if u.Model == "" {
		return
	}
	m := t.Models[u.Model]
	if m == nil {
		m = new(ModelUse)
		t.Models[u.Model] = m
	}
	m.Requests, m.In, m.Out = m.Requests+u.Requests, m.In+u.In, m.Out+u.Out
	if u.Requests > 0 {
		m.Asked++
	}
	if u.Replayed {
		m.Replayed++
	}
	if u.FellBack {
		m.FellBack++
	}
}

// Reason is why an update was not enqueued.
type Reason struct {
	Disposition ingest.Disposition
	Why         string
}

// about is what shows the topic of an exchange.
type about struct {
	dialog.Intent
	kind worker.Kind
	job  string
}

// topics are what exchanges are about, in the order of the report. If several fit,
// the first one counts.
var topics = []struct {
	title string
	is    func(about) bool
}{
	{"Who did it last?", func(a about) bool { return a.Who != nil }},
	{"When did somebody last do it?", func(a about) bool { return a.When != nil }},
	{"How often this week?", func(a about) bool { return a.Often != nil }},
	{"How do we stand?", func(a about) bool { return a.Week != nil && a.Week.Balance }},
	{"How was the week?", func(a about) bool { return a.Week != nil && !a.Week.Balance }},
	{"What has been promised?", func(a about) bool { return a.Promises != nil }},
	{"What people promised", func(a about) bool { return a.Promise != nil }},
	{"What people said of themselves", func(a about) bool { return a.About != nil }},
	{"Words and names that people taught", func(a about) bool { return a.kind == worker.KindTeach }},
	{"What the bot was unsure about", func(a about) bool { return a.kind == worker.KindGuess }},
	{"Said unasked: what somebody usually does now", func(a about) bool { return a.job == job.Suggest }},
	{"Said unasked: how the week was", func(a about) bool { return a.job == job.Week }},
	{"Said unasked: promises that are overdue", func(a about) bool { return a.job == job.Promise }},
}

// Exchange is what somebody said to the bot and what it answered. If the bot
// spoke unasked, it has neither person nor question.
type Exchange struct {
	At     time.Time
	Chat   string // its id
	Person string // their id
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
	return &Tally{
		Dispositions: map[ingest.Disposition]int{}, Reasons: map[Reason]int{}, Skipped: map[string]int{},
		Silent: map[string]int{}, Exchanges: map[string]Some[Exchange]{}, Poison: map[string]int{}, Became: map[string]int{},
		Costs: newCosts(), Models: map[string]*ModelUse{}, chats: map[string]string{}, people: map[string]string{}, talked: map[string]bool{},
	}
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

// Ingested notes what the webhook made of a request.
func (t *Tally) Ingested(r ingest.Result) {
	t.Dispositions[r.Disposition]++
	if r.Reason != "" {
		t.Reasons[Reason{r.Disposition, r.Reason}]++
	}
}

// Delivered notes what became of a delivery and what it cost.
func (t *Tally) Delivered(r worker.Report, cost dynamotest.Cost) {
	t.Deliveries++
	t.Costs.add(kindOf(r), cost)
	t.asked(r.Usage)
	for _, step := range r.Skipped {
		t.Skipped[step]++
	}
	t.Became[t.became(r)]++
	if r.Err != nil || r.Kind == worker.KindPoison {
		return
	}
	update, _ := telegram.Parse([]byte(r.Delivery.Body)) // a job's body is not an update
	if m := update.Message; m != nil {
		t.chats[m.Chat.Key()] = m.Chat.Title
	}
	for _, a := range r.Recorded {
		t.chats[a.Scope] += "" // which may be an earlier id of the chat
	}
	switch {
	case r.Sent != "":
		t.Sent++
		t.exchange(r, update.Message)
	case r.Silent == "":
	case r.Duplicate && r.Delivery.Receives <= 1 && r.Silent != string(worker.KindSaid):
		t.Silent["came again"]++ // its first delivery was counted under its reason
	default:
		t.Silent[r.Silent]++
	}
}

// became names what a delivery became.
func (t *Tally) became(r worker.Report) string {
	switch {
	case r.Err != nil && r.Delivery.Last():
		t.CameBack++
		t.Buried++
		return "failed for the last time"
	case r.Err != nil:
		t.CameBack++
		return "failed and came back"
	case r.Kind == worker.KindPoison:
		t.Poison[r.Refused]++
		return "refused for good"
	case r.Kind == worker.KindJob:
		t.Jobs++
		return "job " + jobOf(r).Name
	case r.Delivery.Attributes[queue.MessageID] != "" && r.Duplicate:
		return "message saved before"
	case r.Delivery.Attributes[queue.MessageID] != "":
		t.Saved++
		return "message saved"
	}
	return cmp.Or(string(r.Kind), "of another kind") + ", no message"
}

// jobOf is the job that a delivery asks for.
func jobOf(r worker.Report) job.Job {
	j, _, _ := job.Parse(r.Delivery.Body) // the worker has read it
	return j
}

// exchange keeps what was asked and answered, as it was said and sent.
func (t *Tally) exchange(r worker.Report, m *telegram.Message) {
	j := jobOf(r)
	one, a := Exchange{At: j.Due, Chat: j.Chat, Answer: r.Sent}, about{kind: r.Kind, job: j.Name}
	if m != nil {
		one = Exchange{At: m.Time(), Chat: m.Chat.Key(), Said: m.Words(), Answer: r.Sent}
		a.Intent, _ = dialog.Understand(m.Words())
		if from, ok := m.Author(); ok {
			one.Person = from.Key()
			t.people[one.Person] = from.Name()
		}
	}
	for _, topic := range topics {
		if r.Kind != worker.KindActivity && topic.is(a) {
			t.talked[one.Chat] = true
			some := t.Exchanges[topic.title]
			some.add(one)
			t.Exchanges[topic.title] = some
			return
		}
	}
}
