package main

import (
	"fmt"
	"io"
	"maps"
	"path"
	"slices"
	"time"
)

// summary prints how many were killed in each package, and fails when not all
// were, naming those that were not.
func summary(w io.Writer, results []result, took time.Duration) error {
	type count struct {
		outcomes [3]int
		took     time.Duration
	}
	counts := map[string]*count{}
	total := count{took: took}
	for _, r := range results {
		dir := path.Dir(r.file)
		if counts[dir] == nil {
			counts[dir] = &count{}
		}
		for _, c := range []*count{counts[dir], &total} {
			c.outcomes[r.outcome]++
		}
		counts[dir].took += r.took
	}
	row := func(name string, c *count) {
		fmt.Fprintf(w, "%-32s %6d %8d %5d %7.1f\n", name, c.outcomes[killed], c.outcomes[survived], c.outcomes[invalid], c.took.Seconds())
	}
	fmt.Fprintf(w, "\n%-32s %6s %8s %5s %7s\n", "package", "killed", "SURVIVED", "ERROR", "seconds")
	for _, dir := range slices.Sorted(maps.Keys(counts)) {
		row(dir, counts[dir])
	}
	row("all", &total)
	if total.outcomes[killed] == len(results) {
		return nil
	}
	fmt.Fprintln(w)
	for _, r := range results {
		if r.outcome != killed {
			fmt.Fprintf(w, "%-8s %s: %s\n", r.outcome, r.mutant, r.by)
		}
	}
	return fmt.Errorf("%d survived, %d errors", total.outcomes[survived], total.outcomes[invalid])
}
