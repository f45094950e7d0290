package facts_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/homeops/ddbpatterns/dynamotest/internal/facts"
)

// answering returns a runner whose requests are all answered alike.
func answering(t *testing.T, status int, reply string) *facts.Runner {
	t.Helper()
	runner, err := facts.NewRunner(func(context.Context, string, []byte) (int, []byte, error) {
		return status, []byte(reply), nil
	}, "12345678")
	if err != nil {
		t.Fatal(err)
	}
	return runner
}

func step(expect string) facts.Fact {
	return facts.Fact{ID: "x", Steps: []facts.Step{{Op: "GetItem", Body: []byte(`{}`), Expect: []byte(expect)}}}
}

func TestExpectations(t *testing.T) {
	t.Parallel()
	const (
		item   = `{"Item": {"pk": {"S": "a"}, "l": {"L": [{"N": "1"}, {"N": "2"}]}}, "Count": 2, "Names": ["b", "a"]}`
		refuse = `{"__type": "com.amazon#ValidationException", "message": "Not so: x.", "CancellationReasons": [{"Code": "None"}, {"Code": "X"}]}`
	)
	for _, test := range []struct {
		expect string
		status int
		reply  string
		want   string // in what differs; "" if in nothing
	}{
		{`{"ok": true}`, 200, item, ""},
		{`{"ok": true}`, 400, refuse, "refused with 400 ValidationException: Not so: x."},
		{`{"ok": true}`, 500, "<html>", "refused with 500 : <html>"},
		{`{"error": "ValidationException"}`, 400, refuse, ""},
		{`{"error": "ValidationException"}`, 200, item, "accepted"},
		{`{"error": "Validation"}`, 400, refuse, "want Validation, got ValidationException"},
		{`{"message": "Not so: x."}`, 400, refuse, ""},
		{`{"message": "Shouted"}`, 400, `{"__type": "X", "Message": "Shouted"}`, ""},
		{`{"message": "Not so"}`, 400, refuse, "want text"},
		{`{"message": ""}`, 400, refuse, "want text"},
		{`{"match": "^Not"}`, 400, refuse, ""},
		{`{"match": ["^Not", "x\\.$"]}`, 400, refuse, ""},
		{`{"match": ["^Not", "y"]}`, 400, refuse, "want text matching"},
		{`{"match": "("}`, 400, refuse, "missing closing"},
		{`{"cancel": ["None", "X"]}`, 400, refuse, ""},
		{`{"cancel": ["X", "None"]}`, 400, refuse, "want cancellation"},
		{`{"cancel": []}`, 400, `{}`, ""},
		{`{"has": {"Item": {"pk": {"S": "a"}}}}`, 200, item, ""},
		{`{"has": {"Item": {"pk": {"S": "b"}}}}`, 200, item, `.Item.pk.S: want "b", got "a"`},
		{`{"has": {"Item": {"sk": {}}}}`, 200, item, ".Item.sk: missing"},
		{`{"has": {"Count": {}}}`, 200, item, "want an object"},
		{`{"has": {"Count": 2}}`, 200, item, ""},
		{`{"has": {"Count": 3}}`, 200, item, "want 3, got 2"},
		{`{"has": {"Count": "2"}}`, 200, item, `want "2", got 2`},
		{`{"has": {"Names": ["b", "a"]}}`, 200, item, ""},
		{`{"has": {"Names": ["a", "b"]}}`, 200, item, ".Names[0]"},
		{`{"has": {"Names": ["b"]}}`, 200, item, "want 1 elements"},
		{`{"has": {"Names": {"$unordered": ["a", "b"]}}}`, 200, item, ""},
		{`{"has": {"Names": {"$unordered": ["a", "a"]}}}`, 200, item, ".Names"},
		{`{"has": {"Names": {"$unordered": ["a"]}}}`, 200, item, ".Names"},
		{`{"has": {"Names": {"$contains": "a"}}}`, 200, item, ""},
		{`{"has": {"Names": {"$contains": "c"}}}`, 200, item, ".Names"},
		{`{"has": {"Names": {"$without": "c"}}}`, 200, item, ""},
		{`{"has": {"Names": {"$without": "a"}}}`, 200, item, ".Names"},
		{`{"has": {"Count": {"$without": "a"}}}`, 200, item, ".Count"},
		{`{"has": {"Names": {"$length": 2}, "Item": {"$length": 2}}}`, 200, item, ""},
		{`{"has": {"Names": {"$length": 1}}}`, 200, item, ".Names"},
		{`{"has": {"Count": {"$length": 2}}}`, 200, item, ".Count"},
		{`{"has": {"Count": {"$least": 2}}}`, 200, item, ""},
		{`{"has": {"Count": {"$least": 3}}}`, 200, item, ".Count"},
		{`{"has": {"Count": {"$most": 2}}}`, 200, item, ""},
		{`{"has": {"Count": {"$most": 1}}}`, 200, item, ".Count"},
		{`{"has": {"Names": {"$least": 0}}}`, 200, item, ".Names"},
		{`{"has": {"Item": {"pk": {"S": {"$match": "^[a-c]$"}}}}}`, 200, item, ""},
		{`{"has": {"Item": {"pk": {"S": {"$match": "b"}}}}}`, 200, item, ".Item.pk.S"},
		{`{"has": {"Count": {"$match": ""}}}`, 200, item, ".Count"},
		{`{"has": {"Count": {"$present": true}}}`, 200, item, ""},
		{`{"has": {"Other": {"$present": true}}}`, 200, item, ".Other: missing"},
		{`{"lacks": ["Items", "Item.sk", "Item.l.L.2", "Names.x"]}`, 200, item, ""},
		{`{"lacks": ["Item.l.L.1.N"]}`, 200, item, "Item.l.L.1.N should not be there"},
		{`{"any": [{"error": "X"}, {"ok": true}]}`, 200, item, ""},
		{`{"any": [{"error": "X"}, {"has": {"Count": 1}}]}`, 200, item, "accepted, want X | .Count"},
	} {
		got, err := answering(t, test.status, test.reply).Run(t.Context(), step(test.expect))
		if err != nil {
			t.Fatal(err)
		}
		if (test.want == "") != (got == "") || !strings.Contains(got, test.want) {
			t.Errorf("%s of %d %s: got %q, want %q", test.expect, test.status, test.reply, got, test.want)
		}
	}
}

