package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
)

// Two servers of one kind agree. Many requests are accepted and many are
// refused: a run without accepted requests would compare nothing.
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

// A flawed server changes a text in its requests, or in its answers.
type flawed struct {
	next                 http.RoundTripper
	asked, answered      string
	askedFor, answeredBy string // the texts that replace them
}

func (f flawed) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	body = bytes.ReplaceAll(body, []byte(f.asked), []byte(f.askedFor))
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	res, err := f.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	if body, err = io.ReadAll(res.Body); err != nil {
		return nil, err
	}
	res.Body = io.NopCloser(bytes.NewReader(bytes.ReplaceAll(body, []byte(f.answered), []byte(f.answeredBy))))
	return res, nil
}

// server returns a dynamotest with the flaw.
func (f flawed) server(caller string) backend {
	b := inProcess(caller)
	f.next = b.client.Transport
	b.client = &http.Client{Transport: f}
	return b
}

// never is in no request and in no answer.
const never = "\x00never"

// A flaw is found, and shown after the shortest history that it needs: here,
// the writes that make two items.
func TestAFlawIsShownAfterWhatItTakes(t *testing.T) {
	t.Parallel()
	backwards := flawed{asked: `"ScanIndexForward":false`, askedFor: `"ScanIndexForward":true`, answered: never}
	c := comparison{seed: 11, ours: inProcess, theirs: backwards.server}
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

// Flaws of dynamotest are found: the known differences do not cover them.
func TestKnownDifferencesCoverNoFlaw(t *testing.T) {
	t.Parallel()
	for name, flaw := range map[string]flawed{
		"shows what was":          {asked: `"ReturnValues":"UPDATED_NEW"`, askedFor: `"ReturnValues":"UPDATED_OLD"`, answered: never},
		"shows no item":           {asked: `"ReturnValuesOnConditionCheckFailure":"ALL_OLD"`, askedFor: `"ReturnValues":"NONE"`, answered: never},
		"puts instead of deletes": {asked: `"Action":"DELETE"`, askedFor: `"Action":"PUT"`, answered: never},
		"takes less than for not": {asked: ` \u003c `, askedFor: ` \u003c\u003e `, answered: never},
		"counts more":             {asked: never, answered: `"ScannedCount":1`, answeredBy: `"ScannedCount":2`},
		"charges more":            {asked: never, answered: `"CapacityUnits":0.5`, answeredBy: `"CapacityUnits":1.5`},
		"calls it invalid":        {asked: never, answered: `#ConditionalCheckFailedException`, answeredBy: `#ValidationException`},
		"cancels for nothing":     {asked: never, answered: `{"Code":"None"}`, answeredBy: `{"Code":"ConditionalCheckFailed"}`},
		"calls it a duplicate":    {asked: never, answered: `"Code":"ValidationError"`, answeredBy: `"Code":"DuplicateItem"`},
		"projects all":            {asked: never, answered: `"ProjectionType":"KEYS_ONLY"`, answeredBy: `"ProjectionType":"ALL"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := comparison{seed: 11, ours: flaw.server, theirs: inProcess}
			rep, err := c.run(t.Context(), 0, 5)
			if err != nil {
				t.Fatal(err)
			}
			found, covered := 0, 0
			for _, n := range rep.alike {
				found += n
			}
			for _, n := range rep.known {
				covered += n
			}
			if found == 0 || covered > found/4 {
				t.Errorf("%d differences are found, %d have a reason: %v", found, covered, rep.known)
			}
		})
	}
}

// A sequence follows from the seed and its number, so that it can be run alone.
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

// Each of these is in some request of the first hundred sequences.
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
