package proof_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/dynamotest/explore"
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/schema"
)

var (
	long   = flag.Bool("proof.long", false, "run all schedules of each configuration, with two faults and a move of time")
	within = flag.Duration("proof.within", time.Minute, "with -proof.long, how long each configuration may take")
)

// shortSchedules is how many schedules of a configuration run without -proof.long.
const shortSchedules = 8

// Notes of a caller that may have made its call more than once.
const (
	reborn  = "is born again"
	unknown = "has no answer"
)

// start is when the schedules begin, unless a configuration says otherwise.
var start = time.Date(2026, 3, 10, 12, 0, 0, 0, time.UTC)

type (
	row = map[string]types.AttributeValue

	// process is what a call has of its process.
	process struct {
		api  *dynamodb.Client
		now  func() time.Time
		rand io.Reader
		note func(format string, args ...any)
	}

	// call is one call of a package. Its answer is "" if the outcome is unknown.
	call struct {
		name string
		do   func(ctx context.Context, p process) string
	}

	// seed is a call that was made before the schedule begins.
	seed struct {
		call
		ago time.Duration
	}

	// suite is what the configurations of a package have in common.
	suite struct {
		table   schema.Table
		starts  []starting
		pairs   [][]call // each with each start
		moments []time.Duration
		// differs lists the attributes that depend on the clock.
		differs []string
		// serial is false if the rows depend on who comes when.
		serial bool
		// step returns why a write must not be: rows are by their key.
		step func(before, after rows, now time.Time) error
		// told returns why a caller must not have been told the answer.
		told func(c call, answer string, now rows) error
		// noted judges the notes, and the answers when all have returned.
		noted func(from starting, notes []string, answers map[string]string) error
		// rings says that an event may also be too old because others came after it.
		rings bool
		// leaps says that time matters even to the cheapest schedules.
		leaps bool
	}

	starting struct {
		name  string
		seeds []seed
		at    time.Time // of the start
		rows  []row     // of other programs
	}

	rows map[string]row
)

// nobody is a process for what needs no requests.
var nobody = process{api: dynamotest.NewServer(nil).Client(), now: time.Now, rand: constant(0)}

func ago(d time.Duration, c call) seed { return seed{c, d} }
func before(calls ...call) (all []seed) {
	for i, c := range calls {
		all = append(all, seed{c, time.Duration(len(calls)-i) * time.Minute})
	}
	return all
}

// prove runs the configurations of a suite. Without -proof.long, it runs each pair from
// two rows: the first one, and each pair from another one.
func (s *suite) prove(t *testing.T) {
	for i, from := range s.starts {
		for k, pair := range s.pairs {
			if !*long && i > 0 && i != 1+k%max(1, len(s.starts)-1) {
				continue
			}
			t.Run(from.name+"/"+pair[0].name+"+"+pair[1].name, func(t *testing.T) { s.run(t, from, pair) })
		}
	}
}

func (s *suite) run(t *testing.T, from starting, pair []call) {
	if from.at.IsZero() {
		from.at = start
	}
	server := s.seeded(t, from)
	cfg := explore.Config{
		Server: server, Start: from.at, Schedules: shortSchedules, Moments: s.moments,
		Faults: explore.Faults{Late: 1, Unheard: 1, Deaths: 1, Total: 1},
	}
	if s.leaps || *long {
		cfg.Moves = 1
	}
	if *long {
		cfg.Schedules, cfg.Within = 10_000_000, *within
		cfg.Faults = explore.Faults{Late: 2, Unheard: 2, Deaths: 2, Total: 2}
	}
	initial := s.rowsOf(t.Context(), server.Client())
	ends := s.ends(t, server, from.at, pair)
	r := explore.Test(t, cfg, func(sched *explore.Schedule) {
		answers := map[string]string{}
		last, failed := initial, error(nil)
		for i, c := range pair {
			sched.Caller(string(rune('a'+i)), func(ctx context.Context, p *explore.Process) {
				if p.Life > 1 {
					p.Note(reborn)
				}
				for answers[c.name] = ""; answers[c.name] == ""; {
					if answers[c.name] = c.do(ctx, process{p.Client(), p.Now, p.Rand(), p.Note}); answers[c.name] == "" {
						p.Note(unknown)
					}
				}
			})
		}
		check := func(v *explore.View) error {
			now := s.rowsOf(context.Background(), v.Client())
			if failed == nil {
				failed = s.step(last, now, v.Now())
			}
			last = now
			for _, c := range pair {
				if answer := answers[c.name]; answer != "" && s.told != nil && failed == nil && v.Now().Sub(from.at) < time.Hour { // then rows expire
					failed = s.told(c, answer, now)
				}
			}
			if s.noted != nil && failed == nil {
				failed = s.noted(from, v.Notes(), nil)
			}
			return failed
		}
		sched.Always(check)
		sched.End(func(v *explore.View) error {
			if err := check(v); err != nil {
				return err
			}
			if s.noted != nil && v.Now().Sub(from.at) < time.Hour {
				if err := s.noted(from, v.Notes(), answers); err != nil {
					return err
				}
			}
			tooOld := slices.Contains(slices.Collect(maps.Values(answers)), event.ErrTooOld.Error())
			if tooOld && !s.rings || v.Now().Sub(from.at) > time.Hour { // rows expire
				return nil
			}
			if end := s.text(last); s.serial && !slices.Contains(ends, end) {
				return fmt.Errorf("the rows are not those of any serial order: %s, answers %v\nwant %s", end, answers, strings.Join(ends, "\n  or "))
			}
			return nil
		})
	})
	if *long {
		fmt.Printf("| %s | %d | %d | %v |\n", t.Name(), r.Schedules, r.States, r.Exhausted)
	}
}

