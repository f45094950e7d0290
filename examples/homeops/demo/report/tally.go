// Package report writes a report of a replay, for people to read.
//
//	tally.go   adds up what the webhook and the worker report
//	write.go   reads what stands in the tables, and writes the report
package report

import (
	"cmp"
	"fmt"
	"time"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/examples/homeops/classify"
	"github.com/homeops/ddbpatterns/examples/homeops/dialog"
	"github.com/homeops/ddbpatterns/examples/homeops/ingest"
	"github.com/homeops/ddbpatterns/examples/homeops/job"
	"github.com/homeops/ddbpatterns/examples/homeops/page"
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
	Model      classify.Usage // the sum, including deliveries that failed; without a name
	FellBack   int            // deliveries that got the vocabulary's answer

	scopes map[string]bool   // of activities
	people map[string]string // id → name, of people who had an exchange with the bot
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
		Costs: newCosts(), scopes: map[string]bool{}, people: map[string]string{},
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
	t.Model.Requests, t.Model.In, t.Model.Out = t.Model.Requests+r.Usage.Requests, t.Model.In+r.Usage.In, t.Model.Out+r.Usage.Out
	if r.Usage.FellBack {
		t.FellBack++
	}
	for _, step := range r.Skipped {
		t.Skipped[step]++
	}
	t.Became[t.became(r)]++
	if r.Err != nil || r.Kind == worker.KindPoison {
		return
	}
	update, _ := telegram.Parse([]byte(r.Delivery.Body)) // a job's body is not an update
	for _, a := range r.Recorded {
		t.scopes[a.Scope] = true
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
	one, a := Exchange{At: j.Due, Answer: r.Sent}, about{kind: r.Kind, job: j.Name}
	if m != nil {
		one = Exchange{At: m.Time(), Said: m.Words(), Answer: r.Sent}
		a.Intent, _ = dialog.Understand(m.Words())
		if from, ok := m.Author(); ok {
			one.Person = from.Key()
			t.people[one.Person] = from.Name()
		}
	}
	for _, topic := range topics {
		if r.Kind != worker.KindActivity && topic.is(a) {
			some := t.Exchanges[topic.title]
			some.add(one)
			t.Exchanges[topic.title] = some
			return
		}
	}
}

// Costs adds up what deliveries cost.
type Costs struct {
	ByKind map[string]*KindCost
	All    dynamotest.Cost
}

// KindCost is what deliveries of a kind cost: all together, and the dearest.
type KindCost struct {
	Deliveries int
	All, Most  dynamotest.Price
}

func newCosts() Costs {
	return Costs{ByKind: map[string]*KindCost{}}
}

// kindOf splits the worker's kinds where the price differs. Deliveries without
// a kind are a row of their own, because "none" is a kind: that of messages
// that were read.
func kindOf(r worker.Report) string {
	kind := cmp.Or(string(r.Kind), "of another kind")
	switch {
	case r.Err != nil:
		return "failed, comes back"
	case r.Duplicate:
		return kind + ", again"
	case r.Kind == worker.KindJob:
		return kind + " " + jobOf(r).Name
	case r.Kind != worker.KindActivity:
		return kind
	case len(r.Recorded) > 1:
		return kind + ", several at once"
	case r.Sent != "":
		return kind + ", answered"
	}
	return kind + ", silent"
}

func (c *Costs) add(kind string, cost dynamotest.Cost) {
	k := c.ByKind[kind]
	if k == nil {
		k = new(KindCost)
		c.ByKind[kind] = k
	}
	k.add(cost)
	page.Add(&c.All, cost)
}

func (k *KindCost) add(cost dynamotest.Cost) {
	p := cost.Price()
	k.Deliveries++
	k.All = dynamotest.Price{Requests: k.All.Requests + p.Requests, RCU: k.All.RCU + p.RCU, WCU: k.All.WCU + p.WCU}
	k.Most = dynamotest.Price{Requests: max(k.Most.Requests, p.Requests), RCU: max(k.Most.RCU, p.RCU), WCU: max(k.Most.WCU, p.WCU)}
}

// mean writes the mean of a kind: "8" or "2.4".
func mean(sum float64, n int) string { return fmt.Sprintf("%.4g", sum/float64(n)) }
