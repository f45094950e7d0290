package main

import (
	"cmp"
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync"
)

// A report has the results of a comparison.
type report struct {
	seed     uint64
	mu       sync.Mutex // guards the fields below
	requests int        // of the sequences
	looks    int        // at everything stored
	accepted int
	known    map[string]int
	unknown  []difference      // one of each kind
	alike    map[string]int    // the unknown ones by kind
	examples map[string][]byte // the shortest difference of each reason; nil to keep none
	refused  int
	texts    map[[2]string]int // of errors, where they differ
}

// add counts an answer and reports whether it shows either no difference or a
// known one.
func (rep *report) add(d difference) bool {
	rep.mu.Lock()
	defer rep.mu.Unlock()
	if d.step < 0 {
		rep.looks++
	} else {
		rep.requests++
		if d.ours.status == http.StatusOK {
			rep.accepted++
		}
	}

	if d.ours.equal(d.theirs) && !d.ours.ok() {
		rep.refused++
		if d.ours.message != d.theirs.message {
			rep.texts[[2]string{d.ours.message, d.theirs.message}]++
		}
	}

	reasons, known := explain(d)
	for _, name := range reasons {
		rep.known[name]++
		if rep.examples != nil && len(reasons) == 1 && d.request.raw == "" {
			rep.exemplify(name, d)
		}
	}

	return known
}

// first reports whether this is the first difference of its kind.
func (rep *report) first(d difference) bool {
	rep.mu.Lock()
	defer rep.mu.Unlock()
	rep.alike[d.like]++
	return rep.alike[d.like] == 1
}

// likeness returns what differences with the same cause have in common.
func (d difference) likeness() string {
	side := func(a answer) string { return fmt.Sprint(a.status, a.kind, a.message) }
	return d.request.op + side(d.ours) + side(d.theirs)
}

func (rep *report) unexplained(d difference) {
	rep.mu.Lock()
	defer rep.mu.Unlock()
	rep.unknown = append(rep.unknown, d)
}

// stale returns the known differences that were not seen and are not rare.
func (rep *report) stale() []string {
	var out []string
	for _, k := range known {
		if rep.known[k.name] == 0 && !k.rare {
			out = append(out, k.name)
		}
	}
	return out
}

func (rep *report) print(w io.Writer, shown int) {
	fmt.Fprintf(w, "seed %d: %d requests, %d of them accepted; %d looks at what is stored\n", rep.seed, rep.requests, rep.accepted, rep.looks)
	for _, k := range known {
		fmt.Fprintf(w, "%d × known: %s. %s\n", rep.known[k.name], k.name, k.reason)
	}

	n := 0
	for _, alike := range rep.alike {
		n += alike
	}

	fmt.Fprintf(w, "%d unexplained differences of %d kinds\n", n, len(rep.unknown))
	slices.SortStableFunc(rep.unknown, func(a, b difference) int { return cmp.Compare(rep.alike[b.like], rep.alike[a.like]) })
	for _, d := range rep.unknown[:min(shown, len(rep.unknown))] {
		fmt.Fprintf(w, "\n%d × -seed %d -sequence %d, request %d, after\n", rep.alike[d.like], rep.seed, d.sequence, d.step)
		for _, before := range d.history {
			fmt.Fprintf(w, "    %s\n", before)
		}
		fmt.Fprintf(w, "  %s\n  dynamotest: %s\n  other:      %s\n", d.request, d.ours, d.theirs)
	}
}

// printTexts shows the texts of errors that differ most often.
func (rep *report) printTexts(w io.Writer, shown int) {
	if shown == 0 {
		return
	}

	var pairs [][2]string
	differ := 0
	for pair, n := range rep.texts {
		pairs = append(pairs, pair)
		differ += n
	}

	slices.SortFunc(pairs, func(a, b [2]string) int { return cmp.Compare(rep.texts[b], rep.texts[a]) })
	fmt.Fprintf(w, "\nof %d errors of one type, %d have another text\n", rep.refused, differ)
	for _, pair := range pairs[:min(shown, len(pairs))] {
		fmt.Fprintf(w, "%d ×\n  dynamotest: %s\n  other:      %s\n", rep.texts[pair], short(pair[0]), short(pair[1]))
	}
}
