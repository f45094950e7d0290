package failures_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	_ "time/tzdata"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"github.com/homeops/ddbpatterns/check/failures/sequence"
	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/ledger"
	"github.com/homeops/ddbpatterns/schema"
	"github.com/homeops/ddbpatterns/tzclock"
)

const provider, worker, worker1, worker2, database = "provider", "worker", "worker 1", "worker 2", "DynamoDB"

// run is one failure: a database, clients whose requests are drawn, and a clock
// that is moved by hand. It lives in a bubble of synctest.
type run struct {
	*testing.T
	sequence.Diagram
	db           *dynamotest.DB
	began, start time.Time
}

func newRun(t *testing.T, layout string, lifelines ...string) *run {
	t.Helper()
	start := time.Date(2026, 3, 10, 12, 0, 0, 0, tzclock.Stockholm.Location())
	r := &run{T: t, began: time.Now(), start: start}
	r.Diagram = sequence.Diagram{Lifelines: lifelines, Clock: func() string { return r.now().Format(layout) }}
	r.db = dynamotest.New(t, &dynamotest.Config{Now: r.now, MaxBackoff: time.Millisecond})
	r.db.Create(r.ledger(worker1, 0).Table(), r.limits(worker1).Table(),
		schema.Table{Name: "charges", Key: schema.Key{Partition: schema.String("order")}})
	return r
}

func (r *run) now() time.Time { return r.start.Add(time.Since(r.began)) }

// client returns one whose requests are drawn as the worker's.
func (r *run) client(worker string) *dynamodb.Client {
	o := r.db.Client().Options()
	o.HTTPClient = recorder{r.db.Client().Options().HTTPClient, r, worker}
	return dynamodb.New(o)
}

// recorder draws what it carries.
type recorder struct {
	dynamodb.HTTPClient
	*run
	worker string
}

// sent is what a drawing says of a request.
type sent struct {
	TableName                 string
	Key                       map[string]map[string]any
	ConditionExpression       string
	ExpressionAttributeValues map[string]map[string]any
}

// refusal is what a condition that failed is answered with.
type refusal struct {
	Type string `json:"__type"`
	Item map[string]map[string]any
}

func (c recorder) Do(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	var in sent
	if err := json.Unmarshal(body, &in); err != nil {
		return nil, err
	}
	_, op, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	c.Request(c.worker, database, op+day(in)+" "+c.condition(in.ConditionExpression))
	before := c.db.Items(in.TableName)
	response, lost := c.HTTPClient.Do(r)
	for _, row := range c.db.Items(in.TableName) {
		if row := plain(row); !slices.ContainsFunc(before, func(old item) bool { return maps.Equal(plain(old), row) }) {
			c.Note(database, c.describe(in.TableName, row))
		}
	}
	if lost != nil {
		c.Lost(database, c.worker, "reply lost")
		return nil, lost
	}
	reply, err := io.ReadAll(response.Body)
	response.Body = io.NopCloser(bytes.NewReader(reply))
	c.Reply(database, c.worker, c.answer(in, reply, response.StatusCode))
	return response, err
}

// conditions are those that the library and this example send, as the drawings
// call them. docs/failures.md explains them.
var conditions = map[string]string{
	"attribute_not_exists(#pk) OR (attribute_not_exists(#expiresAt) OR #expiresAt > :graced)" +
		" AND #fingerprint = :fp AND #claim <> :me AND #attempts < :max" +
		" AND (#state = :failed OR #state = :claimed AND #lease <= :lapsed)": "if free",
	"attribute_exists(#claim) AND #expiresAt <= :graced OR #expiresAt <= :now": "if expired",
	"#claim = :me AND #state = :claimed AND #fence = :fence":                   "if still held",
	"attribute_not_exists(#entry) AND (attribute_not_exists(#recorded) OR #recorded < :most)" +
		" AND (attribute_not_exists(#count) OR #count <= :room)": "if new, below cap",
	"attribute_not_exists(fence) OR fence <= :fence": "if no later fence",
}

