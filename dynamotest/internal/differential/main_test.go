package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
)

// Two servers of one kind agree, and many requests are accepted and many are
// refused: a run that is refused throughout would compare nothing.
func TestNoDifferenceFromItself(t *testing.T) {
	t.Parallel()
	c := comparison{seed: 11, ours: inProcess, theirs: inProcess}
	rep, err := c.run(t.Context(), 0, 16)
	if err != nil {
		t.Fatal(err)
	}
	if len(rep.unknown) > 0 || len(rep.known) > 0 {
		var text strings.Builder
		rep.print(&text, 3)
		t.Fatal(text.String())
	}
	if rep.requests != 16*perSequence || rep.accepted < rep.requests*2/5 || rep.accepted > rep.requests*9/10 {
		t.Errorf("%d of %d requests were accepted", rep.accepted, rep.requests)
	}
}

// forgetful is a server that does not heed one member.
type forgetful struct{ next http.RoundTripper }

func (f forgetful) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	body = bytes.ReplaceAll(body, []byte(`"ScanIndexForward":false`), []byte(`"ScanIndexForward":true`))
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	return f.next.RoundTrip(r)
}

// What a flawed server does otherwise is found, and shown after no more than
// what it takes: here, the writes that make two items.
func TestAFlawIsFound(t *testing.T) {
	t.Parallel()
	flawed := func(caller string) backend {
		b := inProcess(caller)
		b.client = &http.Client{Transport: forgetful{b.client.Transport}}
		return b
	}
	c := comparison{seed: 11, ours: inProcess, theirs: flawed}
	rep, err := c.run(t.Context(), 0, 16)
	if err != nil {
		t.Fatal(err)
	}
	if len(rep.unknown) == 0 {
		t.Fatal("nothing was found")
	}
	for _, d := range rep.unknown {
		if d.request.op != "Query" || d.request.body["ScanIndexForward"] != false || len(d.history) == 0 || len(d.history) > 2 {
			t.Errorf("after %s\n%s\n%s\n%s", d.history, d.request, d.ours, d.theirs)
		}
	}
}

// A sequence follows from the seed and its number, so that one can be run alone.
func TestSequencesCanBeRepeated(t *testing.T) {
	t.Parallel()
	text := func(seed, number uint64) string { return fmt.Sprint(sequence(seed, number)) }
	once := text(1, 7)
	if again := text(1, 7); again != once {
		t.Error("the same sequence differs")
	}
	if text(1, 8) == once || text(2, 7) == once {
		t.Error("other sequences do not differ")
	}
}

// What the requests reach: each of these is in some request of the first hundred
// sequences.
func TestWhatIsAsked(t *testing.T) {
	t.Parallel()
	var all strings.Builder
	for number := range uint64(100) {
		for _, req := range sequence(1, number) {
			fmt.Fprintln(&all, req)
		}
	}
	for _, part := range []string{
		"PutItem ", "GetItem ", "UpdateItem ", "DeleteItem ", "Query ", "Scan ", "BatchGetItem ", "BatchWriteItem ", "TransactWriteItems ", "TransactGetItems ",
		"ExecuteStatement ", "BatchExecuteStatement ", "ExecuteTransaction ", "CreateTable ", "UpdateTable ", "DescribeTable ", "DeleteTable ", "ListTables ",
		"UpdateTimeToLive ", "DescribeTimeToLive ", "NoSuchOperation ", "(all pages)", "(all segments)",
		`"Expected"`, `"AttributeUpdates"`, `"KeyConditions"`, `"QueryFilter"`, `"ScanFilter"`, `"ConditionalOperator"`, `"AttributesToGet"`,
		`"ClientRequestToken"`, `"ConditionCheck"`, `"ExclusiveStartKey"`, `"ReturnItemCollectionMetrics"`, `"ReturnConsumedCapacity"`,
		"INSERT INTO", "EXISTS(", "RETURNING", "ORDER BY", `"IndexName":"local"`, `"IndexName":"turned"`,
	} {
		if !strings.Contains(all.String(), part) {
			t.Errorf("no request has %s", part)
		}
	}
}
