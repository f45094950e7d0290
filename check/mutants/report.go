package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"time"
)

// resumed opens the file of -resume and divides the mutants into those that it
// says were killed or hung, and the rest.
func resumed(file string, list []mutant) (*os.File, []result, []mutant, error) {
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return nil, nil, nil, err
	}
	log, err := os.OpenFile(file, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, nil, nil, err
	}
	done := map[mutant]result{}
	for d := json.NewDecoder(log); ; {
		var res result
		if err := d.Decode(&res); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, nil, nil, errors.Join(fmt.Errorf("%s: %w", file, err), log.Close())
		}
		if res.Outcome == killed || res.Outcome == hangs {
			done[res.Mutant] = res
		}
	}
	var old []result
	var rest []mutant
	for _, m := range list {
		key := m
		key.at = ""
		if res, ok := done[key]; ok {
			old = append(old, res)
		} else {
			rest = append(rest, m)
		}
	}
	return log, old, rest, nil
}

// summary prints how many were killed in each package and names those that were
// not. It fails if one survived or did not run.
func summary(w io.Writer, results []result, took time.Duration) error {
	type count struct {
		outcomes map[outcome]int
		seconds  float64
	}
	counts := map[string]*count{}
	total := count{outcomes: map[outcome]int{}, seconds: took.Seconds()}
	for _, r := range results {
		dir := path.Dir(r.Mutant.File)
		if counts[dir] == nil {
			counts[dir] = &count{outcomes: map[outcome]int{}}
		}
		counts[dir].outcomes[r.Outcome]++
		counts[dir].seconds += r.Seconds
		total.outcomes[r.Outcome]++
	}
	row := func(name string, c *count) {
		fmt.Fprintf(w, "%-32s %6d %5d %8d %5d %7.1f\n", name, c.outcomes[killed], c.outcomes[hangs], c.outcomes[survived], c.outcomes[invalid], c.seconds)
	}
	fmt.Fprintf(w, "\n%-32s %6s %5s %8s %5s %7s\n", "package", killed, hangs, survived, invalid, "seconds")
	for _, dir := range slices.Sorted(maps.Keys(counts)) {
		row(dir, counts[dir])
	}
	row("all", &total)
	for _, how := range []outcome{hangs, survived, invalid} {
		for _, r := range results {
			if r.Outcome == how {
				fmt.Fprintf(w, "%-8s %s: %s\n", how, r.Mutant, r.By)
			}
		}
	}
	if total.outcomes[survived]+total.outcomes[invalid] == 0 {
		return nil
	}
	return fmt.Errorf("%d survived, %d errors, %d hang", total.outcomes[survived], total.outcomes[invalid], total.outcomes[hangs])
}
