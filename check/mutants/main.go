// Command mutants breaks the library on purpose, one line at a time, and checks
// that a test notices:
//
//	scripts/mutants                  # the whole list
//	scripts/mutants -run '^ledger/'  # those of a package
//	scripts/mutants -run 'the fence' # those with these words in their name
//	scripts/mutants -part 1/6        # every sixth, from the first on; CI runs such a part
//	scripts/mutants -list            # names them only
//
// The list is check/mutants.txt, whose head describes an entry. A mutant is
// killed when the tests of its file's own package fail, hang or crash. The
// command fails when a mutant survives, and when the list is wrong: a text that
// is not in its file exactly once, or a mutant that does not compile, does not
// count as killed. The texts of the whole list are checked even if only a part
// of it runs.
//
// Nothing is written to the tree: the compiler reads the changed file from
// elsewhere (go test -overlay).
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"regexp"
	"time"
)

// options are what the flags say.
type options struct {
	root, file string
	run        *regexp.Regexp
	part       part
	list       bool
	jobs       int
	timeout    time.Duration
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	o, err := parseFlags(os.Args[1:])
	if err == nil {
		err = command(ctx, os.Stdout, o)
	}
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(1)
	}
}

func parseFlags(args []string) (options, error) {
	o := options{root: ".."}
	set := flag.NewFlagSet("mutants", flag.ExitOnError)
	set.StringVar(&o.file, "file", "mutants.txt", "the `list`")
	set.BoolVar(&o.list, "list", false, "name the mutants and run none")
	set.IntVar(&o.jobs, "j", 2, "how many run at once")
	set.DurationVar(&o.timeout, "timeout", 90*time.Second, "tests that take longer hang, which is a kill")
	run := set.String("run", "", "only the mutants whose file or name matches this `regexp`")
	share := set.String("part", "1/1", "`K/N`: of those, every N-th from the K-th on")
	if err := set.Parse(args); err != nil {
		return o, err
	}
	if set.NArg() > 0 {
		return o, fmt.Errorf("unexpected argument %q", set.Arg(0))
	}
	if o.jobs < 1 {
		return o, fmt.Errorf("-j %d: at least one must run", o.jobs)
	}
	var err error
	if o.run, err = regexp.Compile(*run); err != nil {
		return o, err
	}
	o.part, err = parsePart(*share)
	return o, err
}

// command does what the options say. It fails unless every chosen mutant is
// killed.
func command(ctx context.Context, w io.Writer, o options) error {
	text, err := os.ReadFile(o.file)
	if err != nil {
		return err
	}
	all, err := parse(string(text))
	if err != nil {
		return fmt.Errorf("%s: %w", o.file, err)
	}
	if err := fits(o.root, all); err != nil {
		return fmt.Errorf("%s: %w", o.file, err)
	}
	chosen := o.part.of(matching(all, o.run))
	if len(chosen) == 0 {
		return fmt.Errorf("no mutant of %d is chosen", len(all))
	}
	if o.list {
		for _, m := range chosen {
			fmt.Fprintln(w, m)
		}
		fmt.Fprintf(w, "%d of %d mutants\n", len(chosen), len(all))
		return nil
	}
	began := time.Now()
	r := runner{root: o.root, jobs: o.jobs, timeout: o.timeout, out: w}
	if err := r.unmutated(ctx, chosen); err != nil {
		return err
	}
	fmt.Fprintf(w, "%d of %d mutants; unmutated, the tests pass (%.0f s)\n", len(chosen), len(all), time.Since(began).Seconds())
	results, err := r.all(ctx, chosen)
	if err != nil {
		return err
	}
	return summary(w, results, time.Since(began))
}
