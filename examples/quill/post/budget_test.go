package post_test

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/homeops/ddbpatterns/examples/quill/fact"
	"github.com/homeops/ddbpatterns/examples/quill/outbox"
	"github.com/homeops/ddbpatterns/examples/quill/post"
	"github.com/homeops/ddbpatterns/examples/quill/sink"
)

// strict is what a sink with exact times and sliding windows allows.
type strict struct {
	limits sink.Limits
	posts  []strictPost
	total  map[string]int
}

type strictPost struct {
	at   time.Time
	rows int
}

func (s *strict) within(at time.Time, window time.Duration) (rows, posts int) {
	for _, p := range s.posts {
		if age := at.Sub(p.at); age < window {
			rows += p.rows
			posts++
		}
	}
	return rows, posts
}

// breaks says which limit a post breaks at the time.
func (s *strict) breaks(table string, n int, at time.Time) string {
	hourRows, hourPosts := s.within(at, time.Hour)
	_, minutePosts := s.within(at, time.Minute)
	large := false
	for _, rows := range s.total {
		large = large || rows >= s.limits.LargeTable
	}
	switch l := s.limits; {
	case l.RowsAPost > 0 && n > l.RowsAPost:
		return "rows a post"
	case l.RowsAnHour > 0 && hourRows+n > l.RowsAnHour:
		return "rows an hour"
	case l.PostsAMinute > 0 && minutePosts+1 > l.PostsAMinute:
		return "posts a minute"
	case large && l.PostsAnHour > 0 && hourPosts+1 > l.PostsAnHour:
		return "posts an hour"
	case l.RowsATable > 0 && s.total[table]+n > l.RowsATable:
		return "rows a table"
	}
	return ""
}

func (s *strict) take(table string, n int, at time.Time) {
	s.posts = append(s.posts, strictPost{at, n})
	s.total[table] += n
}

// Random holders post one after the other, and each knows what the earlier ones
// saved. Their posts never break the sink's limits at the times at which it sees
// them. A holder that posted from the beginning waits at most a window
// longer than it must.
func TestBudgetAgainstExactTimes(t *testing.T) {
	t.Parallel()
	for seed := range uint64(300) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			rnd := rand.New(rand.NewPCG(seed, 1))
			limits := sink.Limits{
				RowsAPost: 1 + rnd.IntN(10), RowsAnHour: rnd.IntN(2) * (20 + rnd.IntN(50)), PostsAMinute: rnd.IntN(2) * (1 + rnd.IntN(4)),
				LargeTable: 1 + rnd.IntN(100), PostsAnHour: rnd.IntN(2) * (1 + rnd.IntN(20)), RowsATable: 300 + rnd.IntN(400),
			}
			b := budgetRun{
				t: t, rnd: rnd, now: noon, budget: post.NewBudget(limits, outbox.Poster{}, noon),
				model: strict{limits: limits, total: map[string]int{}}, first: true,
			}
			for range 150 {
				if b.step() {
					return // all tables are full
				}
			}
		})
	}
}

type budgetRun struct {
	t      *testing.T
	rnd    *rand.Rand
	now    time.Time
	budget post.Budget
	saved  outbox.Poster
	model  strict
	first  bool // no other holder before this one
	full   map[string]bool
}

func (b *budgetRun) pause(most time.Duration) {
	b.now = b.now.Add(time.Duration(b.rnd.Int64N(int64(most))))
}

