package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
)

// perSequence is how many requests a sequence has.
const perSequence = 250

// between is how many requests are sent between two looks at everything that is
// stored.
const between = 50

// lanes is how many sequences run concurrently, each as a caller of its own.
const lanes = 4

// A comparison sends sequences of requests to two servers.
type comparison struct {
	seed         uint64
	examples     bool // whether to keep examples
	ours, theirs func(caller string) backend
}

type difference struct {
	sequence     uint64
	step         int // in the sequence; -1 for a look at everything stored
	history      []request
	request      request
	asked        object // the request's body, as JSON has it
	like         string // what it has in common with others of one cause
	ours, theirs answer
}

// run sends the sequences from first to last, without last. Its error is an
// error of the connection.
func (c comparison) run(ctx context.Context, first, last uint64) (*report, error) {
	rep := &report{seed: c.seed, known: map[string]int{}, alike: map[string]int{}, texts: map[[2]string]int{}}
	if c.examples {
		rep.examples = map[string][]byte{}
	}

	next := atomic.Uint64{}
	next.Store(first)
	errs := make([]error, lanes)
	var wg sync.WaitGroup

	for lane := range lanes {
		wg.Go(func() {
			caller := fmt.Sprintf("lane%d", lane)
			r := &run{ours: c.ours(caller), theirs: c.theirs(caller), report: rep}
			for number := next.Add(1) - 1; number < last && errs[lane] == nil; number = next.Add(1) - 1 {
				errs[lane] = r.sequence(ctx, number, sequence(c.seed, number))
			}
		})
	}

	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}

	return rep, nil
}

// A run is the work of one lane.
type run struct {
	ours, theirs backend
	report       *report
	history      []request // since the tables were created
}

func (r *run) sequence(ctx context.Context, number uint64, requests []request) error {
	if err := r.reset(ctx); err != nil {
		return err
	}

	for i, req := range requests {
		outcome, err := r.step(ctx, number, i, req)
		if err != nil {
			return err
		}

		if outcome == same && (i+1)%between == 0 {
			outcome, err = r.look(ctx, number)
			if err != nil {
				return err
			}
		}

		if outcome == apart { // or one difference causes others
			if err := r.reset(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

// look compares everything that is stored.
func (r *run) look(ctx context.Context, number uint64) (outcome, error) {
	for _, scan := range scans() {
		if o, err := r.step(ctx, number, -1, scan); err != nil || o == apart {
			return o, err
		}
	}
	return same, nil
}

// An outcome says whether the two servers have the same state after a request,
// as far as that is known.
type outcome int

const (
	same outcome = iota
	apart
)

// leaves returns the state of the servers after a difference. A failed request
// may have taken effect. DynamoDB Local also performs some requests before it
// refuses them: batches of statements on one item, and requests that ask for an
// unknown kind of units. It passes over AttributeUpdates without an action.
func (d difference) leaves() outcome {
	switch {
	case d.ours.ok() != d.theirs.ok(), d.lacksAction(), d.theirs.status >= http.StatusInternalServerError,
		d.op("BatchExecuteStatement") && d.theirs.says("contains duplicates"), d.theirs.says("Cannot have null key for GetItem"),
		d.op("BatchExecuteStatement", "UpdateTable") && !d.ours.repliesAs(d.theirs):
		return apart
	}
	return same
}

// step sends a request to both and compares.
func (r *run) step(ctx context.Context, number uint64, i int, req request) (outcome, error) {
	ours, theirs, err := r.both(ctx, req)
	if err != nil {
		return same, err
	}

	d := difference{sequence: number, step: i, request: req, ours: ours, theirs: theirs}
	d.like = d.likeness()
	r.history = append(r.history, req)
	if r.report.add(d) {
		return d.leaves(), nil
	}

	if r.report.first(d) {
		if err := r.shrink(ctx, &d); err != nil {
			return same, err
		}
		r.report.unexplained(d)
	}
	return apart, nil
}

// both sends a request to both, and repairs the state that it leaves.
func (r *run) both(ctx context.Context, req request) (ours, theirs answer, err error) {
	ours, theirs, err = r.answers(ctx, req)
	if err == nil {
		err = r.mend(ctx, req)
	}
	return
}

func (r *run) answers(ctx context.Context, req request) (ours, theirs answer, err error) {
	if ours, err = r.ours.ask(ctx, req); err != nil {
		return
	}
	theirs, err = r.theirs.ask(ctx, req)
	return
}

// shrink looks for a shorter history that leads to a difference without a reason.
func (r *run) shrink(ctx context.Context, d *difference) error {
	d.history = slices.Clone(r.history[:len(r.history)-1])
	for size := len(d.history); size > 0; size /= 2 {
		for at := 0; at < len(d.history); {
			fewer := slices.Concat(d.history[:at], d.history[min(at+size, len(d.history)):])
			differs, err := r.replay(ctx, fewer, d)
			if err != nil {
				return err
			}
			if !differs {
				at += size
			}
		}
	}

	return nil
}

// replay sends a request after another history, and keeps history and answers
// if they make a difference without a reason, too.
func (r *run) replay(ctx context.Context, history []request, d *difference) (bool, error) {
	if err := r.reset(ctx); err != nil {
		return false, err
	}

	for _, req := range history {
		ours, theirs, err := r.both(ctx, req)
		if err != nil || (difference{request: req, ours: ours, theirs: theirs}).leaves() == apart { // another cause
			return false, err
		}
	}

	ours, theirs, err := r.both(ctx, d.request)
	if err != nil {
		return false, err
	}

	again := *d
	again.history, again.ours, again.theirs = history, ours, theirs
	if _, known := explain(again); known {
		return false, nil
	}

	*d = again
	return true, nil
}

// reset creates new tables in both.
func (r *run) reset(ctx context.Context) error {
	r.history = r.history[:0]
	// Tokens must be new, because a server remembers them for ten minutes.
	nonce := fmt.Sprint("-", rand.Uint32())
	for _, b := range []*backend{&r.ours, &r.theirs} {
		b.nonce = nonce
		if err := b.empty(ctx); err != nil {
			return err
		}
		for _, t := range tables {
			if a, err := b.ask(ctx, t.create()); err != nil || a.status != http.StatusOK {
				return fmt.Errorf("CreateTable %s: answer %s, error %v", t.name, a, err)
			}
		}
	}

	return nil
}

// empty deletes all of the caller's tables.
func (b backend) empty(ctx context.Context) error {
	a, err := b.ask(ctx, request{op: "ListTables", body: object{}})
	if err != nil {
		return err
	}

	names, _ := a.body["TableNames"].([]any)
	for _, name := range names {
		table := object{"TableName": name}
		a, err := b.ask(ctx, request{op: "DeleteTable", body: table})
		if err == nil && a.kind == validation { // it is protected
			_, err = b.ask(ctx, request{op: "UpdateTable", body: object{"TableName": name, "DeletionProtectionEnabled": false}})
			if err == nil {
				a, err = b.ask(ctx, request{op: "DeleteTable", body: table})
			}
		}
		if err != nil || a.status != http.StatusOK {
			return fmt.Errorf("DeleteTable %s: answer %s, error %v", name, a, err)
		}
	}

	return nil
}
