package activity_test

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"math/bits"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/activity"
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/item"
)

// logged is a row in the model: its content and the indexes that have it,
// without the keys and bounds by which the package finds it.
type logged struct {
	activity.Activity
	idTime  time.Time
	seconds bool // its time is stored in seconds
	timed   bool // has a timestamp, so the actor's index has it
	named   bool // has an activityTimestamp, so the name's index has it
	raw     bool // with its name not encoded
	both    bool // has a chatUser too
	hidden  bool // was retracted, or has expired
}

// question is one walk in words.
type question struct {
	way, scope, actor, name string
	from, to                time.Time
	match                   activity.Match
}

func (q question) String() string {
	return fmt.Sprintf("%s(%s, %s, %q) from %v to %v of %v", q.way, q.scope, q.actor, q.name, q.from, q.to, q.match)
}

func (q question) holds(at time.Time) bool {
	return (q.from.IsZero() || !at.Before(q.from)) && (q.to.IsZero() || at.Before(q.to))
}

// judge reports whether the question meets the row, and whether the row is part
// of the answer, as the doc comments of the walks say.
func (q question) judge(l logged) (candidate, answer bool) {
	candidate, answer = q.meets(l)
	return candidate, answer && !l.hidden && matches(q.match, l.Activity)
}

func (q question) meets(l logged) (candidate, answer bool) {
	special := l.raw && strings.ContainsAny(l.Name, "#%")
	switch q.way {
	case "InScope":
		candidate = l.Scope == q.scope && q.holds(l.idTime)
		return candidate, candidate && q.holds(l.At)
	case "ByActor":
		candidate = l.Actor == q.actor && l.timed && (!l.seconds || q.from.IsZero())
		return candidate, candidate && q.holds(l.At)
	case "ByActorAndName":
		if !l.both || l.Actor != q.actor {
			return false, false
		}
	}
	encoded := strings.NewReplacer("%", "%25", "#", "%23").Replace(q.name)
	alike := l.raw && (l.Name == encoded || strings.HasPrefix(l.Name, encoded+"#"))
	candidate = l.Scope == q.scope && l.named && (l.Name == q.name && !special || alike)
	return candidate, candidate && l.Name == q.name && !special && q.holds(l.At)
}

// rank orders answers; rows of one rank may come in any stable order.
func (q question) rank(l logged) string {
	switch {
	case q.way == "InScope":
		return l.Event.String()
	case q.way == "ByActor" && l.seconds:
		return fmt.Sprintf("%020d", l.At.Unix())
	case q.way == "ByActor":
		return fmt.Sprintf("%020d", l.At.UnixMilli())
	}
	return fmt.Sprintf("%d %v", l.At.UnixMilli(), !l.seconds)
}

// model is the answer to a question and the rows that may be met on the way to
// it.
type model struct {
	answer  map[event.Event]logged
	skipped int // rows met that are not part of the answer
	alike   int // names met that only look alike
	through int // rows of such names that are skipped one by one
}

func ask(all []logged, q question) model {
	m := model{answer: map[event.Event]logged{}}
	encoded := strings.NewReplacer("%", "%25", "#", "%23").Replace(q.name)
	names := map[string]bool{}
	for _, l := range all {
		candidate, answer := q.judge(l)
		switch {
		case answer:
			m.answer[l.Event] = l
		case candidate:
			m.skipped++
			if rest, ok := strings.CutPrefix(l.Name, encoded+"#"); ok && q.name != "" {
				first, _, _ := strings.Cut(rest, "#")
				names[first] = true
			} else {
				m.through++
			}
		}
	}
	m.alike = len(names)
	return m
}

// pick returns one of several.
func pick[T any](r *rand.Rand, from ...T) T { return from[r.IntN(len(from))] }

var dawn = monday.Add(-time.Hour)

// moment returns one of few times, so that many rows share one.
func moment(r *rand.Rand) time.Time {
	return dawn.Add(time.Duration(r.IntN(12)) * time.Second).Add(pick[time.Duration](r, 0, 0, 1, 500, 999) * time.Millisecond)
}

var names = []string{"disk", "disk", "disk", "diskning", "disk#2", "disk#17", "disk#17#4", "disk#1774249", "disk#9", "50%", "50%25", "50%25#3"}