func (c recorder) condition(expression string) string {
	words, ok := conditions[expression]
	if !ok {
		c.Errorf("no words for the condition %q", expression)
	}
	return words
}

// day is the sort key of a request about limits.
func day(in sent) string {
	if date, ok := in.Key["date"]["S"]; ok {
		return fmt.Sprint(" of ", date)
	}
	return ""
}

func (c recorder) answer(in sent, reply []byte, status int) string {
	if status == http.StatusOK {
		return "ok"
	}
	var no refusal
	if err := json.Unmarshal(reply, &no); err != nil || !strings.HasSuffix(no.Type, "#ConditionalCheckFailedException") {
		c.Errorf("answered %d: %s", status, reply)
	}
	row := map[string]string{}
	for name, value := range no.Item {
		for _, is := range value {
			row[name] = fmt.Sprint(is)
		}
	}
	why := row["state"]
	expiry, _ := strconv.ParseInt(row["expiresAt"], 10, 64)
	switch me := in.ExpressionAttributeValues[":me"]["S"]; {
	case in.TableName == "charges":
		why = "fence " + short(row["fence"]) + " stands"
	case in.TableName == "limits":
		why = "counted before"
	case me == row["claim"]:
		why += " by this worker"
	case !c.now().Before(time.Unix(expiry, 0).Add(-time.Hour)):
		why += ", expired"
	case row["result"] != "":
		why += ", " + row["result"]
	case row["lease"] != "":
		why += " until " + c.clock(row["lease"])
	}
	return "refused: " + why
}

// describe says what a row holds.
func (r *run) describe(table string, row map[string]string) string {
	switch {
	case table == "charges":
		return fmt.Sprintf("charges: %s under fence %s", row["receipt"], short(row["fence"]))
	case table == "limits":
		return fmt.Sprintf("%s on %s: %s used", row["chatId"], row["date"], row["count"])
	case row["state"] == string(ledger.Claimed):
		return fmt.Sprintf("claimed until %s, fence %s, attempt %s", r.clock(row["lease"]), short(row["fence"]), row["attempts"])
	}
	return fmt.Sprintf("%s: %s, fence %s", row["state"], row["result"], short(row["fence"]))
}

// clock is a time in milliseconds, as people read it.
func (r *run) clock(millis string) string {
	ms, _ := strconv.ParseInt(millis, 10, 64)
	return time.UnixMilli(ms).In(r.start.Location()).Format(time.TimeOnly)
}

// short is the end of a fence, which is some time in milliseconds and a count.
func short(fence string) string { return "…" + fence[max(0, len(fence)-3):] }

type item = map[string]types.AttributeValue

// plain is a row whose strings and numbers can be compared and shown.
func plain(row item) map[string]string {
	out := map[string]string{}
	for name, value := range row {
		switch v := value.(type) {
		case *types.AttributeValueMemberS:
			out[name] = v.Value
		case *types.AttributeValueMemberN:
			out[name] = v.Value
		}
	}
	return out
}

var update = flag.Bool("update", false, "write the pictures of docs/failures.md and their text")

// check holds the drawing to the files of its name.
func (r *run) check(name, title, about string) {
	r.Helper()
	r.Title, r.About = title, about
	text, svg := r.Draw()
	for ending, drawn := range map[string]string{".txt": text, ".svg": svg} {
		file := "../../docs/failures/" + name + ending
		if *update {
			if err := os.WriteFile(file, []byte(drawn), 0o644); err != nil {
				r.Error(err)
			}
		}
		if diff := cmp.Diff(read(r.T, file), drawn); diff != "" {
			r.Errorf("%s is not what happens now: go test -C check ./failures -update, and look at it (-stands +drawn):\n%s", file, diff)
		}
	}
}
