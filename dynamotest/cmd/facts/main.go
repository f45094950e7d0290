// Command facts checks whether a DynamoDB endpoint gives the answers that AWS
// was seen to give, or gives according to its documents or to other test
// suites:
//
//	go run ./dynamotest/cmd/facts -endpoint http://127.0.0.1:8000
//	go run ./dynamotest/cmd/facts -endpoint http://127.0.0.1:8000 -run '^partiql' -quiet
//	go run ./dynamotest/cmd/facts -endpoint http://127.0.0.1:8000 -races 100
//
// It prints each fact that does not hold, unless -quiet is set, and then how
// many facts hold in each group.
//
// With -races it lets callers race instead, in that many rounds of each kind: in a
// round all of them begin at once, and at most one may create an item, change its
// version or delete it; no addition may be lost; a transaction is seen whole or not
// at all, and takes effect once with one token. It prints a table, and under it what
// did not hold.
//
// The exit status is 0 if everything holds, 1 if something does not hold, and 2 if
// the command could not ask the endpoint. The command's tables are named fact_… and
// are deleted at the end.
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
	"slices"
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
	rounds := flags.Int("races", 0, "let callers race, in so many `ROUNDS` of each kind")
	racers := flags.Int("racers", 16, "how many callers race")
	if err := flags.Parse(args); errors.Is(err, flag.ErrHelp) {
		return 0
	} else if err != nil {
		return 2
	}

	which, err := regexp.Compile(*pattern)
	if err == nil && (*endpoint == "" || flags.NArg() > 0) {
		err = errors.New("usage: facts -endpoint URL [-run REGEXP] [-races ROUNDS] [-racers N] [-quiet]")
	}

	if err == nil && *racers < 1 {
		err = errors.New("-racers must be at least 1")
	}

	var differ int
	if err == nil {
		details := out
		if *quiet {
			details = io.Discard
		}
		c := command{out, details, http.DefaultTransport.(*http.Transport).Clone()}
		c.transport.MaxIdleConnsPerHost = *racers
		defer c.transport.CloseIdleConnections()
		differ, err = c.with(ctx, *endpoint, func(runner *facts.Runner) (int, error) {
			if *rounds > 0 {
				return c.race(ctx, runner, *rounds, *racers)
			}
			return c.ask(ctx, runner, which)
		})
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

// A command prints numbers and details.
type command struct {
	out, details io.Writer
	transport    *http.Transport
}

// with makes a runner, and deletes its tables at the end.
func (c command) with(ctx context.Context, endpoint string, do func(*facts.Runner) (int, error)) (int, error) {
	runner, err := facts.NewRunner(facts.Over(c.transport, endpoint, sign), strings.ToLower(rand.Text()[:8]))
	if err != nil {
		return 0, err
	}
	runner.Pause = 200 * time.Millisecond
	differ, err := do(runner)
	return differ, errors.Join(err, runner.Close(context.WithoutCancel(ctx)))
}

// ask returns how many facts do not hold.
func (c command) ask(ctx context.Context, runner *facts.Runner, which *regexp.Regexp) (int, error) {
	all, err := facts.All()
	var counts facts.Counts
	for _, fact := range all {
		if err != nil || !which.MatchString(fact.Group+"/"+fact.ID) {
			continue
		}
		var differs string
		if differs, err = runner.Run(ctx, fact); err != nil {
			break
		}
		counts.Add(fact, differs == "")
		if differs != "" {
			fmt.Fprintf(c.details, "%s\n    %s\n", fact.ID, differs)
		}
	}

	fmt.Fprint(c.out, counts) // so far
	return counts.Differ(), err
}

// race returns how often something did not hold.
func (c command) race(ctx context.Context, runner *facts.Runner, rounds, racers int) (wrong int, err error) {
	races, err := runner.Races(ctx, rounds, racers)
	fmt.Fprintln(c.out, facts.RaceHead)
	for _, race := range races {
		fmt.Fprintln(c.out, race)
	}
	for _, race := range races {
		for _, why := range slices.DeleteFunc(append(race.Wrong, race.Refused), func(why string) bool { return why == "" }) {
			fmt.Fprintf(c.details, "%s: %s\n", race.Name, why)
			wrong++
		}
	}
	return wrong, err
}

var (
	signer      = v4.NewSigner()
	credentials = aws.Credentials{AccessKeyID: "any", SecretAccessKey: "any"}
)

func sign(r *http.Request, body []byte) error {
	sum := sha256.Sum256(body)
	return signer.SignHTTP(r.Context(), credentials, r, hex.EncodeToString(sum[:]), "dynamodb", "us-east-1", time.Now())
}