// anyRow makes a row of this package, or one of an older system, in which much
// may be absent.
func anyRow(t *testing.T, r *rand.Rand, acts *activity.Store, scopes, actors []string, n int64) (logged, map[string]types.AttributeValue) {
	t.Helper()
	at := moment(r)
	l := logged{Activity: activity.Activity{Scope: pick(r, scopes...), Actor: pick(r, actors...), Name: pick(r, names...), At: at}}
	l.Data = anyData(r)
	if r.IntN(2) == 0 {
		l.Kind = pick(r, "chore", "recovery", "")
		l.Event, l.idTime = newEvent(t, at, l.Scope, n), at
		l.timed, l.named, l.both = true, true, true
		row, err := acts.Encode(l.Activity)
		if err != nil {
			t.Fatal(err)
		}
		switch r.IntN(8) {
		case 0: // it leaves a tombstone
			l.hidden, l.timed, l.named, l.both = true, false, false, false
			row = map[string]types.AttributeValue{"chatId": row["chatId"], "activityId": row["activityId"], "retractedAt": row["createdAt"]}
		case 1: // it is to be deleted
			l.hidden = true
			row["ttl"] = item.N(at.Unix())
		}
		return l, row
	}
	if l.seconds = r.IntN(3) == 0; l.seconds {
		l.At = at.Truncate(time.Second)
	}
	l.idTime = pick(r, l.At, l.At, time.UnixMilli(l.At.Unix()), l.At.Add(time.Duration(r.IntN(9))*time.Second))
	l.Event = newEvent(t, l.idTime, "old", n)
	stamp := l.At.UnixMilli()
	if l.seconds {
		stamp = l.At.Unix()
	}
	row := oldRow(t, l.Event.String(), l.Scope, l.Actor, l.Name, stamp)
	l.timed, l.named, l.raw = true, true, true
	for _, attr := range []string{"userName", "messageId", "type", "effort", "confidence"} {
		if r.IntN(4) == 0 {
			delete(row, attr)
		}
	}
	l.Kind = item.Text(row, "type")
	store(row, l.Data)
	switch r.IntN(6) {
	case 0:
		delete(row, "activityTimestamp")
		l.named = false
	case 1: // without a time: that of the id is read
		delete(row, "activityTimestamp")
		delete(row, "timestamp")
		l.named, l.timed, l.seconds, l.At = false, false, false, l.idTime
	}
	if l.both = l.named && r.IntN(3) == 0; l.both { // as a backfill gives it
		row["chatUser"] = &types.AttributeValueMemberS{Value: activity.ScopeActor(l.Scope, l.Actor)}
	}
	return l, row
}

func anyQuestion(r *rand.Rand, scopes, actors []string) question {
	q := question{
		way: pick(r, "InScope", "ByActor", "ByName", "ByName", "ByActorAndName"), scope: pick(r, scopes...), actor: pick(r, actors...), name: pick(r, names...),
	}
	if r.IntN(2) == 0 {
		q.from = moment(r).Add(pick[time.Duration](r, 0, 0, 1, -1))
	}
	if r.IntN(2) == 0 {
		q.to = moment(r).Add(pick[time.Duration](r, 0, 0, 1, -1))
	}
	if !q.from.IsZero() && !q.to.IsZero() && q.to.Before(q.from) {
		q.from, q.to = q.to, q.from
	}
	switch q.way {
	case "InScope":
		q.actor, q.name = "", ""
	case "ByActor":
		q.scope, q.name = "", ""
	case "ByName":
		q.actor = ""
	}
	q.match = anyMatch(r, q, actors)
	return q
}

// walk is the walk that answers the question.
func (q question) walk(acts *activity.Store) walk {
	return func(ctx context.Context, r activity.Range) iter.Seq2[activity.Activity, error] {
		r.From, r.To, r.Match = q.from, q.to, q.match
		switch q.way {
		case "InScope":
			return acts.InScope(ctx, q.scope, r)
		case "ByActor":
			return acts.ByActor(ctx, q.actor, r)
		case "ByName":
			return acts.ByName(ctx, q.scope, q.name, r)
		}
		return acts.ByActorAndName(ctx, q.scope, q.actor, q.name, r)
	}
}

// Random histories of two writers, random questions: the answers are those of
// a plain model, in every direction and in parts of any size, and cost no more
// than they may.
func TestModel(t *testing.T) {
	t.Parallel()
	db, acts := open(t, nil)
	api, seen := watched(t, db, acts)
	n := int64(0)
	for seed := range uint64(12) {
		r := rand.New(rand.NewPCG(seed, 1))
		scopes := []string{fmt.Sprintf("%d#a", seed), fmt.Sprintf("%d", seed)}
		actors := []string{strconv.FormatUint(seed*10+1, 10), strconv.FormatUint(seed*10+2, 10)}
		var all []logged
		var rows []map[string]types.AttributeValue
		for range 10 + r.IntN(120) {
			n++
			l, row := anyRow(t, r, acts, scopes, actors, n)
			all, rows = append(all, l), append(rows, row)
		}
		fill(t, db, acts.Table().Name, rows)
		for range 12 {
			q := anyQuestion(r, scopes, actors)
			t.Run(fmt.Sprint(seed, " ", q), func(t *testing.T) { q.check(t, r, seen, api, ask(all, q)) })
		}
	}
}