// seeded returns a server with the starting rows.
func (s *suite) seeded(t *testing.T, from starting) *dynamotest.Server {
	t.Helper()
	server := dynamotest.NewServer(nil)
	client := server.Client()
	if err := schema.Create(t.Context(), client, s.table); err != nil {
		t.Fatal(err)
	}
	for _, r := range from.rows {
		if _, err := client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: &s.table.Name, Item: r}); err != nil {
			t.Fatal(err)
		}
	}
	for i, c := range from.seeds {
		made(t, server, from.at.Add(-c.ago), byte(100+i), c.call)
	}
	return server
}

// made makes a call that must have an answer.
func made(t *testing.T, server *dynamotest.Server, at time.Time, nonce byte, c call) {
	t.Helper()
	p := process{server.Client(), func() time.Time { return at }, constant(nonce), func(string, ...any) {}}
	if c.do(t.Context(), p) == "" {
		t.Fatalf("%s has no answer", c.name)
	}
}

// constant is a random source of one call.
type constant byte

func (c constant) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = byte(c)
	}
	return len(b), nil
}

// ends returns what the calls leave in every serial order.
func (s *suite) ends(t *testing.T, server *dynamotest.Server, at time.Time, pair []call) (ends []string) {
	t.Helper()
	for _, order := range [][]call{pair, {pair[1], pair[0]}} {
		fork := server.Fork()
		for i, c := range order {
			made(t, fork, at, byte(200+i), c)
		}
		ends = append(ends, s.text(s.rowsOf(t.Context(), fork.Client())))
	}
	return ends
}

// rowsOf returns the rows of the table by their keys.
func (s *suite) rowsOf(ctx context.Context, client *dynamodb.Client) rows {
	all := rows{}
	pages := dynamodb.NewScanPaginator(client, &dynamodb.ScanInput{TableName: &s.table.Name})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			panic(err)
		}
		for _, r := range page.Items {
			key := str(r, s.table.Key.Partition.Name)
			if s.table.Key.Sort.Name != "" {
				key += " " + str(r, s.table.Key.Sort.Name)
			}
			all[key] = r
		}
	}
	return all
}

// text writes rows, less what depends on the clock or on chance.
func (s *suite) text(all rows) string {
	var b strings.Builder
	for _, key := range slices.Sorted(maps.Keys(all)) {
		fmt.Fprintf(&b, "[%s:", key)
		for _, name := range slices.Sorted(maps.Keys(all[key])) {
			if !slices.Contains(s.differs, name) {
				value, _, _ := strings.Cut(valueText(all[key][name]), "~") // a nonce follows
				fmt.Fprintf(&b, " %s=%s", name, value)
			}
		}
		b.WriteString("]")
	}
	return b.String()
}

func valueText(v types.AttributeValue) string {
	switch v := v.(type) {
	case *types.AttributeValueMemberS:
		return v.Value
	case *types.AttributeValueMemberN:
		return v.Value
	case *types.AttributeValueMemberM:
		var b strings.Builder
		for _, name := range slices.Sorted(maps.Keys(v.Value)) {
			fmt.Fprintf(&b, "%s=%s ", name, valueText(v.Value[name]))
		}
		return b.String()
	case *types.AttributeValueMemberBS:
		var all []string
		for _, one := range v.Value {
			all = append(all, fmt.Sprintf("%x", one))
		}
		slices.Sort(all)
		return strings.Join(all, ",")
	case *types.AttributeValueMemberB:
		return fmt.Sprintf("%x", v.Value)
	}
	return fmt.Sprintf("%#v", v)
}

// str returns an attribute as text, "" if the row has none.
func str(r row, name string) string {
	if v, ok := r[name]; ok {
		return valueText(v)
	}
	return ""
}

func text(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }
func number(n int64) types.AttributeValue {
	return &types.AttributeValueMemberN{Value: strconv.FormatInt(n, 10)}
}

func num(r row, name string) int64 {
	n, _ := strconv.ParseInt(str(r, name), 10, 64)
	return n
}

// answer writes an outcome. Only the final errors are answers.
func answer(out event.Outcome, err error, final ...error) string {
	if err == nil && out == 0 {
		return "no outcome"
	}
	for _, e := range append(final, event.ErrSuperseded, event.ErrTooOld) {
		if errors.Is(err, e) {
			return e.Error()
		}
	}
	if err != nil {
		return ""
	}
	return out.String()
}

// taken reports whether the answer says that the call has taken effect.
func taken(answer string) bool {
	return answer == event.Created.String() || answer == event.Duplicate.String()
}

// must returns a value that does not fail.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// at returns the nth event of a day, n minutes after its start.
func at(day time.Time, n int) event.Event {
	return must(event.New(day.Add(time.Duration(n)*time.Minute), "proof", strconv.Itoa(n)))
}