func (b *budgetRun) step() (over bool) {
	table := []string{fact.Communications, fact.Changes}[b.rnd.IntN(2)]
	if b.rnd.IntN(4) == 0 {
		b.pause(20 * time.Minute)
	}
	if b.rnd.IntN(12) == 0 { // another takes over, with an equally good clock
		b.budget, b.first = post.NewBudget(b.model.limits, clone(b.saved), b.now), false
	}
	at, err := b.budget.When(table, 1, b.now)
	if errors.Is(err, post.ErrTableFull) {
		if b.full == nil {
			b.full = map[string]bool{}
		}
		b.full[table] = true
		return len(b.full) == 2
	}
	if err != nil {
		b.t.Fatal(err)
	}
	b.mustWait(table, at)
	b.now = at
	room, err := b.budget.Room(table, at)
	if err != nil || room < 1 {
		b.t.Fatalf("room %d, %v", room, err)
	}
	rows := 1 + b.rnd.IntN(room)
	b.saved = clone(b.budget.Begin("1.1", table, rows, b.now))
	b.pause(2 * time.Second)
	seen := b.now
	if b.rnd.IntN(20) == 0 { // the post was never sent
		b.budget, b.first = post.NewBudget(b.model.limits, clone(b.saved), b.now), false
		return false
	}
	if broken := b.model.breaks(table, rows, seen); broken != "" {
		b.t.Fatalf("%d rows at %s break the limit of %s: %+v", rows, seen, broken, b.model.limits)
	}
	b.model.take(table, rows, seen)
	b.pause(90 * time.Second)
	if b.rnd.IntN(20) == 0 { // the reply never came
		b.budget, b.first = post.NewBudget(b.model.limits, clone(b.saved), b.now), false
		return false
	}
	b.budget.End(true, true, b.now)
	b.budget.Settle()
	if b.rnd.IntN(3) == 0 {
		b.saved = clone(b.budget.Begin("", "", 0, b.now)) // as a round that ends writes it
		b.budget = post.NewBudget(b.model.limits, clone(b.saved), b.now)
		b.first = false
	}
	return false
}

// mustWait fails if the sink would have accepted a single row earlier by more than
// a bucket and a reply's time.
func (b *budgetRun) mustWait(table string, at time.Time) {
	early := at.Add(-10*time.Minute - post.LeaseFor - 90*time.Second)
	if b.first && early.After(b.now) && b.model.breaks(table, 1, early) == "" {
		b.t.Fatalf("waits from %s until %s, could post at %s: %+v", b.now, at, early, b.model.limits)
	}
}

func clone(p outbox.Poster) outbox.Poster {
	p.Hour, p.Total = maps.Clone(p.Hour), maps.Clone(p.Total)
	p.PostAt = p.PostAt.Truncate(time.Millisecond)
	return p
}

func TestBudgetEdges(t *testing.T) {
	t.Parallel()
	hour := sink.Limits{RowsAnHour: 10}
	b := post.NewBudget(hour, outbox.Poster{}, noon)
	b.Begin("1.1", "T", 7, noon.Add(5*time.Second))
	b.End(true, true, noon.Add(10*time.Second))
	freed := noon.Add(time.Hour + 12*time.Minute)
	for at, want := range map[time.Time]int{noon.Add(time.Minute): 3, freed.Add(-1): 3, freed: 10} {
		if got, err := b.Room("T", at); got != want || err != nil {
			t.Errorf("room at %s is %d, %v, want %d", at, got, err, want)
		}
	}
	if at, err := b.When("T", 4, noon.Add(time.Minute)); err != nil || !at.Equal(freed) {
		t.Errorf("4 rows at %s, %v, want %s", at, err, freed)
	}
	if at, err := b.When("T", 3, noon.Add(time.Minute)); err != nil || !at.Equal(noon.Add(time.Minute)) {
		t.Errorf("3 rows at %s, %v, want at once", at, err)
	}
	if _, err := b.When("T", 11, noon); err == nil {
		t.Error("11 rows of 10 an hour are allowed some time")
	}
}

func TestBudgetGivesBackWhatWasNotTaken(t *testing.T) {
	t.Parallel()
	limits := sink.Limits{RowsAnHour: 10, RowsATable: 10}
	for _, c := range []struct {
		added, looked bool
		room          int
		err           error
	}{{true, true, 0, post.ErrTableFull}, {false, true, 0, nil}, {false, false, 10, nil}} {
		b := post.NewBudget(limits, outbox.Poster{}, noon)
		b.Begin("1.1", "T", 10, noon)
		b.End(c.added, c.looked, noon.Add(time.Minute))
		if got, err := b.Room("T", noon.Add(time.Minute)); got != c.room || !errors.Is(err, c.err) {
			t.Errorf("added %t, looked %t: room %d, %v, want %d, %v", c.added, c.looked, got, err, c.room, c.err)
		}
	}
}

