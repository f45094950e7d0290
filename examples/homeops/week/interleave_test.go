package week_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/homeops/ddbpatterns/activity"
	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/examples/homeops/week"
	"github.com/homeops/ddbpatterns/internal/golden"
	"github.com/homeops/ddbpatterns/internal/recordtest"
)

// turns lets processes send one request at a time, in a given order.
type turns struct {
	processes []*process
	alike     bool // the first two do the same, so only orders in which the first one begins are tried
}

// process sends a request when it is its turn.
type process struct {
	asks     chan bool // true before each request, false at the end
	go_      chan struct{}
	lose     int // the write whose reply is lost, from 1; it is sent again
	writes   int
	sent     int
	atEnd    bool
	began    int // the turn of its first request
	err      error
	readback []week.Summary
}

func (t *turns) start(p *process, do func(*process) error) {
	p.asks, p.go_, p.began = make(chan bool), make(chan struct{}), -1
	t.processes = append(t.processes, p)
	go func() {
		p.err = do(p)
		p.asks <- false
	}()
	p.atEnd = !<-p.asks
}

// run gives turns until all have ended. Choose picks one of n.
func (t *turns) run(choose func(n int) int) {
	for turn := 0; ; turn++ {
		var waiting []*process
		for i, p := range t.processes {
			if !p.atEnd && (i != 1 || !t.alike || t.processes[0].sent > 0) {
				waiting = append(waiting, p)
			}
		}
		if len(waiting) == 0 {
			return
		}
		p := waiting[choose(len(waiting))]
		if p.sent++; p.sent == 1 {
			p.began = turn
		}
		p.go_ <- struct{}{}
		p.atEnd = !<-p.asks
	}
}

func (p *process) turn() {
	p.asks <- true
	<-p.go_
}

// client returns a client that waits for the process's turns.
func (p *process) client(db *dynamotest.DB) *dynamodb.Client {
	return recordtest.Between(db.Client(), func(in any, send recordtest.Send) (any, error) {
		p.turn()
		out, err := send(in)
		if _, ok := in.(*dynamodb.UpdateItemInput); ok {
			if p.writes++; p.writes == p.lose {
				p.turn()
				return send(in)
			}
		}
		return out, err
	})
}

// every calls run with every possible sequence of choices, and returns their
// number.
func every(run func(choose func(n int) int)) (runs int) {
	type choice struct{ made, of int }
	var path []choice
	for {
		step := 0
		run(func(n int) int {
			if step == len(path) {
				path = append(path, choice{0, n})
			}
			step++
			return path[step-1].made
		})
		runs++
		for len(path) > 0 && path[len(path)-1].made+1 == path[len(path)-1].of {
			path = path[:len(path)-1]
		}
		if len(path) == 0 {
			return runs
		}
		path[len(path)-1].made++
	}
}

// some calls run with n random sequences of choices.
func some(n int) func(run func(choose func(n int) int)) int {
	return func(run func(choose func(n int) int)) int {
		for seed := range n {
			run(rand.New(rand.NewPCG(uint64(seed), 3)).IntN)
		}
		return n
	}
}

// Two recomputers and a writer that records and takes back, in every order of their
// requests if a row exists, and in some of the orders otherwise. If one of the two
// began after the writer had ended, the row is the sum of the activities, whatever
// the other one is about to write.
func TestEveryInterleaving(t *testing.T) {
	t.Parallel()
	for _, stood := range []string{"nothing", "a row", "an older system's row"} {
		for lose := range 3 { // the write of the first whose reply is lost
			t.Run(fmt.Sprintf("%s, reply %d is lost", stood, lose), func(t *testing.T) {
				t.Parallel()
				orders := some(40)
				if lose == 0 && stood == "a row" {
					orders = every
				}
				synctest.Test(t, func(t *testing.T) { interleave(t, stood, lose, orders) })
			})
		}
	}
}

func interleave(t *testing.T, stood string, lose int, orders func(func(choose func(n int) int)) int) {
	f := on(t, dynamotest.New(t, nil))
	first, second := did(t, wednesday, 1, "99", "diskning", 1), did(t, wednesday, 2, "99", "tvätt", 2)
	f.record(t, first)
	switch stood {
	case "a row":
		f.recompute(t, wednesday, "99")
	case "an older system's row":
		golden.Put(t, f.db.Client(), f.Table().Name, "testdata/older-summary.json")
	}
	seeded := f.db.Server().Snapshot()
	judged := 0
	runs := orders(func(choose func(n int) int) {
		if t.Failed() {
			return
		}
		f.db.Server().Restore(seeded)
		turn := &turns{alike: lose == 0}
		recompute := func(p *process) (err error) {
			p.readback, err = through(t, f.db, p.client(f.db)).Recompute(t.Context(), week.Recompute{Household: home, Members: []string{"99"}, Of: wednesday})
			return err
		}
		a, b, writer := &process{lose: lose}, &process{}, &process{}
		turn.start(a, recompute)
		turn.start(b, recompute)
		ended := 0
		turn.start(writer, func(p *process) error {
			acts := through(t, f.db, p.client(f.db)).acts
			_, err := acts.Record(t.Context(), second)
			_, taken := acts.Retract(t.Context(), activity.Retract{Scope: home, Event: second.Event})
			return errors.Join(err, taken)
		})
		step := 0
		turn.run(func(n int) int {
			if !writer.atEnd {
				ended = step
			}
			step++
			return choose(n)
		})
		if err := errors.Join(a.err, b.err, writer.err); err != nil {
			t.Error(err)
		}
		want := model(t, []activity.Activity{first}, wednesday, "99")
		got := []week.Summary{f.summary(t, "99", want.Period)}
		for _, p := range []*process{a, b} {
			if p.began > ended {
				judged++
				wantWeek(t, aWeeks{Period: want.Period, Summaries: got}, want)
				wantWeek(t, aWeeks{Period: want.Period, Summaries: p.readback}, want)
			}
		}
	})
	if judged < 5 {
		t.Errorf("judged only %d times in %d", judged, runs)
	}
}
