// Command differential sends the same random requests to dynamotest and to
// another DynamoDB, such as DynamoDB Local, and reports every difference:
//
//	scripts/differential            # 100,000 requests against DynamoDB Local
//	go run ./dynamotest/internal/differential -endpoint http://127.0.0.1:8000 -n 5000 -seed 7
//
// Compared are status, the error's type, the reply and, every now and then, all
// that is stored. Texts of errors are not: they differ from one version of
// DynamoDB to the next. What differs for a reason stands in known.go.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"slices"
	"sync"

	"github.com/homeops/ddbpatterns/dynamotest"
)

func main() {
	endpoint := flag.String("endpoint", "http://127.0.0.1:8000", "the other DynamoDB")
	n := flag.Int("n", 100_000, "how many requests")
	seed := flag.Uint64("seed", 1, "the same seed sends the same requests")
	shown := flag.Int("show", 20, "how many differences to print")
	flag.Parse()
	theirs := remote(*endpoint, http.DefaultClient)
	rep, err := compare(context.Background(), inProcess(), theirs, *n, *seed)
	if err != nil {
		fmt.Fprintln(os.Stderr, "differential:", err)
		os.Exit(1)
	}
	rep.print(os.Stdout, *shown)
	if len(rep.unknown) > 0 {
		os.Exit(1)
	}
}

// inProcess is a dynamotest of its own.
func inProcess() backend {
	client := &http.Client{Transport: dynamotest.NewServer(nil).Transport()}
	return remote("http://dynamotest.invalid", client)
}

// lanes are how many runs go on side by side, each in tables of its own.
const lanes = 4

// A report is what a run has found.
type report struct {
	mu       sync.Mutex // guards what follows
	requests int
	accepted int
	known    map[string]int
	unknown  []difference
}

type difference struct {
	request      request
	ours, theirs answer
}

// compare sends n requests to both. The error is one of the connection.
func compare(ctx context.Context, ours, theirs backend, n int, seed uint64) (*report, error) {
	rep := &report{known: map[string]int{}}
	errs := make([]error, lanes)
	var wg sync.WaitGroup
	for lane := range lanes {
		wg.Go(func() {
			r := &run{
				gen:  gen{Rand: rand.New(rand.NewPCG(seed, uint64(lane))), prefix: fmt.Sprintf("d%d-%d-", seed, lane)},
				ours: ours, theirs: theirs, report: rep,
			}
			errs[lane] = r.run(ctx, (n+lanes-1)/lanes)
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

// A run is one sequence of requests.
type run struct {
	gen
	ours, theirs backend
	report       *report
}

// between is how many requests lie between two looks at all that is stored.
const between = 250

func (r *run) run(ctx context.Context, n int) error {
	if err := r.reset(ctx); err != nil {
		return err
	}
	for i := range n {
		same, err := r.step(ctx, r.request())
		if err != nil {
			return err
		}
		if i%between == between-1 && same {
			for _, scan := range r.scans() {
				all, err := r.step(ctx, scan)
				if err != nil {
					return err
				}
				same = same && all
			}
		}
		if !same { // one difference shall not cause others
			if err := r.reset(ctx); err != nil {
				return err
			}
		}
	}
	return r.drop(ctx)
}

// step sends a request to both and reports whether they agree.
func (r *run) step(ctx context.Context, req request) (bool, error) {
	ours, err := r.ours.ask(ctx, req)
	if err != nil {
		return false, err
	}
	theirs, err := r.theirs.ask(ctx, req)
	if err != nil {
		return false, err
	}
	return r.report.add(difference{req, ours, theirs}), nil
}

func (rep *report) add(d difference) (same bool) {
	rep.mu.Lock()
	defer rep.mu.Unlock()
	rep.requests++
	if d.ours.status == http.StatusOK {
		rep.accepted++
	}
	if d.ours.equal(d.theirs) {
		return true
	}
	for _, k := range known {
		if k.explains(d) {
			rep.known[k.name]++
			return false
		}
	}
	rep.unknown = append(rep.unknown, d)
	return false
}

func (rep *report) print(w io.Writer, shown int) {
	fmt.Fprintf(w, "%d requests, %d of them accepted\n", rep.requests, rep.accepted)
	for _, k := range known {
		fmt.Fprintf(w, "%d × known: %s. %s\n", rep.known[k.name], k.name, k.reason)
	}
	fmt.Fprintf(w, "%d unexplained differences\n", len(rep.unknown))
	for _, d := range slices.Clip(rep.unknown)[:min(shown, len(rep.unknown))] {
		fmt.Fprintf(w, "\n%s\n  dynamotest: %s\n  other:      %s\n", d.request, d.ours, d.theirs)
	}
}

// reset makes the tables anew in both.
func (r *run) reset(ctx context.Context) error {
	if err := r.drop(ctx); err != nil {
		return err
	}
	for _, req := range r.tables() {
		for _, b := range []backend{r.ours, r.theirs} {
			if a, err := b.ask(ctx, req); err != nil || a.status != http.StatusOK {
				return fmt.Errorf("%s: %s %w", req, a, err)
			}
		}
	}
	return nil
}

func (r *run) drop(ctx context.Context) error {
	for _, name := range tableNames {
		for _, b := range []backend{r.ours, r.theirs} {
			// There is none the first time, and that is all that can go wrong.
			if _, err := b.ask(ctx, request{op: "DeleteTable", body: object{"TableName": r.prefix + name}}); err != nil {
				return err
			}
		}
	}
	return nil
}
