// Command emulation knows what dynamotest emulates and what it does not. It
// writes the page that says so, from the results of a public conformance suite,
// from the list of operations the engine has and from page.md; and it compares a
// run of the suite with the results expected.
//
//	go run ./dynamotest/tools/emulation                     # writes the page
//	go run ./dynamotest/tools/emulation -compare run.json   # fails where the run is worse
//	go run ./dynamotest/tools/emulation -update run.json    # expects what the run shows
//	go run ./dynamotest/tools/emulation -count run.json     # prints the run
//
// scripts/conformance makes the run. Called from the module's root.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

func main() {
	compare := flag.String("compare", "", "compare a `run` with the results expected")
	update := flag.String("update", "", "make the results of a `run` the expected ones")
	count := flag.String("count", "", "print the results of a `run`")
	flag.Parse()
	var err error
	switch {
	case *compare != "":
		err = compareRun(os.Stdout, *compare)
	case *update != "":
		err = updateResults(os.Stdout, *update)
	case *count != "":
		_, err = printRun(os.Stdout, *count)
	default:
		err = writePage()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "emulation:", err)
		os.Exit(1)
	}
}

// Paths from the module's root.
var (
	resultsFile = filepath.FromSlash("dynamotest/tools/emulation/results.txt")
	pageFile    = filepath.FromSlash("dynamotest/EMULATION.md")
)

func printRun(w io.Writer, file string) (results, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	run, err := parseRun(data)
	if err != nil {
		return nil, err
	}
	fmt.Fprint(w, run.table())
	for _, f := range run.failures() {
		fmt.Fprintf(w, "failed: %s\n", f)
	}
	return run, nil
}

func compareRun(w io.Writer, file string) error {
	run, err := printRun(w, file)
	if err != nil {
		return err
	}
	data, err := os.ReadFile(resultsFile)
	if err != nil {
		return err
	}
	expected, err := parseResults(string(data))
	if err != nil {
		return err
	}
	worse, better := expected.compare(run)
	for _, line := range better {
		fmt.Fprintln(w, "better:", line)
	}
	for _, line := range worse {
		fmt.Fprintln(w, "worse:", line)
	}
	if len(worse) > 0 {
		return fmt.Errorf("%d differences for the worse", len(worse))
	}
	if len(better) > 0 {
		return errors.New("better than expected: run scripts/conformance -update FOLDER")
	}
	return nil
}

func updateResults(w io.Writer, file string) error {
	run, err := printRun(w, file)
	if err != nil {
		return err
	}
	if err := os.WriteFile(resultsFile, []byte(run.String()), 0o644); err != nil {
		return err
	}
	return writePage()
}

func writePage() error {
	data, err := os.ReadFile(resultsFile)
	if err != nil {
		return err
	}
	text, err := page(string(data))
	if err != nil {
		return err
	}
	return os.WriteFile(pageFile, []byte(text), 0o644)
}