// Bodies are written out in the order of their members.
func TestBodies(t *testing.T) {
	t.Parallel()
	var sent []string
	runner, err := facts.NewRunner(func(_ context.Context, op string, body []byte) (int, []byte, error) {
		sent = append(sent, op+" "+string(body))
		return 200, []byte(`{"Table": {"TableStatus": "ACTIVE"}, "Key": {"pk": {"S": "k"}}, "Arn": "arn:x"}`), nil
	}, "12345678")
	if err != nil {
		t.Fatal(err)
	}
	fact := facts.Fact{ID: "x", Steps: []facts.Step{
		{Op: "Query", Body: []byte(`{"z": 1, "a": [true, null, "<$hash_s>"], "$hash_s": "$new:t", "other": "$5 $none"}`), Expect: []byte(`{}`), Keep: map[string]string{"k": "Key", "arn": "Arn"}},
		{Op: "Scan", Body: []byte(`{"k": "$kept:k", "a": "$kept:arn/x", "r": {"$repeat": ["ab", 3]}, "e": {"$repeat": ["ab", 1, "c"]}, "n": {"$nest": [2, {"S": "x"}]}}`), Expect: []byte(`{"has": {"Arn": "$kept:arn"}}`)},
	}}
	if differs, err := runner.Run(t.Context(), fact); differs != "" || err != nil {
		t.Fatal(differs, err)
	}
	want := []string{
		`Query {"z":1,"a":[true,null,"<fact_12345678_hash_s>"],"fact_12345678_hash_s":"fact_12345678_new_t","other":"$5 $none"}`,
		`Scan {"k":{"pk":{"S":"k"}},"a":"arn:x/x","r":"ababab","e":"abc","n":{"L":[{"L":[{"S":"x"}]}]}}`,
	}
	if strings.Join(sent, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(sent, "\n"), strings.Join(want, "\n"))
	}
	fact.Steps[0].Keep = map[string]string{"x": "Key.sk"}
	if differs, err := runner.Run(t.Context(), fact); differs != "step 1 Query: Key.sk: missing" || err != nil {
		t.Error(differs, err)
	}
}

