// Command differential sends the same random requests to dynamotest and to
// DynamoDB Local, and reports every difference:
//
//	scripts/differential                       # 100,000 requests
//	scripts/differential -n 5000 -seed 7       # fewer, and others
//	scripts/differential -seed 7 -sequence 12  # one sequence of them
//	scripts/differential -texts 40             # with what errors say
//	scripts/differential -examples known.jsonl # with an example of each reason
//
// Requests come in sequences over three tables. Each sequence follows from the
// seed and its number alone. The command compares the status, the error's type,
// the items and codes that it shows, the reply and, every now and then,
// everything that is stored, with indexes. Differences with a reason are in
// known.go. A difference without one is shown with the shortest history that
// leads to it.
//
// Texts of errors are not compared, because on AWS they differ between months
// and regions; -texts lists their differences.
package main

import (
	"context"
	"flag"
	"fmt"
	"net/http"
	"os"

	"github.com/homeops/ddbpatterns/dynamotest"
)

func main() {
	endpoint := flag.String("endpoint", "http://127.0.0.1:8000", "DynamoDB Local")
	n := flag.Int("n", 100_000, "how many requests")
	seed := flag.Uint64("seed", 1, "the same seed sends the same requests")
	only := flag.Int("sequence", -1, "the one sequence to run")
	shown := flag.Int("show", 10, "how many differences to print")
	texts := flag.Int("texts", 0, "how many pairs of differing texts to print")
	examples := flag.String("examples", "", "a file to put an example of each known difference into")
	flag.Parse()
	first, last := uint64(0), uint64(*n+perSequence-1)/perSequence
	if *only >= 0 {
		first, last = uint64(*only), uint64(*only+1)
	}

	c := comparison{seed: *seed, examples: *examples != "", ours: inProcess, theirs: remote(*endpoint)}
	rep, err := c.run(context.Background(), first, last)
	if err != nil {
		fmt.Fprintln(os.Stderr, "differential:", err)
		os.Exit(2)
	}

	if *examples != "" {
		if err := rep.writeExamples(*examples); err != nil {
			fmt.Fprintln(os.Stderr, "differential:", err)
			os.Exit(2)
		}
	}

	rep.print(os.Stdout, *shown)
	rep.printTexts(os.Stdout, *texts)
	if len(rep.unknown) > 0 {
		os.Exit(1)
	}

	if stale := rep.stale(); rep.requests >= complete && len(stale) > 0 {
		fmt.Printf("known, but not seen any more: %q\n", stale)
		os.Exit(1)
	}
}

// complete is how many requests are enough to show every known difference that
// is not rare.
const complete = 100_000

// inProcess returns a new dynamotest for a caller.
func inProcess(caller string) backend {
	client := &http.Client{Transport: dynamotest.NewServer(nil).Transport()}
	return backend{url: "http://dynamotest.invalid", client: client, caller: caller}
}

func remote(url string) func(string) backend {
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: lanes}}
	return func(caller string) backend {
		return backend{url: url, client: client, caller: caller}
	}
}