func (q question) check(t *testing.T, r *rand.Rand, acts *activity.Store, api *pages, m model) {
	way := q.walk(acts)
	for _, newest := range []bool{false, true} {
		rg := activity.Range{NewestFirst: newest}
		got := collect(t, way(t.Context(), rg))
		q.checkOrder(t, got, m, newest)

		for k := range min(len(got), 7) { // a walk left early
			api.read = nil
			first(t, k+1, way(t.Context(), rg))
			within(t, "rows for a break", sum(api.read), 5*(k+1+m.skipped)+4)
		}

		limit := 1 + r.IntN(9)
		rg.Limit = limit
		api.read = nil
		some := collect(t, way(t.Context(), rg))
		wantSame(t, fmt.Sprint("to a Limit of ", limit), some, got[:min(limit, len(got))])
		m.cost(t, api, limit)

		q.parts(t, r, acts, api, newest, got, m)
		q.readAtMost(t, r, acts, api, newest, got)

		if q.name == "" {
			continue
		}
		api.read = nil // the last one: 4 rows for each name that looks alike
		collect(t, way(t.Context(), activity.Range{NewestFirst: newest, Limit: 1}))
		within(t, "rows for the last", sum(api.read), 4*(m.alike+1)+2*m.through)
		within(t, "requests for the last", len(api.read), m.alike+1+bits.Len(uint(m.through)))
	}
	filter := activity.Filter{Scope: q.scope, Actor: q.actor, Name: q.name, From: q.from, To: q.to, Match: q.match}
	count, err := acts.Count(t.Context(), filter)
	if err != nil || count != len(m.answer) {
		t.Errorf("Count = %d, %v, want %d", count, err, len(m.answer))
	}
	want := map[activity.Tally]int{}
	for _, l := range m.answer {
		want[activity.Tally{Actor: l.Actor, Name: l.Name, Kind: l.Kind}]++
	}
	tally, err := acts.Tally(t.Context(), filter)
	if err != nil || len(tally) != len(want) {
		t.Errorf("Tally has %d rows, %v, want %d", len(tally), err, len(want))
	}
	for _, row := range tally {
		key := row
		key.Count = 0
		if row.Count != want[key] {
			t.Errorf("Tally has %+v, want %d", row, want[key])
		}
	}
}

// parts reads the answer in parts that end at any Limit or ReadAtMost, or are
// left at any activity: each activity comes once.
func (q question) parts(t *testing.T, r *rand.Rand, acts *activity.Store, api *pages, newest bool, answer []activity.Activity, m model) {
	t.Helper()
	rg := activity.Range{NewestFirst: newest}
	rg.Next = &rg.Cursor
	var got []activity.Activity
	for more := true; more; more = rg.Cursor != "" {
		rg.Limit, rg.ReadAtMost = r.IntN(10), r.IntN(2)*(1+r.IntN(9))
		leave := 1 + r.IntN(12)
		api.read = nil
		n := 0
		for a, err := range q.walk(acts)(t.Context(), rg) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, a)
			if n++; n == leave {
				break
			}
		}
		switch {
		case rg.ReadAtMost > 0:
			within(t, "rows of a part", sum(api.read), rg.ReadAtMost)
		case rg.Limit > 0:
			m.cost(t, api, rg.Limit)
			if n < min(leave, rg.Limit) && rg.Cursor != "" {
				t.Errorf("a part of %d has %d, and goes on", rg.Limit, n)
			}
		}
		if rg.Limit > 0 {
			within(t, "activities of a part", n, rg.Limit)
		}
	}
	wantSame(t, "in parts", got, answer)
}

// checkOrder compares with the model's answer: each activity once, and in
// order.
func (q question) checkOrder(t *testing.T, got []activity.Activity, m model, newest bool) {
	t.Helper()
	found := map[event.Event]bool{}
	last := ""
	for i, a := range got {
		want, ok := m.answer[a.Event]
		if !ok || found[a.Event] || a.Scope != want.Scope || a.Actor != want.Actor || a.Name != want.Name || !a.At.Equal(want.At) || !sameData(a.Data, want.Data) {
			t.Errorf("[%d] %+v is no part of the answer, or not for the first time, want %+v", i, a, want.Activity)
		}
		found[a.Event] = true
		rank := q.rank(want)
		if order := cmp.Compare(rank, last); i > 0 && order != 0 && order < 0 != newest {
			t.Errorf("[%d] %v at %v is out of order, newest first: %v", i, a.Event, a.At, newest)
		}
		last = rank
	}
	if missing := len(m.answer) - len(found); missing != 0 {
		t.Errorf("%d of the answer are missing", missing)
	}
}

// cost checks what a walk or page to a Limit has read: the Limit, and two rows
// for each skipped one. Its requests grow with the logarithm of these, and with
// the number of names that only look alike.
func (m model) cost(t *testing.T, api *pages, limit int) {
	t.Helper()
	within(t, "rows", sum(api.read), max(limit, 4)+2*m.skipped)
	within(t, "requests", len(api.read), (m.alike+1)*(1+bits.Len(uint(limit))/2)+bits.Len(uint(m.skipped))+1)
	if m.skipped == 0 {
		within(t, "requests with nothing to skip", len(api.read), 1)
	}
	if slices.Contains(api.read[:max(0, len(api.read)-1)], 0) {
		t.Errorf("an empty page was followed by another: %v", api.read)
	}
}

func within(t *testing.T, what string, got, most int) {
	t.Helper()
	if got > most {
		t.Errorf("%s: %d, want at most %d", what, got, most)
	}
}
