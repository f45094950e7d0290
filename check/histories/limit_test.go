package histories_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/limit"
	"github.com/homeops/ddbpatterns/schema"
)

// limitStory is about one key below two limits. Half of its callers' stores remember
// what they heard.
type limitStory struct {
	averages
	stores  []*limit.Store
	settles []asksFor // what a caller can settle
}

const limitKey = "LIMIT#acme"

// twoLimits are those of the key: one unit a minute, and two.
var twoLimits = []limit.Limit{{Name: "a", N: 1, Per: time.Minute, Burst: 3}, {Name: "b", N: 2, Per: time.Minute, Burst: 5}}

// asksFor and settlings are calls of limit; a take without an event has a random one.
type (
	asksFor struct {
		event   int
		weights [2]int64
	}
	settling struct {
		of asksFor
		to [2]int64
	}
	refusedNow struct{ exact bool }
	otherTo    struct{}
	forgotten  struct{}
)

func (t asksFor) String() string  { return fmt.Sprintf("Take(event %d, %v)", t.event, t.weights) }
func (s settling) String() string { return fmt.Sprintf("Settle(event %d, %v)", s.of.event, s.to) }

func limitEvent(n int) event.Event {
	ev, err := event.New(epoch.Add(time.Duration(n)*time.Millisecond), "event", fmt.Sprint(n))
	if err != nil {
		panic(err)
	}
	return ev
}

func (t asksFor) ask() limit.Take {
	ask := limit.Take{Key: "acme", Limits: slices.Clone(twoLimits)}
	for i, w := range t.weights {
		ask.Limits[i].Weight = w
	}
	if t.event > 0 {
		ask.Event = limitEvent(t.event)
	}
	return ask
}

func newLimit(w *world) story {
	l := &limitStory{averages: averages{w: w, pk: limitKey}}
	for _, c := range w.callers {
		l.stores = append(l.stores, l.store(c))
	}
	return l
}

func (l *limitStory) store(c *caller) *limit.Store {
	s, err := limit.New(c.client, "limits", &limit.Config{Now: c.now, Rand: c.random, Timeout: 9 * time.Minute, MaxWait: 2 * time.Hour})
	if err != nil {
		panic(err)
	}
	return s
}

func (l *limitStory) tables() []schema.Table { return []schema.Table{l.stores[0].Table()} }
func (*limitStory) keyOf(r row) string       { return str(r, "pk") }
func (*limitStory) begin() []*call           { return nil }
func (*limitStory) intrude()                 {}
func (*limitStory) delay() time.Duration     { return 40 * time.Minute }
func (*limitStory) leaps() []time.Duration {
	return []time.Duration{20 * time.Second, time.Minute, 3 * time.Minute, 15 * time.Minute}
}
func (*limitStory) end() []*call { return nil }

func (l *limitStory) next(c *caller) *call {
	store, exact := l.stores[c.id], c.id%2 == 0
	if exact { // it remembers nothing
		store = l.store(c)
	}
	if len(l.settles) > 0 && l.w.rnd.IntN(3) == 0 {
		of := pick(l.w.rnd, l.settles)
		in := settling{of: of, to: [2]int64{l.w.rnd.Int64N(of.weights[0] + 1), l.w.rnd.Int64N(of.weights[1] + 2)}}
		return &call{caller: c, key: limitKey, in: in, do: func(ctx context.Context) any {
			out, err := store.Settle(ctx, of.ask(), map[string]int64{"a": in.to[0], "b": in.to[1]})
			if errors.Is(err, limit.ErrForgotten) {
				return forgotten{}
			} else if errors.Is(err, limit.ErrSettled) {
				return otherTo{}
			}
			return exactly(out, err)
		}}
	}
	n := l.w.rnd.IntN(30)
	in := asksFor{event: n, weights: weightsOf(n, l.w.rnd)}
	if n > 0 {
		l.settles = append(l.settles, in)
	}
	return &call{caller: c, key: limitKey, in: in, do: func(ctx context.Context) any {
		g, err := store.Take(ctx, in.ask())
		if err == nil && !g.OK && g.Outcome == 0 {
			return refusedNow{exact}
		}
		return exactly(g.Outcome, err)
	}}
}

// weightsOf are the same for each delivery of an event.
func weightsOf(n int, rnd *rand.Rand) [2]int64 {
	if n > 0 {
		rnd = rand.New(rand.NewPCG(uint64(n), 0))
	}
	return [2]int64{1 + rnd.Int64N(2), 1 + rnd.Int64N(4)}
}

// limitRow is the state of the key.
type limitRow struct {
	register [16]string
	full     [2]int64 // Unix nanoseconds
}

