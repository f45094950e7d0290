// Command facts checks whether a DynamoDB endpoint gives the answers that AWS
// was seen to give, or gives according to its documents or to other test
// suites:
//
//	go run ./dynamotest/cmd/facts -endpoint http://127.0.0.1:8000
//	go run ./dynamotest/cmd/facts -endpoint http://127.0.0.1:8000 -run '^partiql' -quiet
//
// It prints each fact that does not hold, unless -quiet is set, and then how
// many facts hold in each group. The exit status is 0 if all facts hold, 1 if
// some do not hold, and 2 if the command could not ask the endpoint. The
// command's tables are named fact_… and are deleted at the end.
//
// Requests are signed with the access key ID "any" and the secret key "any",
// which emulators accept. The command does not use a real account.
package main

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/signal"
	"regexp"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"

	"github.com/homeops/ddbpatterns/dynamotest/internal/facts"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	status := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(status)
}

// run runs the command and returns its exit status.
func run(ctx context.Context, args []string, out, log io.Writer) int {
	flags := flag.NewFlagSet("facts", flag.ContinueOnError)
	flags.SetOutput(log)
	endpoint := flags.String("endpoint", "", "the `URL` to ask")
	pattern := flags.String("run", "", "ask only for facts whose group/id matches a `REGEXP`")
	quiet := flags.Bool("quiet", false, "print the numbers only")
	if err := flags.Parse(args); errors.Is(err, flag.ErrHelp) {
		return 0
	} else if err != nil {
		return 2
	}
	which, err := regexp.Compile(*pattern)
	if err == nil && (*endpoint == "" || flags.NArg() > 0) {
		err = errors.New("usage: facts -endpoint URL [-run REGEXP] [-quiet]")
	}
	var differ int
	if err == nil {
		details := out
		if *quiet {
			details = io.Discard
		}
		differ, err = ask(ctx, *endpoint, which, out, details)
	}
	switch {
	case err != nil:
		fmt.Fprintln(log, "facts:", err)
		return 2
	case differ > 0:
		return 1
	}
	return 0
}

// ask returns how many facts do not hold.
func ask(ctx context.Context, endpoint string, which *regexp.Regexp, out, details io.Writer) (int, error) {
	all, err := facts.All()
	if err != nil {
		return 0, err
	}
	runner, err := facts.NewRunner(facts.Over(http.DefaultTransport, endpoint, sign), strings.ToLower(rand.Text()[:8]))
	if err != nil {
		return 0, err
	}
	runner.Pause = 200 * time.Millisecond
	var counts facts.Counts
	for _, fact := range all {
		if !which.MatchString(fact.Group + "/" + fact.ID) {
			continue
		}
		differs, err := runner.Run(ctx, fact)
		if err != nil {
			fmt.Fprint(out, counts) // so far
			return 0, errors.Join(err, runner.Close(context.WithoutCancel(ctx)))
		}
		counts.Add(fact, differs == "")
		if differs != "" {
			fmt.Fprintf(details, "%s\n    %s\n", fact.ID, differs)
		}
	}
	fmt.Fprint(out, counts)
	return counts.Differ(), runner.Close(ctx)
}

var (
	signer      = v4.NewSigner()
	credentials = aws.Credentials{AccessKeyID: "any", SecretAccessKey: "any"}
)

func sign(r *http.Request, body []byte) error {
	sum := sha256.Sum256(body)
	return signer.SignHTTP(r.Context(), credentials, r, hex.EncodeToString(sum[:]), "dynamodb", "us-east-1", time.Now())
}
