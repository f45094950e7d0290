package worker_test

import (
	"strings"
	"testing"
	"time"

	"github.com/homeops/ddbpatterns/examples/homeops/job"
	"github.com/homeops/ddbpatterns/examples/homeops/telegram"
	"github.com/homeops/ddbpatterns/examples/homeops/worker"
)

// dayOver is the job that learns from the 18th.
var dayOver = job.Job{Name: job.Day, Due: at(19, 4), Household: chatKey, Chat: chatKey}

// suggestable makes the next suggestion Anna's, who was thanked every day.
func suggestable(t *testing.T) *bench {
	b := newBench(t, 0)
	b.now = at(9, 12)
	b.meet()
	b.speaks(anna, "sv")
	b.habit(7)
	return b
}

func wantIgnored(t *testing.T, b *bench, what string, samples int64, value float64) {
	t.Helper()
	rate, _, err := b.Prefs.Get(t.Context(), anna.Key(), worker.IgnoresSuggestions)
	if err != nil || rate.Samples != samples || rate.Value != value {
		t.Errorf("%s: %+v, %v, want %v of %d", what, rate, err, value, samples)
	}
}

// Only a suggestion can be ignored: by who neither did it nor answered by the day's
// end, or refused. Thanks and reminders cannot.
func TestIgnoredSuggestions(t *testing.T) {
	t.Parallel()
	type do = func(b *bench)
	says := func(who telegram.User, text string) do { return func(b *bench) { b.say(who, text) } }
	replies := func(who telegram.User, text string) do {
		return func(b *bench) { b.now = b.now.Add(time.Minute); b.handle(b.reply(who, text)) }
	}
	tomorrow := func(then do) do { return func(b *bench) { b.now = at(19, 0); then(b) } }
	refuse := func(err error) do { return func(b *bench) { b.sender.first = []error{err} } }
	for name, tc := range map[string]struct {
		before, then do
		samples      int64
		value        float64
	}{
		"nothing":                   {samples: 1, value: 1},
		"does it":                   {then: says(anna, "Jag har diskat"), samples: 1},
		"does it in the end":        {then: func(b *bench) { b.now = at(18, 23).Add(57 * time.Minute); b.say(anna, "Jag har diskat") }, samples: 1},
		"does it tomorrow":          {then: tomorrow(says(anna, "Jag har diskat")), samples: 1, value: 1},
		"does something else":       {then: says(anna, "Jag har tvättat"), samples: 1, value: 1},
		"another does it":           {then: says(bo, "Jag har diskat"), samples: 1, value: 1},
		"another says that she did": {then: says(bo, "Anna har diskat"), samples: 1},
		"answers":                   {then: replies(anna, "Ja, strax"), samples: 1},
		"answers tomorrow":          {then: tomorrow(replies(anna, "Ja, strax")), samples: 1, value: 1},
		"another answers":           {then: replies(bo, "Ja, strax"), samples: 1, value: 1},
		"refuses":                   {then: replies(anna, "Nej tack"), samples: 1, value: 1},
		"answers something else":    {then: func(b *bench) { b.say(bo, "Jag har städat"); replies(anna, "Bra")(b) }, samples: 1, value: 1},
		"talks of something else":   {then: says(anna, "Hej"), samples: 1, value: 1},
		"perhaps it was sent":       {before: refuse(errLost), samples: 1, value: 1},
		"it was refused":            {before: refuse(&telegram.RefusedError{Code: 400})},
		"it waits, and is too old":  {before: refuse(&telegram.RefusedError{Code: 429, RetryAfter: time.Hour})},
	} {
		b := suggestable(t)
		wantIgnored(t, b, name+", thanks", 0, 0)
		if tc.before != nil {
			tc.before(b)
		}
		b.now = suggest.Due
		_ = b.Worker.Handle(t.Context(), jobDelivery(suggest, 1))
		if tc.then != nil {
			tc.then(b)
		}
		for _, hours := range []int{4, 5, 70} { // again, and late
			b.now = at(19, hours)
			b.do(dayOver)
			wantIgnored(t, b, name, tc.samples, tc.value)
		}
	}
}

// After a crash at any request, before or after it takes effect, the day's end has
// learned from each suggestion once, and has forgotten what is over a week old.
func TestWhatADaysEndLearnsConverges(t *testing.T) {
	t.Parallel()
	b := suggestable(t)
	b.ignoring(0, 0, 9)
	b.now = suggest.Due
	b.converges(jobDelivery(suggest, 1))
	b.now = dayOver.Due
	b.converges(jobDelivery(dayOver, 1))
	wantIgnored(t, b, "once", 1, 1)
	if noted := b.profileOf(anna).Suggested; len(noted) != 1 || noted[0].Activity != "diskning" {
		t.Errorf("%v", noted)
	}
}

// What was suggested to one person is not taken for another's when the job comes
// again.
func TestASuggestionStays(t *testing.T) {
	b := start(t)
	b.now = at(9, 12)
	b.meet()
	for day := 11; day < 18; day++ {
		b.now = at(day, 18).Add(-4 * time.Minute)
		b.say(bo, "Jag har tvättat")
		b.say(anna, "Jag har diskat")
	}
	if first := b.do(suggest); !strings.HasPrefix(first.Sent, "Anna") {
		t.Fatalf("%+v", first)
	}
	b.say(anna, "Jag har diskat")
	b.do(suggest)
	if noted := b.profileOf(bo).Suggested; len(noted) > 0 {
		t.Errorf("%v", noted)
	}
}
