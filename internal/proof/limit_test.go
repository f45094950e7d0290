package proof_test

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/homeops/ddbpatterns/limit"
)

// The limit of all takes: two at once, and one each minute.
const (
	mostAtOnce = 2
	interval   = time.Minute
	aheadMost  = 20 * time.Minute // a time further ahead is healed
)

func rates(p process) *limit.Store {
	return must(limit.New(p.api, "limits", &limit.Config{Now: p.now, Rand: p.rand, Timeout: time.Hour}))
}

// limited is the nth event's take.
func limited(n int) limit.Take {
	return limit.Take{Key: "acme", Event: at(dawn, n), Limits: []limit.Limit{{Name: "rpm", N: 1, Per: interval, Burst: mostAtOnce, Weight: 1}}}
}

func passes(n int) call {
	return call{fmt.Sprintf("Take%d", n), func(ctx context.Context, p process) string {
		g, err := rates(p).Take(ctx, limited(n))
		if err == nil && !g.OK {
			return "refused"
		}
		return answer(g.Outcome, err)
	}}
}

func settles(n int, to int64) call {
	return call{fmt.Sprintf("SettleTo%dOf%d", to, n), func(ctx context.Context, p process) string {
		out, err := rates(p).Settle(ctx, limited(n), map[string]int64{"rpm": to})
		return answer(out, err, limit.ErrForgotten, limit.ErrSettled)
	}}
}

// full is when the limit of the row is full again, in milliseconds after the start.
func full(r row) float64 {
	t, err := strconv.ParseFloat(str(r, "t_rpm"), 64)
	if err != nil {
		return math.Inf(-1)
	}
	return t - float64(start.UnixMilli())
}

// limitStep is the rule of a row. A write pushes one entry into the register, an event is
// taken and settled once, and the time moves by what was taken or settled, from the
// clock's time at the earliest. After a take it lies no further ahead than the burst. So
// the takes of any span are at most the burst, what came back in it, and what was given
// back.
func limitStep(was, is rows, now time.Time) error {
	old, r := was["LIMIT#acme limit"], is["LIMIT#acme limit"]
	entry := str(r, "l0")
	if entry == str(old, "l0") || r == nil {
		if full(old) != full(r) && r != nil {
			return fmt.Errorf("the time moved from %v to %v without an entry", full(old), full(r))
		}
		return nil
	}
	for i := 1; i < 16; i++ {
		if text := str(r, "l"+strconv.Itoa(i)); text != str(old, "l"+strconv.Itoa(i-1)) {
			return fmt.Errorf("l%d is %q", i, text)
		} else if text != "" && text[:27] == entry[:27] {
			return fmt.Errorf("%s stands twice", entry[:27])
		}
	}
	clock := float64(now.Sub(start)/time.Millisecond) + float64(clockOff/time.Millisecond)
	minutes := func(n int64) float64 { return float64(time.Duration(n)*interval) / float64(time.Millisecond) }
	after, before := full(r), full(old)
	if before > clock+float64(aheadMost/time.Millisecond) {
		before = math.Inf(-1)
	}
	weight, err := strconv.ParseInt(entry[27:], 10, 64)
	taken := entry[26] == '~'
	if !taken {
		weight--
	}
	switch moved := after - minutes(weight); {
	case err != nil:
		return err
	case taken && after > clock+minutes(mostAtOnce):
		return fmt.Errorf("the time is %v at %v", after, clock)
	case weight < 0 && moved != before, moved < before, weight > 0 && moved > max(before, clock):
		return fmt.Errorf("the time went from %v to %v with %s at %v", before, after, entry, clock)
	}
	return nil
}

// limitTold finds in the row what a caller was told.
func limitTold(c call, told string, now rows) error {
	mark := "~"
	if strings.HasPrefix(c.name, "Settle") {
		mark = "=" + c.name[len("SettleTo"):len("SettleTo")+1]
	}
	want := at(dawn, int(c.name[len(c.name)-1]-'0')).String() + mark
	for i := range 16 {
		if !taken(told) || strings.HasPrefix(str(now["LIMIT#acme limit"], "l"+strconv.Itoa(i)), want) {
			return nil
		}
	}
	return fmt.Errorf("%s was told %s, and the row does not have %s", c.name, told, want)
}

func TestLimit(t *testing.T) {
	s := &suite{
		table: rates(nobody).Table(), differs: []string{"ttl", "t_rpm"}, serial: true, still: true, leaps: true,
		step: limitStep, told: limitTold, moments: []time.Duration{interval, 2 * interval},
		starts: []starting{
			{name: "absent"},
			{name: "taken", seeds: []seed{ago(time.Second, passes(1))}},
			{name: "full", seeds: []seed{ago(time.Second, passes(1)), ago(time.Second, passes(8))}},
			{name: "settled", seeds: []seed{ago(time.Second, passes(1)), ago(time.Second, settles(1, 3))}},
			{name: "at rest", seeds: []seed{ago(time.Hour, passes(1))}},
			{name: "ahead", rows: []row{{"pk": text("LIMIT#acme"), "sk": text("limit"), "t_rpm": number(start.Add(time.Hour).UnixMilli())}}},
		},
		calls: [][]call{
			{passes(2), passes(3)},
			{passes(2), passes(2).again()},
			{passes(2), settles(1, 0)},
			{passes(1), settles(1, 0)},
			{settles(1, 0), settles(1, 3)},
			{settles(1, 3), settles(1, 3).again()},
			{passes(2), passes(3), passes(4)},
			{passes(1), passes(2), settles(1, 0)},
		},
	}
	s.prove(t)
}
