package main

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// results are those of a run of the suite, by group, in the groups' order.
type results []group

// A group is a folder of the suite's tests, such as tier1/query.
type group struct {
	name   string
	passed int
	total  int
	failed []string // what failed or was skipped: the test, then its first line of trouble
}

// A run is what vitest reports in JSON, as far as we need it.
type run struct {
	TestResults []struct {
		Name             string
		AssertionResults []struct {
			FullName        string
			Status          string
			FailureMessages []string
		}
	}
}

var testPath = regexp.MustCompile(`/tests/(tier\d/[^/]+)/([^/]+)\.test\.ts$`)

func parseRun(data []byte) (results, error) {
	var r run
	if err := json.Unmarshal(data, &r); err != nil {
		return nil, fmt.Errorf("the run: %w", err)
	}
	byName := map[string]*group{}
	for _, file := range r.TestResults {
		m := testPath.FindStringSubmatch(file.Name)
		if m == nil {
			return nil, fmt.Errorf("the run has a test that is none of the suite's: %s", file.Name)
		}
		g := byName[m[1]]
		if g == nil {
			g = &group{name: m[1]}
			byName[m[1]] = g
		}
		for _, test := range file.AssertionResults {
			g.total++
			if test.Status == "passed" {
				g.passed++
				continue
			}
			why := test.Status
			if len(test.FailureMessages) > 0 {
				why, _, _ = strings.Cut(test.FailureMessages[0], "\n")
			}
			g.failed = append(g.failed, m[2]+": "+test.FullName+": "+why)
		}
	}
	if len(byName) == 0 {
		return nil, fmt.Errorf("the run has no tests")
	}
	var out results
	for _, g := range byName {
		slices.Sort(g.failed)
		out = append(out, *g)
	}
	slices.SortFunc(out, func(a, b group) int { return strings.Compare(a.name, b.name) })
	return out, nil
}

// String is the form in which results are kept: a line for each group, and one
// for each failure below its group's.
func (r results) String() string {
	var b strings.Builder
	b.WriteString("# The results expected of dynamotest: written by scripts/conformance -update.\n")
	for _, g := range r {
		fmt.Fprintf(&b, "%s %d/%d\n", g.name, g.passed, g.total)
		for _, f := range g.failed {
			fmt.Fprintf(&b, "\t%s\n", f)
		}
	}
	return b.String()
}

func parseResults(text string) (results, error) {
	var r results
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if strings.HasPrefix(line, "#") {
			continue
		}
		if f, ok := strings.CutPrefix(line, "\t"); ok && len(r) > 0 {
			g := &r[len(r)-1]
			g.failed = append(g.failed, f)
			continue
		}
		var g group
		if _, err := fmt.Sscanf(line, "%s %d/%d", &g.name, &g.passed, &g.total); err != nil {
			return nil, fmt.Errorf("results: %q: %w", line, err)
		}
		r = append(r, g)
	}
	return r, nil
}

// compare says in what a run is worse and in what it is better than expected.
// Another number of tests is worse: nothing may go missing.
func (r results) compare(run results) (worse, better []string) {
	found := map[string]group{}
	for _, g := range run {
		found[g.name] = g
	}
	for _, want := range r {
		got, ok := found[want.name]
		delete(found, want.name)
		line := fmt.Sprintf("%s: %d of %d, expected %d of %d", want.name, got.passed, got.total, want.passed, want.total)
		switch {
		case !ok:
			worse = append(worse, want.name+": missing")
		case got.total != want.total, got.passed < want.passed:
			worse = append(worse, line)
		case got.passed > want.passed:
			better = append(better, line)
		case !slices.Equal(testsOf(got.failed), testsOf(want.failed)):
			worse = append(worse, want.name+": other tests fail than those expected")
		}
	}
	for _, g := range run {
		if _, unknown := found[g.name]; unknown {
			worse = append(worse, g.name+": not expected; is this another version of the suite?")
		}
	}
	return worse, better
}

// testsOf cuts off why tests failed: the wording differs from run to run.
func testsOf(failed []string) []string {
	out := make([]string, len(failed))
	for i, f := range failed {
		parts := strings.SplitN(f, ": ", 3)
		out[i] = strings.Join(parts[:min(2, len(parts))], ": ")
	}
	return out
}

// failures lists what failed, in all groups.
func (r results) failures() []string {
	var out []string
	for _, g := range r {
		for _, f := range g.failed {
			out = append(out, g.name+"/"+f)
		}
	}
	return out
}

// table is the results as a table in Markdown, with a sum for each tier.
func (r results) table() string {
	var b strings.Builder
	b.WriteString("| tests | passed | of |\n|---|--:|--:|\n")
	var all group
	for rest := r; len(rest) > 0; {
		tier, _, _ := strings.Cut(rest[0].name, "/")
		sum := group{name: tier}
		for len(rest) > 0 && strings.HasPrefix(rest[0].name, tier+"/") {
			g := rest[0]
			fmt.Fprintf(&b, "| %s | %d | %d |\n", g.name, g.passed, g.total)
			sum.passed += g.passed
			sum.total += g.total
			rest = rest[1:]
		}
		fmt.Fprintf(&b, "| **%s** | **%d** | **%d** |\n", sum.name, sum.passed, sum.total)
		all.passed += sum.passed
		all.total += sum.total
	}
	fmt.Fprintf(&b, "| **all** | **%d** | **%d** |\n", all.passed, all.total)
	return b.String()
}
