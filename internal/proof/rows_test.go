package proof_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/schema"
)

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
func made(t *testing.T, server *dynamotest.Server, at time.Time, nonce byte, c call) string {
	t.Helper()
	p := process{server.Client(), func() time.Time { return at }, constant(nonce), func(string, ...any) {}}
	answer := c.do(t.Context(), p)
	if answer == "" {
		t.Fatalf("%s has no answer", c.name)
	}
	return answer
}

// constant is a random source of one call.
type constant byte

func (c constant) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = byte(c)
	}
	return len(b), nil
}

// ends returns what the calls leave, and are told, in every serial order.
func (s *suite) ends(t *testing.T, server *dynamotest.Server, at time.Time, calls []call) (ends, told []string) {
	t.Helper()
	turned := slices.Clone(calls)
	slices.Reverse(turned)
	orders := [][]call{calls, turned}
	if len(calls) == 3 {
		a, b, c := calls[0], calls[1], calls[2]
		orders = [][]call{{a, b, c}, {a, c, b}, {b, a, c}, {b, c, a}, {c, a, b}, {c, b, a}}
	}
	for _, order := range orders {
		fork := server.Fork()
		answers := map[string]string{}
		for i, c := range order {
			answers[c.name] = made(t, fork, at, byte(200+i), c)
		}
		told = append(told, tellingOf(calls, answers))
		ends = append(ends, s.text(s.rowsOf(t.Context(), fork.Client())))
	}
	return ends, told
}

// tellingOf writes what each call was told.
func tellingOf(calls []call, answers map[string]string) string {
	text := ""
	for _, c := range calls {
		text += c.name + ": " + answers[c.name] + "; "
	}
	return text
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