// Tables are made when a fact first needs them, are waited for, and are
// deleted.
func TestTables(t *testing.T) {
	t.Parallel()
	var sent []string
	described := 0
	runner, err := facts.NewRunner(func(_ context.Context, op string, body []byte) (int, []byte, error) {
		var request struct{ TableName string }
		_ = json.Unmarshal(body, &request) // as the runner wrote it
		sent = append(sent, op+" "+strings.TrimPrefix(request.TableName, "fact_12345678_"))
		status := "CREATING"
		if op == "DescribeTable" {
			if described++; described == 2 {
				status = "ACTIVE"
			}
		}
		return 200, []byte(`{"Table": {"TableStatus": "` + status + `"}, "TableDescription": {"TableName": "` + request.TableName + `"}}`), nil
	}, "12345678")
	if err != nil {
		t.Fatal(err)
	}
	own := facts.Fact{ID: "x", Tables: []string{"hash_s"}, Steps: []facts.Step{
		{Op: "CreateTable", Body: []byte(`{"TableName": "$new:t"}`), Expect: []byte(`{"ok": true}`)},
		{Op: "GetItem", Body: []byte(`{"TableName": "$hash_s"}`), Expect: []byte(`{"error": "X"}`), Retries: 1},
	}}
	for range 2 {
		if differs, err := runner.Run(t.Context(), own); differs != "step 2 GetItem: accepted, want X" || err != nil {
			t.Fatal(differs, err)
		}
	}
	if err := runner.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	once := "CreateTable new_t, GetItem hash_s, GetItem hash_s, DeleteTable new_t"
	want := "CreateTable hash_s, DescribeTable hash_s, DescribeTable hash_s, " + once + ", " + once + ", DeleteTable hash_s"
	if got := strings.Join(sent, ", "); got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
}

func TestATableThatIsRefusedIsADifference(t *testing.T) {
	t.Parallel()
	runner := answering(t, 400, `{"__type": "X#LimitExceededException", "message": "Enough."}`)
	for range 2 { // the second time it is not made again
		if differs, err := runner.Run(t.Context(), facts.Fact{Tables: []string{"hash_s"}}); differs != "table hash_s: 400 LimitExceededException: Enough." || err != nil {
			t.Error(differs, err)
		}
	}
}

func TestErrorsOfTheWay(t *testing.T) {
	t.Parallel()
	gone := errors.New("gone")
	runner, err := facts.NewRunner(func(context.Context, string, []byte) (int, []byte, error) { return 0, nil, gone }, "12345678")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := runner.Run(t.Context(), step(`{"ok": true}`)); !errors.Is(err, gone) {
		t.Error(err)
	}
	for _, broken := range []facts.Step{
		{Body: []byte(`{"a": {"$repeat": 1}}`), Expect: []byte(`{}`)},
		{Body: []byte(`{"a": {"$nest": 1}}`), Expect: []byte(`{}`)},
		{Body: []byte(`{}`), Expect: []byte(`{"match": 1}`)},
		{Body: []byte(`{}`)},
	} {
		if _, err := answering(t, 200, `{}`).Run(t.Context(), facts.Fact{Steps: []facts.Step{broken}}); err == nil {
			t.Errorf("%s: no error", broken.Body)
		}
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	fact := step(`{"error": "X"}`)
	fact.Steps[0].Retries = 1
	patient := answering(t, 200, `{}`)
	patient.Pause = 1 << 40
	if _, err := patient.Run(ctx, fact); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestCounts(t *testing.T) {
	t.Parallel()
	var counts facts.Counts
	for _, group := range []string{"a", "a", "b"} {
		counts.Add(facts.Fact{Group: group}, len(counts) == 0)
	}
	const want = "a                 1 of    2\nb                 0 of    1\nall               1 of    3\n"
	if got := counts.String(); got != want || counts.Differ() != 2 {
		t.Errorf("%d, got\n%swant\n%s", counts.Differ(), got, want)
	}
	read, err := facts.ParseCounts(want)
	if err != nil || read.String() != want {
		t.Errorf("%v, %v", read, err)
	}
	if _, err := facts.ParseCounts("a 1\n"); err == nil {
		t.Error("half a line is read")
	}
}
