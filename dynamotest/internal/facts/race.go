package facts

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// A Race is what came of a contest: in each round, racers begin at once.
type Race struct {
	Name      string
	Rounds    int
	Winners   map[int]int // how many rounds had so many winners
	Conflicts int64       // replies after which a request was sent again
	Unknown   int64       // replies that leave open whether the request took effect
	Wrong     []string    // what did not hold
	Refused   string      // why no further round began, such as a request that the endpoint does not know
}

// RaceHead is the head of the table that has a race in each line.
const RaceHead = "| race | rounds | rounds × winners | conflicts | unknown | violations |\n|---|--:|---|--:|--:|--:|"

func (r Race) String() string {
	var winners []string
	for _, n := range slices.Sorted(maps.Keys(r.Winners)) {
		winners = append(winners, fmt.Sprintf("%d × %d", r.Winners[n], n))
	}
	if r.Refused != "" {
		winners = append(winners, "refused")
	}
	return fmt.Sprintf("| %s | %d | %s | %d | %d | %d |", r.Name, r.Rounds, strings.Join(winners, ", "), r.Conflicts, r.Unknown, len(r.Wrong))
}

// Races runs every contest, until the endpoint refuses it. An error comes from the
// transport.
func (r *Runner) Races(ctx context.Context, rounds, racers int) (races []Race, err error) {
	if refused, err := r.make(ctx, "hash_s"); refused != "" || err != nil {
		return nil, errors.Join(errors.New(refused), err)
	}

	for n, c := range contests {
		race := Race{Name: c.name, Winners: map[int]int{}}
		for race.Rounds < rounds && race.Refused == "" && err == nil {
			race.Rounds++
			err = r.round(ctx, c, &race, fmt.Sprintf("%s-%d-%d", r.id, n, race.Rounds), racers)
		}
		races = append(races, race)
		if err != nil {
			return races, fmt.Errorf("%s: %w", c.name, err)
		}
	}
	return races, nil
}

// round lets racers begin at once with a key of their own.
func (r *Runner) round(ctx context.Context, c contest, race *Race, key string, racers int) error {
	judge := &racer{Runner: r, ctx: ctx, key: key, race: race, again: 3}
	for _, body := range c.before {
		if judge.send("PutItem", body); judge.open {
			racers = 0 // there is nothing to race for
		}
	}

	all := make([]*racer, racers)
	start := make(chan struct{})
	var running sync.WaitGroup

	for i := range all {
		all[i] = &racer{Runner: r, ctx: ctx, key: key, race: race, number: i}
		running.Go(func() {
			<-start
			c.run(all[i])
		})
	}

	close(start)
	running.Wait()

	won := 0
	for _, w := range all {
		if w.won {
			won++
		}
		judge.wrong, judge.refused = cmp.Or(judge.wrong, w.wrong), cmp.Or(judge.refused, w.refused)
		judge.err = errors.Join(judge.err, w.err)
	}

	race.Winners[won]++
	if judge.wrong == "" && judge.err == nil {
		// Without an answer to the judge, what it found proves nothing.
		if why := c.check(judge, all); !judge.open {
			judge.wrong = why
		}
	}

	if race.Refused = judge.refused; judge.open {
		race.Refused = cmp.Or(judge.refused, "the judge gets no answer")
	}

	if judge.wrong != "" {
		race.Wrong = append(race.Wrong, fmt.Sprintf("round %d: %s", race.Rounds, judge.wrong))
	}
	return judge.err
}

// A racer sends requests of one round. So does the judge, before and after them.
type racer struct {
	*Runner
	ctx    context.Context
	key    string
	race   *Race
	number int
	again  int // how often the judge may send again after an error of the endpoint

	won     bool
	open    bool   // an answer is missing, or is an error that does not say who has won
	told    int    // a number
	wrong   string // what it saw
	refused string // an answer
	err     error  // of the transport
}

// send sends a request until its answer is not a conflict. In the body $T is the
// table, $K the key of the round, $I the racer.
func (w *racer) send(op, body string) answer {
	body = strings.NewReplacer("$T", w.table("hash_s"), "$K", w.key, "$I", strconv.Itoa(w.number)).Replace(body)
	for try := range 100 {
		status, reply, err := w.Runner.send(w.ctx, op, []byte(body))
		if err != nil {
			w.open, w.err = true, err
			return answer{}
		}

		a := newAnswer(status, reply)
		switch {
		case a.has(conflict) && !a.has(lost):
			atomic.AddInt64(&w.race.Conflicts, 1)
			time.Sleep(time.Duration(try) * time.Millisecond)
			continue
		case status >= 500:
			atomic.AddInt64(&w.race.Unknown, 1)
			if w.again--; w.again >= 0 {
				time.Sleep(w.Pause)
				continue
			}
			w.open = true
		case status != 200 && !a.has(lost):
			w.open, w.refused = true, fmt.Sprintf("%s is refused: %d %s %s", op, status, a.kind, a.message)
		}

		return a
	}

	w.open, w.wrong = true, op+" conflicts without end"
	return answer{}
}

// Codes of errors, and of the reasons of a cancellation.
var (
	lost     = []string{"ConditionalCheckFailedException", "ConditionalCheckFailed", "DuplicateItemException", "DuplicateItem"}
	conflict = []string{
		"TransactionConflictException", "TransactionConflict", "TransactionInProgressException",
		"ProvisionedThroughputExceededException", "ThrottlingException", "ThrottlingError", "RequestLimitExceeded",
	}
)

// has reports whether the answer has one of the codes.
func (a answer) has(codes []string) bool {
	reasons, _ := at(a.body, "CancellationReasons")
	all, _ := reasons.([]any)
	return slices.Contains(codes, a.kind) || slices.ContainsFunc(all, func(reason any) bool {
		code, _ := at(reason, "Code")
		return slices.Contains(codes, fmt.Sprint(code))
	})
}

// integer returns a number of the answer; -1 without one.
func (a answer) integer(path string) int {
	value, _ := at(a.body, path)
	n, err := strconv.Atoi(fmt.Sprint(value))
	if err != nil {
		return -1
	}
	return n
}
