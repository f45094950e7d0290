// Command mutants breaks the library on purpose, one line at a time, and checks
// that a test notices:
//
//	scripts/mutants                  # the whole list
//	scripts/mutants -run '^ledger/'  # those of a package
//	scripts/mutants -run 'the fence' # those with these words in their name
//	scripts/mutants -part 1/6        # every sixth, from the first on
//	scripts/mutants -list            # names them only
//
//	scripts/mutants -resume FILE     # keeps results there, and goes on from them
//
// Every file mutants.txt below the root is a list; the head of the largest
// describes an entry. A mutant is killed when the tests of its file's package, or
// of the package that the entry names, fail or crash. It hangs when they take
// three times as long as without it, and ten seconds at least. The command fails
// when a mutant survives, and when a list is wrong: a text that is not in its file
// exactly once, or a mutant that does not compile. Hanging is listed apart. The
// texts of all lists are checked even if only a part of them runs.
//
// Nothing is written to the tree: the compiler reads the changed file from
// elsewhere (go test -overlay). A package's tests are built and run in the module
// to which its folder belongs.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"time"
)

// options are what the flags say.
type options struct {
	root, resume string
	run          *regexp.Regexp
	part         part
	list         bool
	jobs         int
	timeout      time.Duration
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
	var o options
	set := flag.NewFlagSet("mutants", flag.ExitOnError)
	set.StringVar(&o.root, "root", "..", "the `folder` from which paths in the lists count")
	set.BoolVar(&o.list, "list", false, "name the mutants and run none")
	set.IntVar(&o.jobs, "j", 2, "how many run at once")
	set.DurationVar(&o.timeout, "timeout", 0, "tests that take longer hang (default three times the unmutated run)")
	set.StringVar(&o.resume, "resume", os.DevNull, "append results to this `file`, from the root; what it says was killed or hung does not run again")
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
	if o.root, err = filepath.Abs(o.root); err != nil {
		return o, err
	}
	if !filepath.IsAbs(o.resume) {
		o.resume = filepath.Join(o.root, o.resume)
	}
	if o.run, err = regexp.Compile(*run); err != nil {
		return o, err
	}
	o.part, err = parsePart(*share)
	return o, err
}

// command does what the options say. It fails if a chosen mutant survives.
func command(ctx context.Context, w io.Writer, o options) error {
	all, err := lists(o.root)
	if err != nil {
		return err
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
	log, old, rest, err := resumed(o.resume, chosen)
	if err != nil {
		return err
	}
	defer log.Close()
	r := runner{root: o.root, jobs: o.jobs, timeout: o.timeout, out: w, log: log, clean: map[string]clean{}}
	if err := r.unmutated(ctx, rest); err != nil {
		return err
	}
	fmt.Fprintf(w, "%d of %d mutants, %d of them resumed; unmutated, the tests pass (%.0f s)\n", len(chosen), len(all), len(old), time.Since(began).Seconds())
	results, err := r.all(ctx, rest)
	if err != nil {
		return err
	}
	return summary(w, append(old, results...), time.Since(began))
}
