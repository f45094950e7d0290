package demo_test

import (
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/homeops/ddbpatterns/examples/quill/demo"
	"github.com/homeops/ddbpatterns/examples/quill/demo/stream"
)

// crashSeed and crashEvents make a small stream with every kind of stored row.
const (
	crashSeed   = 854
	crashEvents = 20
)

// A process ends before or after each of its requests, to DynamoDB and to Power BI.
// Another takes its place, and unanswered requests are sent again. In the end all
// is as if nothing had happened. Only if Power BI cannot be asked, it may have a
// fact twice, with one key, and the poster says so.
func TestCrashAtEachRequest(t *testing.T) {
	t.Parallel()
	for _, ask := range []bool{true, false} {
		t.Run(fmt.Sprintf("ask=%t", ask), func(t *testing.T) {
			t.Parallel()
			var quiet outcome
			synctest.Test(t, func(t *testing.T) { quiet = crash(t, 0, false, ask) })
			if quiet.twice != 0 || quiet.requests < 3*crashEvents {
				t.Fatalf("undisturbed: %d twice, %d requests", quiet.twice, quiet.requests)
			}
			twice := 0
			for nth := 1; nth <= quiet.requests; nth++ {
				for _, after := range []bool{false, true} {
					if !after && !ask { // only after a post they differ
						continue
					}
					name := fmt.Sprintf("request %d, after=%t", nth, after)
					synctest.Test(t, func(t *testing.T) {
						got := crash(t, nth, after, ask)
						if !got.crashed {
							t.Errorf("%s: the process did not end", name)
						}
						if got.twice > got.again || ask && got.twice > 0 {
							t.Errorf("%s: %d facts are in Power BI twice, and %d are reported", name, got.twice, got.again)
						}
						if diff := cmp.Diff(quiet.facts, got.facts, cmpopts.IgnoreUnexported(types.AttributeValueMemberS{}, types.AttributeValueMemberN{}, types.AttributeValueMemberM{})); diff != "" {
							t.Errorf("%s: the outbox differs\n%s", name, diff)
						}
						twice += got.twice
					})
				}
			}
			t.Logf("%d requests, %d times twice", quiet.requests, twice)
			if !ask && twice == 0 {
				t.Error("no fact was ever there twice: the test does not see it")
			}
		})
	}
}

// outcome is the outcome of a run.
type outcome struct {
	facts    map[string]map[string]types.AttributeValue
	requests int // of the first process
	crashed  bool
	twice    int
	again    int // as the surviving process reports
}

func crash(t *testing.T, nth int, after, ask bool) outcome {
	t.Helper()
	w := newWorld(t, 0)
	w.powerBI.RefuseAsking(!ask)
	first := w.process(demo.NewLife(t.Context(), nth, after))
	first.Handler.SideBySide = 1 // so that the nth request is the same in each run
	last := first
	current := func() *process {
		if last.life.Over() {
			last = w.process(demo.NewLife(t.Context(), 0, false))
		}
		return last
	}
	s := w.sender(current)
	want, known, n := map[string]bool{}, demo.Knowledge{}, 0
	for r := range stream.Of(crashSeed, crashEvents) {
		for _, old := range r.Old {
			if err := demo.WriteOld(t.Context(), w.db.Client(), old, w.Now()); err != nil {
				t.Fatal(err)
			}
		}
		for _, key := range r.Want.Facts {
			want[key] = true
		}
		known.Add(r.Want.Known)
		answer, tries, err := s.Send(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		judgeAnswer(t, r, answer, tries)
		if n++; n%5 == 0 {
			w.drain(current)
		}
	}
	w.drain(current)
	got := outcome{facts: w.facts(), requests: first.life.Sent(), crashed: last != first}
	if got.crashed {
		got.again = w.sums(last).Reposted
		if w.drain(current); last.life.Over() {
			t.Error("the second process ended, too")
		}
	}
	var wrong []string
	got.twice, wrong = w.judgeFacts(want)
	if wrong = append(wrong, known.Wrong(w.powerBI)...); len(wrong) > 0 {
		t.Errorf("request %d, after=%t: %q", nth, after, wrong)
	}
	if counts := last.in.Snapshot(); counts.New+counts.Duplicate+counts.Refused+counts.Waiting+counts.Ignored != counts.Received || counts.Unstored != 0 {
		t.Errorf("request %d, after=%t: the counts do not add up: %+v", nth, after, counts)
	}
	return got
}

// judgeAnswer compares an answer with what is right. An event that was sent again
// may be known by then, but is neither refused nor forgotten.
func judgeAnswer(t *testing.T, r stream.Request, got demo.Answer, tries int) {
	t.Helper()
	want := demo.Answer{Received: r.Want.Received, New: r.Want.New, Duplicate: r.Want.Duplicate, Refused: r.Want.Refused, Waiting: r.Want.Waiting, Ignored: r.Want.Ignored}
	if got == want {
		return
	}
	if tries > 1 && got.Received == want.Received && got.Refused == want.Refused && got.Ignored == want.Ignored && got.New <= want.New && got.Waiting <= want.Waiting &&
		got.New+got.Duplicate+got.Waiting == want.New+want.Duplicate+want.Waiting {
		return
	}
	t.Errorf("%s was answered %+v after %d tries, not %+v:\n%s", r.Path, got, tries, want, r.Body)
}