// The clock of the previous holder was ahead, even by a year.
func TestBudgetOfAClockThatWasAhead(t *testing.T) {
	t.Parallel()
	limits := sink.Limits{RowsAnHour: 10, PostsAMinute: 100}
	b := post.NewBudget(limits, outbox.Poster{}, noon.AddDate(1, 0, 0))
	saved := b.Begin("1.1", "T", 10, noon.AddDate(1, 0, 0))
	b = post.NewBudget(limits, clone(saved), noon)
	if at, err := b.When("T", 1, noon); err != nil || at.Sub(noon) > time.Hour+12*time.Minute {
		t.Errorf("waits until %s, %v", at, err)
	}
	b = post.NewBudget(limits, outbox.Poster{PostAt: noon.AddDate(1, 0, 0)}, noon)
	if at, err := b.When("T", 1, noon); err != nil || at.Sub(noon) > 2*time.Minute {
		t.Errorf("for a settled batch it waits until %s, %v", at, err)
	}
}

// What is stored says when the next post may come, so holders that end one after the
// other do not wait anew.
func TestANewHolderDoesNotWaitAnew(t *testing.T) {
	t.Parallel()
	limits := sink.Limits{PostsAMinute: 120}
	last := noon.Add(post.LeaseFor) // that an open batch may have been under way
	for name, c := range map[string]struct {
		used outbox.Poster
		now  time.Time
		want time.Time
	}{
		"settled":        {outbox.Poster{PostAt: noon}, noon, noon.Add(spaced)},
		"settled before": {outbox.Poster{PostAt: noon}, noon.Add(time.Second), noon.Add(time.Second)},
		"open":           {outbox.Poster{PostAt: noon, Batch: "1.1"}, noon.Add(time.Minute), noon.Add(time.Minute + spaced)},
		"open for long":  {outbox.Poster{PostAt: noon, Batch: "1.1"}, last, last.Add(spaced)},
		"open before":    {outbox.Poster{PostAt: noon, Batch: "1.1"}, last.Add(time.Minute), last.Add(time.Minute)},
	} {
		if at, err := post.NewBudget(limits, c.used, c.now).When("T", 1, c.now); err != nil || !at.Equal(c.want) {
			t.Errorf("%s: waits until %s, %v, want %s", name, at, err, c.want)
		}
	}
}

// The row of an earlier version has a count for each minute.
func TestBudgetReadsMinutes(t *testing.T) {
	t.Parallel()
	used := outbox.Poster{Hour: map[int64]outbox.Window{}}
	for n := range int64(60) {
		used.Hour[noon.Unix()/60-n] = outbox.Window{Rows: 10, Posts: 1}
	}
	b := post.NewBudget(sink.Limits{RowsAnHour: 600}, used, noon)
	if room, err := b.Room("T", noon); room != 0 || err != nil {
		t.Errorf("room %d, %v", room, err)
	}
	if room, err := b.Room("T", noon.Add(time.Hour+12*time.Minute)); room != 600 || err != nil {
		t.Errorf("room %d after an hour, %v", room, err)
	}
	if saved := b.Begin("1.1", "T", 1, noon); len(saved.Hour) != 7 {
		t.Errorf("%d windows are written", len(saved.Hour))
	}
}

func TestBudgetForgetsWhatIsOld(t *testing.T) {
	t.Parallel()
	b := post.NewBudget(sink.Limits{RowsAnHour: 10}, outbox.Poster{}, noon)
	for hours := range 5 {
		now := noon.Add(time.Duration(hours) * 2 * time.Hour)
		if saved := b.Begin("1.1", "T", 1, now); len(saved.Hour) != 1 {
			t.Errorf("%d minutes are written", len(saved.Hour))
		}
		b.End(true, true, now)
	}
}