func limitRowOf(r row) (l limitRow) {
	for i := range l.register {
		l.register[i] = str(r, "l"+strconv.Itoa(i))
	}
	for i, of := range twoLimits {
		v, ok := r["t_"+of.Name].(*types.AttributeValueMemberN)
		if !ok {
			continue
		}
		whole, fraction, _ := strings.Cut(v.Value, ".")
		l.full[i], _ = strconv.ParseInt(whole+(fraction + "000000")[:6], 10, 64)
	}
	return l
}

func (*limitStory) fresh() any { return limitRow{} }

// apply knows GCRA and the register by their rules, and nothing of the requests.
func (*limitStory) apply(state any, m *move) (any, bool) {
	s := state.(limitRow)
	if at, is := m.in.(sweep); is {
		return limitRow{}, max(s.full[0], s.full[1]) < at.at*int64(time.Second)
	}
	in, settles := m.in.(settling)
	take := in.of
	if !settles {
		take = m.in.(asksFor)
	}
	have := "" // the latest entry of the event
	if i := slices.IndexFunc(s.register[:], func(e string) bool { return take.event > 0 && strings.HasPrefix(e, limitEvent(take.event).String()) }); i >= 0 {
		have = s.register[i][26:]
	}
	taken, done := fmt.Sprintf("~%d,%d", take.weights[0], take.weights[1]), fmt.Sprintf("=%d,%d", in.to[0], in.to[1])
	if m.row == nil {
		switch out := m.out.(type) {
		case refusedNow:
			if strings.HasPrefix(have, "~") || strings.HasPrefix(have, "=") {
				take.weights = [2]int64{} // it holds its room, and its turn may be to come
			}
			return s, !out.exact || s.refuses(take, m.clocks)
		case duplicate:
			return s, settles && have == done || !settles && have != ""
		case created: // an attempt before had its effect: of an event that nobody else has
			return s, take.event == 0
		case otherTo:
			return s, strings.HasPrefix(have, "=") && have != done
		case forgotten:
			return s, have != taken && !strings.HasPrefix(have, "=")
		}
		return s, false
	}
	now, entry := limitRowOf(m.row), taken
	if settles {
		entry = done
	}
	legal := strings.HasSuffix(now.register[0], entry) && slices.Equal(now.register[1:], s.register[:15]) && (have == "" || settles && have == taken)
	for i, of := range twoLimits {
		unit, earliest := of.Per.Nanoseconds()/of.N, slices.MinFunc(m.clocks, time.Time.Compare).UnixNano()
		latest, more := slices.MaxFunc(m.clocks, time.Time.Compare).UnixNano(), take.weights[i]
		if settles {
			more = in.to[i] - take.weights[i]
		}
		from := now.full[i] - more*unit
		switch {
		case more > 0:
			legal = legal && from >= s.full[i] && from >= earliest && (from == s.full[i] || from <= latest)
			legal = legal && (settles || now.full[i] <= latest+of.Burst*unit)
		default:
			legal = legal && from == s.full[i]
		}
	}
	return now, legal
}

// refuses reports whether a limit refuses the take by one of the clocks.
func (s limitRow) refuses(t asksFor, clocks []time.Time) bool {
	return slices.ContainsFunc(clocks, func(c time.Time) bool {
		for i, of := range twoLimits {
			if unit := of.Per.Nanoseconds() / of.N; s.full[i]+(t.weights[i]-of.Burst)*unit > c.UnixNano() {
				return true
			}
		}
		return false
	})
}

var writersNow = regexp.MustCompile(`":now\d":\{"N":"(\d+)`)

// verdict counts what was taken, by the writers' clocks, in each span between two takes:
// Burst, what comes back in the span, and what was given back meanwhile.
func (l *limitStory) verdict() string {
	type write struct {
		at    time.Time
		takes [2]int64 // negative: given back
	}
	var all []write
	for _, a := range l.w.arrivals {
		var w write
		switch in := a.flight.part.in.(type) {
		case asksFor:
			ms, _ := strconv.ParseInt(string(writersNow.FindSubmatch(a.flight.Body)[1]), 10, 64)
			w = write{time.UnixMilli(ms), in.weights}
		case settling:
			for i := range w.takes {
				w.takes[i] = min(0, in.to[i]-in.of.weights[i])
			}
		}
		all = append(all, w)
	}
	for _, from := range all {
		for _, to := range all {
			for i, of := range twoLimits {
				var sum, back, pending int64
				for _, w := range all {
					switch {
					case w.takes[i] < 0:
						pending -= w.takes[i]
					case !w.at.Before(from.at) && !w.at.After(to.at):
						if sum > 0 {
							back += pending
						}
						sum, pending = sum+w.takes[i], 0
					}
				}
				most := float64(of.Burst+back) + float64(to.at.Sub(from.at)+time.Millisecond)/float64(of.Per)*float64(of.N)
				if !from.at.IsZero() && !to.at.Before(from.at) && float64(sum) > most {
					return fmt.Sprintf("%d of %s were taken from %v to %v, more than %v", sum, of.Name, from.at, to.at, most)
				}
			}
		}
	}
	return ""
}
